// Package record holds what happened during a run: an append-only history of
// events, written as JSON lines while it grows, and read back to be judged
// without running anything again.
package record

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
	"time"
)

// Event is one thing that happened, as its source saw it.
type Event struct {
	// Seq numbers the events of a history from 1, in the order in which they
	// were appended.
	Seq int `json:"seq"`
	// At is the wall-clock time at which the event was appended. A payload
	// that covers a span of time carries its own times.
	At time.Time `json:"at"`
	// Source names what saw the event: "cluster", "runtime/node-a",
	// "server/default/web/app", "watch".
	Source string `json:"source"`
	// Kind names the payload's type. It selects the Go type on reading.
	Kind string `json:"kind"`
	// Subject is what the event is about, as a path: "default/web/app" for a
	// container, "kubelet/node-a" for a component. Empty where there is none.
	Subject string `json:"subject,omitempty"`
	// Data is the payload, encoded.
	Data json.RawMessage `json:"data"`
}

// Payload is the typed content of an event. Each package that records events
// defines the payloads it produces.
type Payload interface {
	// EventKind is the constant name under which the payload's type is
	// recorded, such as "container.started". It is called on zero values.
	EventKind() string
}

// Recorder is where events are appended to. A nil *History discards them.
type Recorder interface {
	Append(source, subject string, payload Payload)
}

// History is an append-only list of events, safe for concurrent use. The zero
// value keeps events in memory only.
type History struct {
	mu      sync.Mutex
	seq     int // of the last event, lost ones included
	events  []Event
	out     io.Writer
	err     error
	changed chan struct{}
}

var _ Recorder = (*History)(nil)

// NewHistory returns a history that also writes each event to out as one line
// of JSON, as soon as it is appended. If out is nil, nothing is written.
func NewHistory(out io.Writer) *History { return &History{out: out} }

// Append adds an event that happened now. A failure to write it is kept, and
// reported by Err: a history that is not complete must not be judged.
func (h *History) Append(source, subject string, payload Payload) {
	if h == nil {
		return
	}
	data, err := json.Marshal(payload)

	h.mu.Lock()
	defer h.mu.Unlock()
	h.seq++
	e := Event{
		Seq:     h.seq,
		At:      time.Now().Round(0), // without the monotonic clock, as it is read back
		Source:  source,
		Kind:    payload.EventKind(),
		Subject: subject,
		Data:    data,
	}
	if err == nil && h.out != nil {
		err = json.NewEncoder(h.out).Encode(e)
	}
	if err != nil {
		h.err = errors.Join(h.err, fmt.Errorf("recording %s of %s: %w", e.Kind, source, err))
		return
	}
	h.events = append(h.events, e)
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
}

// Err returns the failures to encode or write events, if there were any.
func (h *History) Err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

// Events returns the events appended so far. The slice is not to be changed.
func (h *History) Events() []Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clip(h.events)
}

// Wait calls done with the events so far, and again each time some were
// appended, until it returns true. It returns the context's error if that
// ends first.
func (h *History) Wait(ctx context.Context, done func([]Event) bool) error {
	for {
		changed := h.change()
		if done(h.Events()) {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changed:
		}
	}
}

func (h *History) change() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changed == nil {
		h.changed = make(chan struct{})
	}
	return h.changed
}

// Read reads a history written as JSON lines. An error names the line.
func Read(in io.Reader) ([]Event, error) {
	var events []Event
	lines := bufio.NewReader(in)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e Event
			if err := json.Unmarshal(line, &e); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			if e.Seq != len(events)+1 {
				return nil, fmt.Errorf("line %d: event %d where %d was expected: the history is not complete", n, e.Seq, len(events)+1)
			}
			events = append(events, e)
		}
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// As decodes the payload of an event, and reports whether it is of type T.
func As[T Payload](e Event) (T, bool) {
	var payload T
	if e.Kind != payload.EventKind() {
		return payload, false
	}
	return payload, json.Unmarshal(e.Data, &payload) == nil
}

// All yields the events whose payload is of type T, with the payload decoded.
func All[T Payload](events []Event) iter.Seq2[Event, T] {
	return func(yield func(Event, T) bool) {
		for _, e := range events {
			if payload, ok := As[T](e); ok && !yield(e, payload) {
				return
			}
		}
	}
}
