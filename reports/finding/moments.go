package finding

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// maxMoments is how many moments are listed, and maxFailed how many failed attempts among them.
const (
	maxMoments = 10
	maxFailed  = 3
)

// Moment is something that happened, in seconds since the narration began.
type Moment struct {
	At   float64 `json:"at"`
	Text string  `json:"text"`
}

// Led is what led to what a check found, in time; empty if nothing of that was recorded.
func Led(n *narrate.Narration, check reports.Check) []Moment {
	return viewOf(n, check).led()
}

// concerns reports whether a lane is of what the expression is about. What a watchdog does
// has no names in expressions.
func (s view) concerns(l narrate.Lane) bool {
	switch l.Kind {
	case narrate.Agent:
		return slices.Contains(s.about.Of("watches", "podsAPI", "polls"), path.Base(l.Name))
	case narrate.ObjectState:
		return s.about.HasObject(l.Name) || strings.Contains(s.expression, "dependents") && strings.HasPrefix(l.Name, "seed/deployments/")
	case narrate.Link:
		return strings.Contains(s.expression, "dependents") || strings.Contains(s.expression, "calls")
	}
	return false
}

// moments are what led to what the check found.
func (s view) moments() Exhibit {
	lines := reports.Each(s.led(), func(m Moment) string { return fmt.Sprintf("%7.3f s  %s", m.At, m.Text) })
	return Exhibit{Title: fmt.Sprintf("What happened last, until the check was decided at %.1f s", s.until), Text: strings.Join(lines, "\n")}
}

// led is the last that happened to what the expression is about, until the check was decided:
// with the steps that led to it, failed attempts, and the next message of a client that
// waited for one.
func (s view) led() []Moment {
	all := s.failed()
	_, narrow := s.own()
	for _, l := range s.Lanes {
		if !s.concerns(l) {
			continue
		}
		marks := s.marks(l)
		for _, m := range marks {
			ofProbe := isOfProbe(m.Label) // it may be another container's
			if m.At <= s.until && (!narrow || !ofProbe) {
				all = append(all, momentOf(l, m.At, m.Label, m.Detail))
			}
		}
		for _, span := range l.Spans {
			if l.Kind == narrate.ObjectState && span.From <= s.until && (!narrow || !isOfProbe(span.Label)) {
				all = append(all, momentOf(l, span.From, span.Label, span.Detail))
			}
		}
	}
	all = append(append(lastOf(all), s.causes()...), momentsOf(s.looked.Seen, "")...)
	for _, l := range s.Lanes {
		if l.Kind == narrate.Agent && s.concerns(l) {
			next := s.next(l)
			all = append(all, next...)
			for _, m := range next {
				all = append(all, s.writtenUntil(m.At)...)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Moment) int { return cmp.Compare(a.At, b.At) })
	for i := range all {
		all[i].Text = reports.Truncate(all[i].Text, maxExhibit)
	}
	return all
}

// causes are the steps that are known to have led to it, and when it went wrong, if it was
// attempts that failed. Where no such step is known, they are the last one that did something
// before the window of the check, and the last one before it went wrong.
func (s view) causes() (all []Moment) {
	wrong := s.looked.Bad
	first, failed := s.firstFailed()
	if failed > 0 {
		all = append(all, first)
	}
	if len(s.looked.Led) > 0 {
		return append(all, momentsOf(s.looked.Led, "")...)
	}
	if failed > 0 && (wrong == 0 || first.At < wrong) {
		wrong = first.At
	}
	last, is := s.acted(s.looked.From)
	if is {
		all = append(all, Moment{last.From, answered(last)})
	}
	if cause, is := s.acted(wrong); is && wrong > 0 {
		if cause.Number == last.Number {
			all = all[:len(all)-1]
		}
		all = append(all, Moment{cause.From, answered(cause) + "; this was the last step before it went wrong"})
	}
	return all
}

// isOfProbe reports whether the label of a mark, or of a span of many that are alike, is the
// reason of an event about a probe.
func isOfProbe(label string) bool {
	if _, of, many := strings.Cut(label, " times: "); many {
		label = of
	}
	return label == "ProbeWarning" || label == "Unhealthy"
}

// firstFailed is the first of the last attempts, if all of them failed from it on, and how many
// they are.
func (s view) firstFailed() (first Moment, n int) {
	own, _ := s.own()
	for _, a := range own {
		switch a.Tone {
		case narrate.Good:
			n = 0
		case narrate.Bad:
			if n++; n == 1 {
				first = attempted(a)
			}
		}
	}
	tally := s.looked.Tally
	if tally.Failed > 1 && tally.Failed == tally.All { // the narration may leave some out
		first.Text += fmt.Sprintf("; the first of %d that failed until then", tally.Failed)
		if tally.FailedByEnd > tally.Failed {
			first.Text += fmt.Sprintf(", %d by the end", tally.FailedByEnd)
		}
		return first, n
	}
	if n > 1 {
		first.Text += fmt.Sprintf("; the first of %d that failed until then", n)
	}
	return first, n
}

// momentsOf are lines as moments, each with a note.
func momentsOf(lines []narrate.Line, note string) (all []Moment) {
	return reports.Each(lines, func(l narrate.Line) Moment { return Moment{l.At, l.Text + note} })
}

// writtenUntil are the steps that wrote what the check is about after it was decided, until a
// time.
func (s view) writtenUntil(at float64) []Moment {
	in := reports.Only(s.looked.After, func(l narrate.Line) bool { return l.At <= at })
	return momentsOf(in, ", after the check was decided")
}

func momentOf(lane narrate.Lane, at float64, label, detail string) Moment {
	text := lane.Name + ": " + label
	if first, _, _ := strings.Cut(detail, "\n"); first != "" {
		text += " (" + first + ")"
	}
	return Moment{at, text}
}

// marks are those of a lane; of a client of a Pods API, those about the pod that the
// expression names, if it names one.
func (s view) marks(l narrate.Lane) []narrate.Mark {
	if l.Kind != narrate.Agent {
		return l.Marks
	}
	about := slices.DeleteFunc(slices.Clone(l.Marks), func(m narrate.Mark) bool {
		words := strings.Fields(m.Label)
		return len(words) < 2 || !s.about.HasObject(reports.PodKey(words[1]))
	})
	if len(about) == 0 {
		return l.Marks
	}
	return about
}

// failed are the last attempts that failed of what the expression is about, without the first
// of them.
func (s view) failed() (all []Moment) {
	own, _ := s.own()
	first, _ := s.firstFailed()
	for _, a := range own {
		if a.Tone == narrate.Bad && a.At != first.At {
			all = append(all, attempted(a))
		}
	}
	return all[max(0, len(all)-maxFailed):]
}

func attempted(a narrate.Attempt) Moment {
	return Moment{a.At, fmt.Sprintf("%s, %s: %s", a.Container, a.By, a.Observed)}
}

// lastOf are the last moments, each text once.
func lastOf(all []Moment) (last []Moment) {
	slices.SortStableFunc(all, func(a, b Moment) int { return cmp.Compare(a.At, b.At) })
	seen := make(map[string]bool)
	for _, m := range slices.Backward(all) {
		if !seen[m.Text] && len(last) < maxMoments {
			seen[m.Text] = true
			last = append(last, m)
		}
	}
	return last
}

// answered is a step with what was answered to it.
func answered(step narrate.Step) string {
	text := fmt.Sprintf("step %d: %s", step.Number, step.Action)
	if len(step.Answers) > 0 {
		text += ": " + step.Answers[0].Text
	}
	return text
}

// next is the first message to a client after a check was decided, and how long none came.
func (s view) next(l narrate.Lane) []Moment {
	before := -1.0
	for _, m := range s.marks(l) {
		if m.At <= s.until {
			before = m.At
			continue
		}
		next := momentOf(l, m.At, m.Label, m.Detail)
		next.Text += ", after the check was decided"
		if before >= 0 && before < s.looked.From {
			next.Text += fmt.Sprintf(": the first message in %.3f s", m.At-before)
		}
		return []Moment{next}
	}
	return nil
}
