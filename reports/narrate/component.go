package narrate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
)

// component takes into account what became of a component.
func (b *builder) component(e record.Event, at float64) {
	switch e.Kind {
	case record.ComponentStarted{}.EventKind():
		if started, ok := record.As[record.ComponentStarted](e); ok {
			b.started(e, at, started)
		}
	case record.ComponentStopped{}.EventKind():
		if stopped, ok := record.As[record.ComponentStopped](e); ok {
			b.stopped(e.Subject, at, stopped)
		}
	case record.ClockSet{}.EventKind():
		if set, ok := record.As[record.ClockSet](e); ok && (set != record.ClockSet{} || at > 0) {
			b.components.named(Component, e.Subject).mark(at, "clock "+set.Clock.String(), "", Faulty)
		}
	}
}

// started ends what was before with when the process was started, and has the
// release run from when it was ready.
func (b *builder) started(e record.Event, at float64, started record.ComponentStarted) {
	l := b.components.named(Component, e.Subject)
	now := Span{Label: inForce(started), Detail: fmt.Sprintf("process %d, ready after %.1f s\n%s", started.PID, started.ReadySeconds, started.Source)}
	began := b.at(e.At.Add(-time.Duration(started.ReadySeconds * float64(time.Second))))
	before, again := lastRun(l)
	if l.open != nil {
		began = max(began, l.open.From)
	}
	starting := Span{Label: "starting"}
	if again {
		starting.Tone, now.Tone = Changed, Changed
		label := "restarted"
		if before != now.Label {
			label = "restarted as " + now.Label + ", which was " + before
		}
		l.mark(began, label, "", Changed)
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

func (b *builder) stopped(component string, at float64, stopped record.ComponentStopped) {
	l := b.components.named(Component, component)
	label, tone := "stopped", Changed
	switch {
	case !stopped.Asked:
		label, tone = "ended by itself", Bad
	case at > b.over:
		l.ends(at)
		return
	case strings.Contains(stopped.State, "killed"):
		label = "killed"
	}
	l.mark(at, label, stopped.State, tone)
	l.becomes(at, Span{Label: label, Tone: tone})
}

// link takes the faults of links into account.
func (b *builder) link(e record.Event, at float64) {
	if began, ok := record.As[record.FaultBegan](e); ok {
		b.links.named(Link, e.Subject).becomes(at, Span{Label: began.Fault.String(), Tone: Faulty})
	}
	if ended, ok := record.As[record.FaultEnded](e); ok {
		l := b.links.named(Link, e.Subject)
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
