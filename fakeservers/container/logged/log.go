// Package logged reads what containers record into their own output, and brings it into one order
// with what others see. Nothing is lost in silence: the lines of a record are numbered.
package logged

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/record"
)

// ErrLost is wrapped by errors that say that a part of a record is lost, or can't be understood.
var ErrLost = errors.New("a part of the record is lost")

// Event is what a container recorded, and when, by the clock of its node.
type Event struct {
	At      time.Time
	Payload record.Payload
}

// Run is a run of a container, from its start to its end.
type Run struct {
	// Ended says that its main process has said that it ends, and Signal is the last one that it was
	// sent. If it was sent none, that is empty.
	Ended  bool
	Signal string
	// Began and At are when it wrote its first line and the last one, by the clock of its node.
	Began, At time.Time

	lines   int // how many were read
	senders map[int]*sender
}

// sender is a process that records.
type sender struct {
	part string // of a message whose end has not been read
	open container.Drafts
}

// Log is the output of a container over all its runs. Each part may be read several times.
type Log struct {
	mark string
	runs map[string]*Run
	// Runs are those that were seen, in the order in which they were.
	Runs []*Run
}

// NewLog is a log whose lines of the record have a mark.
func NewLog(mark string) *Log { return &Log{mark: mark, runs: make(map[string]*Run)} }

// Reading is one reading of the output of one run, from its beginning.
type Reading struct {
	log *Log
	// Run is the one that is read. It is nil before its first line.
	Run *Run
}

// Read begins a reading.
func (l *Log) Read() *Reading { return &Reading{log: l} }

// Line reads a line of output, and returns what is new in it. fresh says that it is a line of the
// record that no reading had.
func (r *Reading) Line(text string) (events []Event, fresh bool, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrLost, err)
		}
	}()
	line, is, err := container.ParseLine(text, r.log.mark)
	if err != nil || !is {
		return nil, false, err
	}
	if r.Run == nil {
		if err := r.begin(line); err != nil {
			return nil, false, err
		}
	}
	if line.Number <= r.Run.lines {
		return nil, false, nil
	}
	events, err = r.Run.take(line)
	return events, true, err
}

// begin finds the run that a first line is of.
func (r *Reading) begin(line container.Line) error {
	var first container.Message
	if line.Number != 1 {
		return fmt.Errorf("the output of a container begins with line %d of its record", line.Number)
	}
	if err := json.Unmarshal([]byte(line.Text), &first); err != nil || first.Run == "" {
		return errors.Join(fmt.Errorf("%.200q does not say which run of a container it is", line.Text), err)
	}
	if r.Run = r.log.runs[first.Run]; r.Run == nil {
		r.Run = &Run{Began: line.At, senders: make(map[int]*sender)}
		r.log.runs[first.Run] = r.Run
		r.log.Runs = append(r.log.Runs, r.Run)
	}
	return nil
}

// take takes the next line.
func (r *Run) take(line container.Line) ([]Event, error) {
	if line.Number != r.lines+1 {
		return nil, fmt.Errorf("the output of a container goes on with line %d of its record after line %d", line.Number, r.lines)
	}
	r.lines, r.At = line.Number, line.At
	s := r.senders[line.Sender]
	if s == nil {
		s = &sender{open: make(container.Drafts)}
		r.senders[line.Sender] = s
	}
	s.part += line.Text
	if line.More {
		return nil, nil
	}
	var m container.Message
	err := json.Unmarshal([]byte(s.part), &m)
	if err != nil {
		return nil, fmt.Errorf("%.200q: %w", s.part, err)
	}
	s.part = ""
	switch {
	case m.Ended && line.Sender == 0:
		r.Ended = true
		return r.end(line.At), nil
	case m.Ended:
		delete(r.senders, line.Sender)
		return s.killed(line.At, killedCommand), nil
	case m.Signal != "":
		r.Signal = m.Signal
	case m.Kind != "":
		return s.take(m, line.At)
	}
	return nil, nil
}

// take takes an event of a process.
func (s *sender) take(m container.Message, at time.Time) ([]Event, error) {
	payload, err := m.Payload()
	if err != nil || s.open.Take(payload, m.Draft) {
		return nil, err
	}
	return []Event{{at, payload}}, nil
}

// killedCommand is why a command has no exit code.
const killedCommand = "the command was killed: it took longer than its timeout, or who ran it is gone"

// killed ends what was open in a process when that ended.
func (s *sender) killed(at time.Time, why string) (events []Event) {
	for _, payload := range s.open.End(at, why) {
		events = append(events, Event{at, payload})
	}
	return events
}

// End ends a run that was killed, and returns what was open then.
func (r *Run) End() []Event {
	if r.Ended {
		return nil
	}
	r.Ended = true
	return r.end(r.At)
}

// end ends what was open in all processes of a run.
func (r *Run) end(at time.Time) (events []Event) {
	for _, number := range slices.Sorted(maps.Keys(r.senders)) {
		events = append(events, r.senders[number].killed(at, "")...)
	}
	return events
}
