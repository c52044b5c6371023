package logged

import (
	"context"
	"fmt"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/record"
)

// Merger brings what containers record into one order with what others see: what a container says
// arrives late, by the way over its node and an API server. An event goes into the record when all
// containers have said something later. Its methods are safe for concurrent use.
//
// The clocks of nodes may differ from that of this machine. How far is measured: a line can't
// arrive before it was written, and what arrives soonest tells best. What is left is the
// shortest time that a line took.
type Merger struct {
	to Record

	mu      sync.Mutex
	pending []pending
	logs    map[string]*progress     // by container, "namespace/pod/container"
	ahead   map[string]time.Duration // how far the clocks of nodes are, at least
	sure    map[string]bool          // nodes whose clocks were measured by a line as it was written
	changed chan struct{}
}

// Record is where events go.
type Record interface {
	AppendAt(at time.Time, source, subject string, payload record.Payload)
}

var _ record.Recorder = (*Merger)(nil)

// pending is an event that is not in the record yet.
type pending struct {
	at              time.Time
	node            string // whose clock at is of; empty: of this machine
	source, subject string
	payload         record.Payload
	// run is the run of a container whose start or end it is. If unset, it is neither.
	run *run
}

// run is a run of a container. Its times are by the clock of its node.
type run struct {
	node         string
	began, ended time.Time
	signal       string
	read, over   bool // its first line was read; its last one was
}

// progress is how far the output of a container was read.
type progress struct {
	runs         []*run
	starts, ends int                     // that were seen
	until        time.Time               // all before was read, by the clock of this machine
	moved        time.Time               // when there was progress last
	following    bool                    // lines arrive as they are written
	lost         *record.ObservationLost // of what it says; nil: that is read
}

// known reports whether all is known of some runs: they were read to their end, and those before the last
// one have been seen to end. Of a container that is lost, nothing more will be.
func (p *progress) known(runs []*run) bool {
	return p.lost != nil || p.ends >= len(p.runs)-1 && !slices.ContainsFunc(runs, func(r *run) bool { return !r.over })
}

// current is the run that is being read, if all is known of those before it.
func (p *progress) current() *run {
	last := len(p.runs) - 1
	if !p.runs[last].read || !p.known(p.runs[:last]) {
		return nil
	}
	return p.runs[last]
}

// NewMerger is a merger into a record.
func NewMerger(to Record) *Merger {
	return &Merger{to: to, logs: make(map[string]*progress), ahead: make(map[string]time.Duration), sure: make(map[string]bool)}
}

// Append implements record.Recorder: something happened now, or as far as it is the start or the end of
// a container, when that says so.
func (m *Merger) Append(source, subject string, payload record.Payload) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pending = append(m.pending, pending{at: time.Now(), source: source, subject: subject, payload: payload, run: m.runOf(subject, payload)})
	m.release()
}

// runOf is the run of a container whose start or end something is; nil if it is neither.
func (m *Merger) runOf(subject string, payload record.Payload) *run {
	p := m.logs[subject]
	if p == nil {
		return nil
	}
	switch is := payload.(type) {
	case record.ContainerStarted:
		if p.starts++; p.starts > len(p.runs) {
			return nil
		}
		r := p.runs[p.starts-1]
		m.sandboxOf(subject, r)
		return r
	case record.ContainerExited:
		if !Ran(is.Reason) {
			p.starts-- // that it began was said, too
			return nil
		}
		if p.ends++; p.ends <= len(p.runs) {
			p.moved = time.Now()
			return p.runs[p.ends-1]
		}
	}
	return nil
}

// sandboxOf has the sandbox of a container's pod be there before a run of the container, if that is the first
// one which is seen of the pod.
func (m *Merger) sandboxOf(container string, r *run) {
	for i, p := range m.pending {
		if _, is := p.payload.(record.SandboxStarted); is && p.run == nil && path.Dir(container) == p.subject {
			m.pending[i].run = r
		}
	}
}

// Expect says that a container of a node has begun another run, which may be the first one in its pod, and
// returns its number: what happens from now on waits for what it says. How containers ended that were in
// a pod of the same name before, may be unseen.
func (m *Merger) Expect(container, node string, first bool) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.logs[container]
	if p == nil {
		p = new(progress)
		m.logs[container] = p
	}
	if first {
		p.starts, p.ends = len(p.runs), len(p.runs)
	}
	if first && p.lost != nil {
		m.tell(container, p.lost.Over())
		p.lost = nil
		for _, r := range p.runs {
			r.over = true
		}
	}
	if p.known(p.runs) {
		p.until, p.moved = time.Now(), time.Now()
	}
	p.runs, p.following = append(p.runs, &run{node: node}), false
	return len(p.runs) - 1
}

// live is how long a line has to be awaited for it to have arrived as it was written.
const live = 50 * time.Millisecond

// Read says what was read of a run of a container, in its last line, and how long that was awaited.
func (m *Merger) Read(container string, number int, of *Run, awaited time.Duration, events []Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, now := m.logs[container], time.Now()
	if p.lost != nil {
		return
	}
	r := p.runs[number]
	if offset, known := m.ahead[r.node]; !known || of.At.Sub(now) > offset {
		m.ahead[r.node] = of.At.Sub(now)
	}
	r.read, r.began, r.ended = true, of.Began, of.At
	if awaited >= live {
		p.following, m.sure[r.node] = p.following || r == p.current(), true
	}
	m.add(container, r, events)
	m.release()
}

// Over says that a run of a container was read to its end, and what ended with it.
func (m *Merger) Over(container string, number int, of *Run, events []Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.logs[container]
	if p.lost != nil {
		return
	}
	r := p.runs[number]
	r.over, r.signal, m.sure[r.node] = true, of.Signal, true // there is nothing to measure better by
	p.moved = time.Now()
	m.add(container, r, events)
	m.release()
}

// Lose says why nothing more can be read of a container. That is a loss, until another pod of its name begins.
func (m *Merger) Lose(container string, why error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lose(container, why)
	m.release()
}

func (m *Merger) lose(of string, why error) {
	p := m.logs[of]
	if p.lost != nil {
		return
	}
	lost := container.Losing(p.until, why)
	p.lost = &lost
	for _, r := range p.runs {
		m.sure[r.node] = true // there is nothing to measure better by
	}
	m.tell(of, lost)
}

// tell appends what happens now to the record of a container.
func (m *Merger) tell(container string, payload record.Payload) {
	m.pending = append(m.pending, pending{at: time.Now(), source: "server/" + container, subject: container, payload: payload})
}

func (m *Merger) add(container string, of *run, events []Event) {
	for _, e := range events {
		m.pending = append(m.pending, pending{at: e.At, node: of.node, source: "server/" + container, subject: container, payload: e.Payload})
	}
}

// here is a time of a node by the clock of this machine.
func (m *Merger) here(node string, at time.Time) time.Time {
	return at.Add(-m.ahead[node])
}

// when is when an event happened, by the clock of this machine.
func (m *Merger) when(p pending) time.Time {
	switch {
	case p.node != "":
		return m.here(p.node, p.at)
	case p.run == nil || !p.run.read:
		return p.at
	}
	at := p.run.began
	if _, ends := p.payload.(record.ContainerExited); ends {
		if !p.run.over {
			return p.at
		}
		at = p.run.ended.Add(time.Nanosecond) // after what was open until then
	}
	return m.here(p.run.node, at)
}

// dated reports whether it is known when an event happened, by the clock of this machine.
func (m *Merger) dated(p pending) bool {
	node := p.node
	if p.run != nil && p.run.read {
		node = p.run.node
	}
	return node == "" || m.sure[node]
}

// all is until when everything is known, and whether that is until now.
func (m *Merger) all() (until time.Time, now bool) {
	now = true
	for _, p := range m.logs {
		if p.known(p.runs) {
			continue
		}
		if r := p.current(); r != nil && p.following {
			if at := m.here(r.node, r.ended); at.After(p.until) {
				p.until, p.moved = at, time.Now()
			}
		}
		if now || p.until.Before(until) {
			until, now = p.until, false
		}
	}
	return until, now
}

// release puts into the record what no container can say something earlier about.
func (m *Merger) release() {
	until, now := m.all()
	slices.SortStableFunc(m.pending, func(a, b pending) int { return m.when(a).Compare(m.when(b)) })
	n := 0
	for _, p := range m.pending {
		at := m.when(p)
		if !now && !at.Before(until) || !m.dated(p) {
			break
		}
		m.to.AppendAt(at, p.source, p.subject, m.complete(p))
		n++
	}
	m.pending = slices.Delete(m.pending, 0, n)
	if m.changed != nil {
		close(m.changed)
		m.changed = nil
	}
}

// killed is the exit code of a process that SIGKILL ended, as runtimes report it.
const killed = 128 + 9

// complete is a payload with the times of this machine's clock, and with what only a log has.
func (m *Merger) complete(p pending) record.Payload {
	switch payload := p.payload.(type) {
	case record.Connection:
		here := func(at time.Time) time.Time {
			if at.IsZero() {
				return at
			}
			return m.here(p.node, at)
		}
		payload.Opened, payload.Closed = here(payload.Opened), here(payload.Closed)
		payload.Requests = slices.Clone(payload.Requests)
		for i := range payload.Requests {
			payload.Requests[i].Started = here(payload.Requests[i].Started)
		}
		return payload
	case record.ContainerExited:
		switch {
		case p.run == nil:
		case payload.ExitCode == killed:
			payload.Signal = "SIGKILL"
		default:
			payload.Signal = p.run.signal
		}
		return payload
	default:
		return payload
	}
}

// Ran reports whether a container that has ended for a reason had begun to run: one that could not
// be started has no output.
func Ran(reason string) bool { return reason != "StartError" && reason != "ContainerCannotRun" }

// Settle returns when everything is in the record that has happened until now.
func (m *Merger) Settle(ctx context.Context) error {
	for wanted := time.Now(); ; {
		m.mu.Lock()
		until, now := m.all()
		if m.changed == nil {
			m.changed = make(chan struct{})
		}
		changed := m.changed
		m.mu.Unlock()
		if now || until.After(wanted) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// LoseSilent loses the containers that run, and of which it was not known for a time what they say.
func (m *Merger) LoseSilent(limit time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for of, p := range m.logs {
		if !p.known(p.runs) && time.Since(p.moved) > limit {
			read := slices.DeleteFunc(slices.Clone(p.runs), func(r *run) bool { return !r.over })
			m.lose(of, fmt.Errorf("what container %s records has not been known for %s: of its %d runs, %d were read to their end, and %d seen to end", of, limit, len(p.runs), len(read), p.ends))
		}
	}
	m.release()
}
