package narrate

import (
	"fmt"
	"slices"
	"strings"
)

// nodes is how many nodes were not Ready, or when a node that is named was not.
func (t failedCheck) nodes() string {
	for _, l := range t.lanes {
		if l.Kind == ObjectState && l.Name == "nodes" {
			if said := t.turnedInWords(); said != "" {
				return said
			}
		}
		if l.Kind != ObjectState || l.Name != "nodes" && (!strings.HasPrefix(l.Name, "nodes/") || !t.named.HasObject(l.Name)) {
			continue
		}
		for _, s := range slices.Backward(l.Spans) {
			if s.Tone == Bad && s.From <= t.to {
				return fmt.Sprintf("%s: %s, from %s%s", l.Name, s.Label, moment(s.From), t.afterStep(s.From))
			}
		}
		if s, found := l.state(t.to); found {
			return fmt.Sprintf("%s: %s until %s", l.Name, s.Label, moment(t.to))
		}
	}
	return ""
}

// afterStep is how long after the last step that did something a time was.
func (t failedCheck) afterStep(at float64) string {
	s, is := t.acted(at)
	if !is {
		return ""
	}
	return fmt.Sprintf(", %s after %s", lasted(at-s.From), inWords(s))
}

// pods is when a pod that is named was not ready, or what became of it.
func (t failedCheck) pods() string {
	if !strings.Contains(t.Expected, "eady") && !strings.Contains(t.Expected, "phase") && len(t.compared) > 0 {
		return "" // it is about something else
	}
	for _, l := range t.lanes {
		pod, is := strings.CutPrefix(l.Name, "pods/")
		if !is || !t.named.HasObject(l.Name) {
			continue
		}
		for _, s := range l.Spans {
			if s.Tone == Bad && s.From <= t.to {
				return fmt.Sprintf("pod %s was %s from %s to %s%s", pod, s.Label, moment(s.From), moment(min(s.To, t.to)), because(s.Detail))
			}
		}
		if s, found := l.state(t.to); found {
			return fmt.Sprintf("pod %s was %s at %s%s", pod, s.Label, moment(t.to), because(s.Detail))
		}
	}
	return ""
}

func because(detail string) string {
	if detail == "" {
		return ""
	}
	return " (" + detail + ")"
}

// state is the last span that began until a time.
func (l Lane) state(at float64) (found Span, is bool) {
	for _, s := range l.Spans {
		if s.From <= at {
			found, is = s, true
		}
	}
	return found, is
}
