package logged_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/fakeservers/container/logged"
	"github.com/skewrig/skewrig/record"
)

// line is a line of output as a container writes it.
func line(number, sender int, at time.Time, m container.Message) string {
	text, _ := json.Marshal(m)
	return fmt.Sprintf("\x1emark %d %d %d .%s\n", number, at.UnixNano(), sender, text)
}

func event(payload record.Payload, draft bool) container.Message {
	data, _ := json.Marshal(payload)
	return container.Message{Draft: draft, Kind: payload.EventKind(), Data: data}
}

var (
	t0     = time.Unix(1000, 0)
	begins = container.Message{Run: "one"}
)

// read reads lines, and says what was in them.
func read(r *logged.Reading, lines ...string) (said []string, fresh int, err error) {
	for _, l := range lines {
		events, is, err := r.Line(l)
		if err != nil {
			return said, fresh, err
		}
		if is {
			fresh++
		}
		said = append(said, summaries(events)...)
	}
	return said, fresh, nil
}

func summaries(events []logged.Event) (said []string) {
	for _, e := range events {
		switch p := e.Payload.(type) {
		case record.Connection:
			said = append(said, fmt.Sprint("connection ", p.ID, " ", p.CloseReason))
		case record.Exec:
			said = append(said, fmt.Sprint("exec ", p.ExitCode, " ", p.Error))
		default:
			said = append(said, e.Payload.EventKind())
		}
	}
	return said
}

// TestLogIsReadOnce: also if its output is read again, and if it stands beside what the program writes.
func TestLogIsReadOnce(t *testing.T) {
	t.Parallel()
	lines := []string{
		"a program writes\n",
		line(1, 0, t0, begins),
		"half a line" + line(2, 0, t0, event(record.Listening{Port: 80}, false)),
		line(3, 0, t0, container.Message{}),
		strings.TrimSuffix(line(4, 0, t0, event(record.Connection{ID: 1, CloseReason: record.ClientClosed}, false)), "\n") + "\r\n",
		line(5, 0, t0, container.Message{Signal: "SIGTERM"}),
		line(6, 0, t0, container.Message{Ended: true}),
	}
	log := logged.NewLog("mark")
	for _, want := range []struct {
		said  []string
		fresh int
	}{{[]string{"wire.listening", "connection 1 client-closed"}, 6}, {nil, 0}} {
		r := log.Read()
		said, fresh, err := read(r, lines...)
		if err != nil || fresh != want.fresh || !slices.Equal(said, want.said) || r.Run.Signal != "SIGTERM" || !r.Run.Ended {
			t.Errorf("%d lines, %q: %v, want %+v", fresh, said, err, want)
		}
	}
	if len(log.Runs) != 1 {
		t.Errorf("there were %d runs", len(log.Runs))
	}
}

// TestWhatIsLostIsAnError: a line that is missing, the first ones, or what can't be understood.
func TestWhatIsLostIsAnError(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"the beginning":     {line(2, 0, t0, container.Message{})},
		"no run":            {line(1, 0, t0, container.Message{})},
		"in the middle":     {line(1, 0, t0, begins), line(3, 0, t0, container.Message{})},
		"no event":          {line(1, 0, t0, begins), line(2, 0, t0, event(record.ContainerExited{}, false))},
		"no payload":        {line(1, 0, t0, begins), line(2, 0, t0, container.Message{Kind: "wire.listening"})},
		"no line":           {"\x1emark x\n"},
		"what has no JSON":  {line(1, 0, t0, begins), "\x1emark 2 1 0 .?\n"},
		"what has no clock": {"\x1emark 1 now 0 .{}\n"},
	} {
		if _, _, err := read(logged.NewLog("mark").Read(), lines...); !errors.Is(err, logged.ErrLost) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	if said, fresh, err := read(logged.NewLog("mark").Read(), "\x1eother 1 1 0 .{}\n", "mark 1 1 0 .{}\n"); len(said) > 0 || fresh > 0 || err != nil {
		t.Errorf("of what is no line of the record: %q, %d, %v", said, fresh, err)
	}
}

// TestWhatWasOpenEnds with the process, or with the container.
func TestWhatWasOpenEnds(t *testing.T) {
	t.Parallel()
	open := event(record.Connection{ID: 1}, true)
	runs := event(record.Exec{ExitCode: -1}, true)
	r := logged.NewLog("mark").Read()
	said, _, err := read(r, line(1, 0, t0, begins), line(2, 0, t0, open), line(3, 1, t0, runs), line(4, 1, t0, container.Message{Ended: true}), line(5, 2, t0, runs))
	if want := []string{"exec -1 the command was killed: it took longer than its timeout, or who ran it is gone"}; err != nil || !slices.Equal(said, want) {
		t.Errorf("%q: %v, want %q", said, err, want)
	}
	if got, want := summaries(r.Run.End()), []string{"connection 1 shutdown", "exec -1 "}; !slices.Equal(got, want) {
		t.Errorf("at the end %q, want %q", got, want)
	}
	if again := r.Run.End(); len(again) > 0 {
		t.Errorf("it ends again with %v", again)
	}
}

// history keeps what comes, with the second in which it happened.
type history struct {
	mu  sync.Mutex
	got []string
}

func (h *history) AppendAt(at time.Time, _, subject string, payload record.Payload) {
	h.mu.Lock()
	defer h.mu.Unlock()
	text := fmt.Sprintf("%.1f %s %s", at.Sub(start).Seconds(), payload.EventKind(), subject)
	switch p := payload.(type) {
	case record.ContainerExited:
		text += " " + p.Signal
	case record.ObservationLost:
		text += fmt.Sprintf(" since %.1f over: %t", p.Since.Sub(start).Seconds(), p.Resumed)
	case record.Connection:
		text += fmt.Sprintf(" %.1f", p.Opened.Sub(start).Seconds())
	}
	h.got = append(h.got, text)
}

// start is when a test in a bubble begins (testing/synctest).
var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// TestOrder: what a container says comes to the place where it happened, by this machine's clock, with
// its start before and its end after it.
func TestOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const app, ahead = "default/web/app", time.Hour
		var h history
		m := logged.NewMerger(&h)
		m.Append("watch", "before", record.StepDone{})
		run := &logged.Run{}
		say := func(at time.Duration, awaited time.Duration, events ...logged.Event) {
			run.At = start.Add(ahead + at)
			for i := range events {
				events[i].At = run.At
			}
			m.Read(app, 0, run, awaited, events)
		}
		time.Sleep(time.Second)
		run.Began = start.Add(ahead + 500*time.Millisecond)
		m.Expect(app, "node", true)
		m.Append("watch", "default/web", record.SandboxStarted{})
		m.Append("watch", app, record.ContainerStarted{})
		say(500*time.Millisecond, 0)
		say(600*time.Millisecond, 0, logged.Event{Payload: record.Listening{}})
		say(time.Second, live) // it is known now how far the clock of the node is ahead
		time.Sleep(time.Second)
		m.Append("watch", "ready", record.StepDone{})
		say(1500*time.Millisecond, live, logged.Event{Payload: record.Connection{Opened: start.Add(ahead + 1400*time.Millisecond)}})
		time.Sleep(time.Second)
		m.Append("watch", app, record.ContainerExited{})
		run.Signal = "SIGTERM"
		m.Over(app, 0, run, nil)
		want := []string{
			"0.0 step.done before", "0.5 sandbox.started default/web", "0.5 container.started default/web/app", "0.6 wire.listening default/web/app",
			"1.5 wire.connection default/web/app 1.4", "1.5 container.exited default/web/app SIGTERM", "2.0 step.done ready",
		}
		if diff := cmp.Diff(want, h.got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if err := m.Settle(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

const live = 100 * time.Millisecond

// TestNothingIsBelievedOfASilentContainer: who wants to know what has happened waits, and hears why.
func TestNothingIsBelievedOfASilentContainer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const app = "default/web/app"
		var h history
		m := logged.NewMerger(&h)
		m.Expect(app, "node", true)
		m.Append("watch", "ready", record.StepDone{})
		settled := make(chan error)
		go func() { settled <- m.Settle(t.Context()) }()
		synctest.Wait()
		time.Sleep(time.Minute)
		if m.LoseSilent(time.Minute); len(h.got) > 0 {
			t.Errorf("%q", h.got)
		}
		time.Sleep(time.Second)
		m.LoseSilent(time.Minute)
		if err := <-settled; err != nil {
			t.Error(err)
		}
		run := new(logged.Run)
		m.Read(app, 0, run, live, []logged.Event{{Payload: record.Listening{}}}) // it comes too late
		m.Over(app, 0, run, nil)
		if diff := cmp.Diff([]string{"0.0 step.done ready", "61.0 observation.lost default/web/app since 0.0 over: false"}, h.got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// TestWhatIsLostOfAContainer is what has happened since all was known of it. It is over when another pod has its name.
func TestWhatIsLostOfAContainer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const app = "default/web/app"
		var h history
		m := logged.NewMerger(&h)
		m.Expect(app, "node", true)
		m.Append("watch", app, record.ContainerStarted{})
		run := &logged.Run{Began: start, At: start.Add(time.Second)}
		time.Sleep(time.Second)
		m.Read(app, 0, run, live, nil)
		time.Sleep(time.Second)
		m.Append("watch", "ready", record.StepDone{})
		m.Lose(app, errors.New("forbidden"))
		m.Lose(app, errors.New("again"))
		m.Append("watch", app, record.ContainerExited{})
		time.Sleep(time.Second)
		m.Expect(app, "node", true)
		second := &logged.Run{Began: start.Add(3 * time.Second), At: start.Add(3 * time.Second)}
		m.Append("watch", app, record.ContainerStarted{})
		m.Over(app, 1, second, nil)
		want := []string{
			"0.0 container.started default/web/app", "2.0 step.done ready", "2.0 observation.lost default/web/app since 1.0 over: false",
			"2.0 container.exited default/web/app ", "3.0 observation.lost default/web/app since 1.0 over: true", "3.0 container.started default/web/app",
		}
		if diff := cmp.Diff(want, h.got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}
