package narrate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

// lives are those of the components, in the order of their first appearance, and when
// their clocks were set.
func (b *builder) lives() []Lane {
	for _, l := range b.components.all {
		before := ""
		for _, life := range b.Lives(l.Name) {
			b.started(l, life, before)
			before = inForce(life)
			if life.Stopped != nil {
				b.stopped(l, b.at(life.Until.Time), life.Stopped)
			}
		}
	}
	for _, r := range b.Routes {
		b.components.named(Component, r.Component).mark(b.at(r.Time), "led to "+strings.Join(r.Via, ", "), "", Changed)
	}
	for _, l := range b.components.all {
		slices.SortStableFunc(l.Marks, func(a, b Mark) int { return cmp.Compare(a.At, b.At) })
	}
	return b.components.until(b.end)
}

// started ends what was before with when the process was started, and has the
// release run from when it was ready. Before is what the component was when it ran
// last; empty if it never did.
func (b *builder) started(l *lane, life *timeline.Life, before string) {
	began := b.at(life.Launched)
	if l.open != nil {
		began = max(began, l.open.From)
	}
	starting := Span{Label: "starting"}
	now := Span{Label: inForce(life), Detail: fmt.Sprintf("process %d, ready after %.1f s\n%s", life.PID, life.ReadySeconds, life.Source)}
	if before != "" {
		starting.Tone, now.Tone = Changed, Changed
		label := "restarted"
		if before != now.Label {
			label = "restarted as " + now.Label + ", which was " + before
		}
		l.mark(began, label, "", Changed)
	}
	l.becomes(began, starting)
	l.becomes(b.at(life.Ready.Time), now)
}

// inForce is the release, and the gates that were set.
func inForce(life *timeline.Life) string {
	words := []string{life.Effective().String()}
	for _, gate := range slices.Sorted(maps.Keys(life.Gates)) {
		words = append(words, fmt.Sprintf("%s=%t", gate, life.Gates[gate]))
	}
	return strings.Join(words, " ")
}

func (b *builder) stopped(l *lane, at float64, stopped *record.ComponentStopped) {
	label, tone := "stopped", Changed
	switch {
	case !stopped.Asked:
		label, tone = "ended by itself", Bad
	case at > b.over:
		l.ends(at)
		return
	case stopped.Overdue:
		label, tone = fmt.Sprintf("killed, still running %.0f s after SIGTERM", stopped.Seconds), Bad
	case strings.Contains(stopped.State, "killed"):
		label = "killed"
	}
	l.mark(at, label, stopped.State, tone)
	l.becomes(at, Span{Label: label, Tone: tone})
}

// links are the faults of links.
func (b *builder) links() []Lane {
	var rows lanes
	for _, f := range b.Faults {
		name := f.Link
		if f.Stale {
			name += " (events)" // beside another fault
		}
		l := rows.named(Link, name)
		l.becomes(b.at(f.From.Time), Span{Label: f.String(), Tone: Faulty})
		if f.Effect != nil {
			l.open.Detail = effect(*f.Effect)
			l.ends(b.at(f.To.Time))
		}
	}
	return rows.until(b.end)
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
		{e.Events, "watch events held"},
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
