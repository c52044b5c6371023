package narrate

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

// maxLed is how many steps a sentence or a list has that led to a failure.
const maxLed = 8

// trigger is a step that changed the rig or wrote an object that a check is about, or what a
// component did by itself.
type trigger struct {
	step   int // 0 if it was none
	place  int // in the history, where it began
	at, to float64
	text   string // in a sentence
	line   string // in a list
}

// led are the steps that led to what a check found, and what components did by themselves.
// After are steps that wrote an object of the check once it was decided.
func (t failedCheck) led() (before, after []trigger) {
	ran, taken := make(map[string]bool), make(map[int]bool)
	for e := range t.b.Entries() {
		ranBefore := ran[e.Subject]
		if _, is := e.Payload.(record.ComponentStarted); is {
			ran[e.Subject] = true
		}
		rig, writes := changesRig(e, ranBefore), t.writes(e)
		if t.b.at(e.Time) > t.b.over || !rig && !writes {
			continue
		}
		c, is := t.triggerAt(e)
		switch {
		case !is || taken[c.step]:
			continue
		case c.at <= t.until() && !t.isOver(c.place):
			before = append(before, c)
		case writes && t.isOver(c.place):
			after = append(after, c)
		}
		taken[c.step] = c.step > 0
	}
	return before, after
}

// isOver reports whether a check had been decided at a place in the history.
func (t failedCheck) isOver(place int) bool {
	w := t.b.Windows[t.ID]
	return w != nil && w.Closed != nil && w.To.Place < place
}

// until is when a check went wrong, or when it was decided: what came later did not lead to it.
// A check that waits may have had its value from the start.
func (t failedCheck) until() float64 {
	if t.awaits() || t.bad == 0 {
		return t.to
	}
	return t.bad
}

// changesRig reports whether an event is a change of a component, a link or a clock: an upgrade,
// a restart, a stop, other gates or a fault. The first start of a component is none.
func changesRig(e timeline.Entry, ranBefore bool) bool {
	switch e.Payload.(type) {
	case record.ComponentStarted:
		return ranBefore
	case record.ComponentStopped, record.Routed, record.FaultBegan, record.FaultEnded, record.ClockSet, record.LeaseClockSet, record.LeaseNodesStopped, record.LeaseNodesStarted:
		return true
	}
	return false
}

// writes reports whether an event is a write to an object that the check is about, or the begin of its
// deletion.
func (t failedCheck) writes(e timeline.Entry) bool {
	switch p := e.Payload.(type) {
	case record.APIAnswer:
		return p.Path == "" && p.Code < 400 && slices.Contains(t.objects, p.Object)
	case record.StaticPodWritten:
		return slices.Contains(t.objects, "pods/"+e.Subject)
	case record.StepStarted:
		key, is := strings.CutPrefix(p.Action, "delete ")
		return is && slices.Contains(t.objects, key)
	}
	return false
}

// triggerAt is the step that was being taken at an event, or what a component did when no step
// acted.
func (t failedCheck) triggerAt(e timeline.Entry) (c trigger, is bool) {
	step := t.b.StepAt(e.Place)
	if step == nil || step.Done != nil && step.To.Place < e.Place || !t.b.taken(step).Acts {
		return t.byItself(e)
	}
	s := t.b.taken(step)
	c = trigger{step: s.Number, place: step.From.Place, at: s.From, to: s.To, text: inWords(s), line: "step " + wholeStep(s)}
	if answer := t.b.answerTo(step); answer != "" {
		c.line += ": " + answer
	}
	if s.To-s.From >= settling/2. {
		c.line += fmt.Sprintf("; it took until %.1f s", s.To)
	}
	return c, true
}

// wholeStep is a step with its whole action.
func wholeStep(s Step) string {
	if s.Name == "" {
		return fmt.Sprintf("%d: %s", s.Number, s.Action)
	}
	return fmt.Sprintf("%d (%s): %s", s.Number, s.Name, s.Action)
}

// answerTo is what the first request of a step was answered.
func (b *builder) answerTo(step *timeline.Step) string {
	for _, s := range b.steps {
		if s.Number == step.Number && len(s.Answers) > 0 {
			return s.Answers[0].Text
		}
	}
	return ""
}

// byItself is that a component stopped when no step acted.
func (t failedCheck) byItself(e timeline.Entry) (c trigger, is bool) {
	p, stopped := e.Payload.(record.ComponentStopped)
	if !stopped {
		return c, false
	}
	text := e.Subject + " stopped"
	if !p.Asked {
		text = strings.TrimSuffix(e.Subject+" ended by itself: "+p.State, ": ")
	}
	at := t.b.at(e.Time)
	return trigger{place: e.Place, at: at, to: at, text: text, line: text}, true
}

// inList are causes as lines of a list, the last ones if there are many.
func inList(all []trigger) (lines []Line) {
	for _, c := range all[max(0, len(all)-maxLed):] {
		lines = append(lines, Line{At: c.at, Text: c.line})
	}
	return lines
}

// triggersInWords are triggers in a sentence: with when each began, and ended if it took long.
func triggersInWords(all []trigger) string {
	var texts []string
	for _, c := range all[max(0, len(all)-maxLed):] {
		when := " at " + moment(c.at)
		if c.to-c.at >= settling/2. {
			when = fmt.Sprintf(" from %s to %s", moment(c.at), moment(c.to))
		}
		texts = append(texts, c.text+when)
	}
	said := strings.Join(texts, ", then ")
	if more := len(all) - maxLed; more > 0 {
		said = fmt.Sprintf("%d others, then %s", more, said)
	}
	return said
}

// objectsOf are the keys of the objects that a check is about: those that it names or compares,
// and what they are made from.
func (t failedCheck) objectsOf() (keys []string) {
	add := func(key string) {
		if key != "" && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	for _, n := range t.named {
		add(n.Object)
	}
	for _, c := range t.compared {
		key, _ := t.b.object(c)
		add(key)
	}
	add(t.members.owner)
	for i := 0; i < len(keys); i++ { // it gets longer
		for _, owner := range t.b.ownersOf(keys[i]) {
			add(owner)
		}
	}
	return keys
}

// ownersOf are the keys of the objects that an object was made from.
func (b *builder) ownersOf(key string) (keys []string) {
	for _, v := range b.States(key) {
		for _, owner := range v.Meta().OwnerReferences {
			if key := b.byUID(owner.UID); key != "" && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// byUID is the key of an object; empty if it was never seen.
func (b *builder) byUID(uid types.UID) string {
	if b.uids == nil {
		b.uids = make(map[types.UID]string)
		for _, v := range b.Versions {
			if v.Cluster == "" && v.Meta().UID != "" {
				b.uids[v.Meta().UID] = v.Key
			}
		}
	}
	return b.uids[uid]
}
