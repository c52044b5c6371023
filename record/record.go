// Package record holds what happened during a run: an append-only history of
// events, written as JSON lines while it grows, and read back to be judged
// without running anything again.
package record

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skewrig/skewrig/harness/files"
)

// Format is the version of the format in which a history is written. It stands
// in the first line, and changes when something that stands in a history gets
// another meaning, or is gone: not when there is more than before. A history of
// format 0 says nothing of it; for what is read here it is the same as format 1.
const Format = 1

// ErrFormat is wrapped by the error for a history of a format that is not known.
var ErrFormat = errors.New("unknown format")

// Line is a line of a history: an event, and in the first one the format.
type Line struct {
	// Format is the version of the format of all lines. It stands in the first line
	// only. If unset there, 0.
	Format int `json:"format,omitempty"`
	Event
}

// Event is one thing that happened, as its source saw it.
type Event struct {
	// Seq numbers the events of a history from 1, in the order in which they
	// were appended.
	Seq int `json:"seq"`
	// At is the wall-clock time at which the event was appended or, if that
	// took a while, happened. A payload that covers a span of time carries its own
	// times.
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

	decoded *decoded // of an event of a history, whose copies share it
}

// Equal reports whether two events say the same of the same time.
func (e Event) Equal(other Event) bool {
	return e.Seq == other.Seq && e.At.Equal(other.At) && e.Source == other.Source && e.Kind == other.Kind &&
		e.Subject == other.Subject && bytes.Equal(e.Data, other.Data)
}

// decoded is the payload of an event, once it was asked for.
type decoded struct {
	once    sync.Once
	payload Payload
}

// Payload is the typed content of an event. Payloads lists all of them.
type Payload interface {
	// EventKind is the constant name under which the payload's type is
	// recorded, such as "container.started". It is called on zero values.
	EventKind() string
}

// Recorder is where events are appended to. A nil *History discards them.
type Recorder interface {
	Append(source, subject string, payload Payload)
}

// Drafter is a Recorder that hears of connections that are open, whenever they have changed:
// it is for servers whose process can be killed before it has recorded them. What is appended
// of a connection in the end is its last draft.
type Drafter interface {
	Recorder
	Draft(Connection)
}

// History is an append-only list of events, safe for concurrent use. The zero
// value keeps events in memory only.
type History struct {
	mu      sync.Mutex
	seq     int       // of the last event, lost ones included
	last    time.Time // when that was
	events  []Event
	out     io.Writer
	rewrite func(text string) string // what the texts of an event become; nil: they stay
	ended   bool
	err     error
	changed chan struct{}
}

var _ Recorder = (*History)(nil)

// NewHistory returns a history that also writes each event to out as one line
// of JSON, as soon as it is appended. If out is nil, nothing is written.
func NewHistory(out io.Writer) *History { return &History{out: out} }

// Without has the history leave texts out of all that is appended, in their order and
// wherever they stand in an event: rigs that share a control plane tell their names apart
// by them. In payloads, they are parts of compact JSON.
func (h *History) Without(texts ...string) {
	h.Rewrite(func(text string) string {
		for _, out := range texts {
			text = strings.ReplaceAll(text, out, "")
		}
		return text
	})
}

// Rewrite has the history put what a function returns in the place of all texts of an event
// that is appended: its source, its subject, and its payload, which is compact JSON and must
// stay JSON. A cell whose nodes have other names in the cluster than in the scenario has those
// of the scenario in its record.
func (h *History) Rewrite(rewrite func(text string) string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rewrite = rewrite
}

// End ends the history: what is appended later is dropped.
func (h *History) End() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
}

// Copy returns a history in memory only that begins with the events of this one.
func (h *History) Copy() *History {
	h.mu.Lock()
	defer h.mu.Unlock()
	return &History{seq: h.seq, last: h.last, events: slices.Clip(h.events), rewrite: h.rewrite, err: h.err}
}

// Append adds an event that happened now, unless the history has ended. A failure to write
// it is kept, and reported by Err: a history that is not complete must not be judged.
func (h *History) Append(source, subject string, payload Payload) {
	h.append(source, subject, payload, func(time.Time) time.Time { return time.Now().Round(0) })
}

// AppendAt adds an event that happened at a time, that was heard of since. Its time is not
// before that of the event which was appended last.
func (h *History) AppendAt(at time.Time, source, subject string, payload Payload) {
	h.append(source, subject, payload, func(last time.Time) time.Time {
		if at = at.Round(0); at.Before(last) {
			return last
		}
		return at
	})
}

// append adds an event. When it was follows from when the last one was, without the monotonic clock,
// as it is read back.
func (h *History) append(source, subject string, payload Payload, at func(last time.Time) time.Time) {
	if h == nil {
		return
	}
	data, err := json.Marshal(payload)

	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return
	}
	h.seq, h.last = h.seq+1, at(h.last)
	e := Event{
		Seq:     h.seq,
		At:      h.last,
		Source:  source,
		Kind:    payload.EventKind(),
		Subject: subject,
		Data:    data,
		decoded: new(decoded),
	}
	if h.rewrite != nil {
		e.Source, e.Subject = h.rewrite(e.Source), h.rewrite(e.Subject)
		e.Data = []byte(h.rewrite(string(e.Data)))
	}
	if err == nil && h.out != nil {
		err = write(h.out, e)
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

func write(out io.Writer, e Event) error {
	line := Line{Event: e}
	if e.Seq == 1 {
		line.Format = Format
	}
	return json.NewEncoder(out).Encode(line)
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

// ReadFile reads a history from a file. One that ends within a line is that of a run
// which was killed: what it has is read. With an error it returns what is before the
// place that can't be read.
func ReadFile(path string) ([]Event, error) { return readFile(files.Open(path)) }

// ReadBelow is ReadFile for a file below a report directory: a link that leads out of the
// directory is refused.
func ReadBelow(dir, name string) ([]Event, error) { return readFile(files.OpenBelow(dir, name)) }

func readFile(f *os.File, err error) ([]Event, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	events, err := Read(files.Limit(f, files.MaxHistory))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return events, fmt.Errorf("reading %s: %w", f.Name(), err)
	}
	return events, nil
}

// MaxLine is the limit of a line of a history, in bytes. The largest objects that an API server
// stores are a fortieth of that.
const MaxLine = 64 << 20

// Read reads a history written as JSON lines, of this format or an earlier one. An
// error names the line, and the events before it are returned all the same: a
// history that is not complete must not be judged, but shows what happened until
// then. One that ends within a line, as that of a run which was killed does, gives
// io.ErrUnexpectedEOF.
func Read(in io.Reader) ([]Event, error) {
	var events []Event
	lines := bufio.NewReader(in)
	for n := 1; ; n++ {
		line, err := readLine(lines)
		if errors.Is(err, errLongLine) {
			return events, fmt.Errorf("line %d: %w", n, err)
		}
		if len(line) > 0 {
			e, bad := parse(line, len(events)+1)
			if syntax := (*json.SyntaxError)(nil); errors.As(bad, &syntax) && errors.Is(err, io.EOF) {
				return events, fmt.Errorf("line %d: %w: %w", n, io.ErrUnexpectedEOF, bad)
			}
			if bad != nil {
				return events, fmt.Errorf("line %d: %w", n, bad)
			}
			events = append(events, e)
		}
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return events, err
		}
	}
}

var errLongLine = fmt.Errorf("the line is too long: must be at most %d MiB", MaxLine>>20)

// readLine reads up to the end of a line, or of what there is.
func readLine(from *bufio.Reader) (line []byte, err error) {
	for {
		part, err := from.ReadSlice('\n')
		if len(line)+len(part) > MaxLine {
			return nil, errLongLine
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// parse reads the line of the event of the given number.
func parse(text []byte, seq int) (Event, error) {
	var line Line
	if err := json.Unmarshal(text, &line); err != nil {
		return Event{}, err
	}
	switch {
	case line.Format < 0 || line.Format > Format:
		return Event{}, fmt.Errorf("%w: the history is of format %d, and this skewrig reads format %d and earlier ones: use the skewrig that wrote it, or a newer one",
			ErrFormat, line.Format, Format)
	case line.Format != 0 && seq != 1:
		return Event{}, errors.New("the format stands in the first line only: two histories were joined")
	case line.Seq != seq:
		return Event{}, fmt.Errorf("event %d where %d was expected: the history is not complete", line.Seq, seq)
	}
	line.decoded = new(decoded)
	return line.Event, nil
}

// types are those of all payloads, by kind.
var types = sync.OnceValue(func() map[string]reflect.Type {
	byKind := make(map[string]reflect.Type)
	for _, p := range Payloads() {
		byKind[p.EventKind()] = reflect.TypeOf(p)
	}
	return byKind
})

// Decode decodes the payload of an event. It is nil if the kind is unknown, or if the
// payload is not of that kind's form. All who ask get the same payload, and must not change
// what it refers to.
func Decode(e Event) Payload {
	if e.decoded == nil {
		return decode(e)
	}
	e.decoded.once.Do(func() { e.decoded.payload = decode(e) })
	return e.decoded.payload
}

func decode(e Event) Payload {
	payload := types()[e.Kind]
	if payload == nil {
		return nil
	}
	value := reflect.New(payload)
	if json.Unmarshal(e.Data, value.Interface()) != nil {
		return nil
	}
	typed, _ := reflect.TypeAssert[Payload](value.Elem())
	return typed
}

// As decodes the payload of an event, and reports whether it is of type T.
func As[T Payload](e Event) (T, bool) {
	var payload T
	if e.Kind != payload.EventKind() {
		return payload, false
	}
	if known, is := Decode(e).(T); is {
		return known, true
	}
	return payload, json.Unmarshal(e.Data, &payload) == nil // a kind that Payloads does not list
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
