package story

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/harness/clock"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports/story"
)

// component takes into account what became of a component.
func (t *teller) component(e record.Event, at float64) {
	switch e.Kind {
	case record.ComponentStarted{}.EventKind():
		if started, ok := record.As[record.ComponentStarted](e); ok {
			t.started(e, at, started)
		}
	case record.ComponentStopped{}.EventKind():
		if stopped, ok := record.As[record.ComponentStopped](e); ok {
			t.stopped(e.Subject, at, stopped)
		}
	case record.ClockSet{}.EventKind():
		if set, ok := record.As[record.ClockSet](e); ok && (set.Clock != clock.Clock{} || at > 0) {
			t.components.named(story.Component, e.Subject).mark(at, "clock "+set.Clock.String(), "", story.Faulty)
		}
	}
}

// started ends what was before with when the process was started, and has the
// release run from when it was ready.
func (t *teller) started(e record.Event, at float64, started record.ComponentStarted) {
	l := t.components.named(story.Component, e.Subject)
	now := story.Span{Label: inForce(started), Detail: fmt.Sprintf("process %d, ready after %.1f s\n%s", started.PID, started.ReadySeconds, started.Source)}
	began := t.at(e.At.Add(-time.Duration(started.ReadySeconds * float64(time.Second))))
	before, again := lastRun(l)
	if l.open != nil {
		began = max(began, l.open.From)
	}
	starting := story.Span{Label: "starting"}
	if again {
		starting.Tone, now.Tone = story.Changed, story.Changed
		label := "restarted"
		if before != now.Label {
			label = "restarted as " + now.Label + ", which was " + before
		}
		l.mark(began, label, "", story.Changed)
	}
	l.becomes(began, starting)
	l.becomes(at, now)
}

// lastRun is what the component was when it ran last.
func lastRun(l *lane) (label string, is bool) {
	for _, s := range slices.Backward(l.Spans) {
		if s.Detail != "" {
			return s.Label, true
		}
	}
	return "", false
}

// inForce is the release, and the gates that it was told to have.
func inForce(started record.ComponentStarted) string {
	words := []string{string(started.Version)}
	for _, gate := range slices.Sorted(maps.Keys(started.Gates)) {
		words = append(words, fmt.Sprintf("%s=%t", gate, started.Gates[gate]))
	}
	return strings.Join(words, " ")
}

func (t *teller) stopped(component string, at float64, stopped record.ComponentStopped) {
	l := t.components.named(story.Component, component)
	label, tone := "stopped", story.Changed
	switch {
	case !stopped.Asked:
		label, tone = "ended by itself", story.Bad
	case at > t.over:
		l.ends(at)
		return
	case strings.Contains(stopped.State, "killed"):
		label = "killed"
	}
	l.mark(at, label, stopped.State, tone)
	l.becomes(at, story.Span{Label: label, Tone: tone})
}

// link takes the faults of links into account.
func (t *teller) link(e record.Event, at float64) {
	if began, ok := record.As[record.FaultBegan](e); ok {
		t.links.named(story.Link, e.Subject).becomes(at, story.Span{Label: began.Fault.String(), Tone: story.Faulty})
	}
	if ended, ok := record.As[record.FaultEnded](e); ok {
		l := t.links.named(story.Link, e.Subject)
		if l.open != nil {
			l.open.Detail = effect(ended.Effect)
		}
		l.ends(at)
	}
}

// effect says what a fault has done.
func effect(e record.Effect) string {
	var words []string
	for _, part := range []struct {
		count int64
		text  string
	}{
		{e.Reset, "connections reset"}, {e.Held, "connections held"},
		{e.Withheld, "bytes withheld"}, {e.Slowed, "bytes slowed"}, {e.Requests, "requests answered by the link, held or never sent"},
	} {
		if part.count > 0 {
			words = append(words, fmt.Sprintf("%d %s", part.count, part.text))
		}
	}
	if len(words) == 0 {
		return "without effect"
	}
	return strings.Join(words, ", ")
}
