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

// maxMoments is how many moments are told, and maxFailed how many failed attempts among them.
const (
	maxMoments = 10
	maxFailed  = 3
)

// moment is something that happened.
type moment struct {
	at   float64
	text string
}

// concerns reports whether a lane is of what the expression is about. What a watchdog does
// has no names in expressions.
func (s sight) concerns(l narrate.Lane) bool {
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

// moments are the last things that happened to what the expression is about, until the check
// was decided: with the step that led to it, failed attempts, and the next message of a client
// that waited for one.
func (s sight) moments() Exhibit {
	all := s.failed()
	_, narrow := s.own()
	for _, l := range s.Lanes {
		if !s.concerns(l) {
			continue
		}
		marks := s.marks(l)
		for _, m := range marks {
			ofProbe := m.Label == "ProbeWarning" || m.Label == "Unhealthy" // it may be another container's
			if m.At <= s.until && (!narrow || !ofProbe) {
				all = append(all, momentOf(l, m.At, m.Label, m.Detail))
			}
		}
		for _, span := range l.Spans {
			if l.Kind == narrate.ObjectState && span.From <= s.until {
				all = append(all, momentOf(l, span.From, span.Label, span.Detail))
			}
		}
	}
	all = lastOf(all)
	if step, is := s.trigger(); is {
		all = append(all, moment{step.From, answered(step)})
	}
	for _, l := range s.Lanes {
		if l.Kind == narrate.Agent && s.concerns(l) {
			all = append(all, s.next(l)...)
		}
	}
	slices.SortStableFunc(all, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	var lines []string
	for _, m := range all {
		lines = append(lines, bounded(fmt.Sprintf("%7.3f s  %s", m.at, m.text), maxExhibit))
	}
	return Exhibit{Title: fmt.Sprintf("What happened last, until the check was decided at %.1f s", s.until), Text: strings.Join(lines, "\n")}
}

func momentOf(lane narrate.Lane, at float64, label, detail string) moment {
	text := lane.Name + ": " + label
	if first, _, _ := strings.Cut(detail, "\n"); first != "" {
		text += " (" + first + ")"
	}
	return moment{at, text}
}

// marks are those of a lane; of a client of a Pods API, those about the pod that the
// expression names, if it names one.
func (s sight) marks(l narrate.Lane) []narrate.Mark {
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

// failed are the last attempts that failed of what the expression is about.
func (s sight) failed() (all []moment) {
	own, _ := s.own()
	for _, a := range own {
		if a.Tone == narrate.Bad {
			all = append(all, moment{a.At, fmt.Sprintf("%s, %s: %s", a.Container, a.By, a.Observed)})
		}
	}
	return all[max(0, len(all)-maxFailed):]
}

// lastOf are the last moments, each text once.
func lastOf(all []moment) (last []moment) {
	slices.SortStableFunc(all, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	seen := make(map[string]bool)
	for _, m := range slices.Backward(all) {
		if !seen[m.text] && len(last) < maxMoments {
			seen[m.text] = true
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
func (s sight) next(l narrate.Lane) []moment {
	before := -1.0
	for _, m := range s.marks(l) {
		if m.At <= s.until {
			before = m.At
			continue
		}
		next := momentOf(l, m.At, m.Label, m.Detail)
		next.text += ", after the check was decided"
		if before >= 0 && before < s.from {
			next.text += fmt.Sprintf(": the first message in %.3f s", m.At-before)
		}
		return []moment{next}
	}
	return nil
}
