package compare

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
)

// fact is something that a run showed.
type fact struct {
	step int // during which it was first seen; 0 is before the first one
	// text is the same in each run that shows the fact: it has no times, no
	// addresses and no generated names. Detail is more of it, and need not be.
	text, detail string
	// firm is true for what a plan leaves no room for.
	firm bool
}

// runFacts is a run as facts.
type runFacts struct {
	actions map[int]string // what the steps do, by their number
	facts   []fact         // in order, each once
	keys    map[string]bool
	step    int
	names   map[string]string // of objects whose names are generated: what is common to them
	shown   map[string]string // by object and aspect
	times   map[string]int    // how often it became so
}

// action is what a step does. A run that was broken off may not have got there.
func (t runFacts) action(step int, other runFacts) string {
	if action, known := t.actions[step]; known {
		return action
	}
	return other.actions[step]
}

// factsOf reads a history. What happens after the last step is the rig's end, and is
// left out.
func factsOf(r Run) runFacts {
	t := runFacts{
		actions: make(map[int]string), keys: make(map[string]bool),
		names: make(map[string]string), shown: make(map[string]string), times: make(map[string]int),
	}
	checks := make(map[string]reports.Check)
	for _, c := range r.Checks {
		checks[c.ID] = c
	}
	steps := 0
	for range record.All[record.StepStarted](r.Events) {
		steps++
	}
	for _, e := range r.Events {
		if s, ok := record.As[record.StepStarted](e); ok {
			t.step, t.actions[s.Number] = s.Number, s.Action
		}
		t.event(e)
		if _, ok := record.As[record.CheckClosed](e); ok {
			t.judged(checks[e.Subject])
			delete(checks, e.Subject)
		}
		if _, ok := record.As[record.StepDone](e); ok && len(t.actions) == steps {
			break
		}
	}
	for _, c := range r.Checks { // those that no step opens
		if _, left := checks[c.ID]; left {
			t.judged(c)
		}
	}
	return t
}

// judged adds what came of a check.
func (t *runFacts) judged(c reports.Check) {
	if c.Outcome.Judged() {
		t.firm(fmt.Sprintf("check %s: %s", c.ID, c.Outcome), "")
	}
}

func (t *runFacts) firm(text, detail string) { t.add(fact{text: text, detail: detail, firm: true}) }
func (t *runFacts) soft(text, detail string) { t.add(fact{text: text, detail: detail}) }

func (t *runFacts) add(f fact) {
	if !t.keys[f.text] {
		t.keys[f.text] = true
		f.step = t.step
		t.facts = append(t.facts, f)
	}
}

// event adds what an event shows.
func (t *runFacts) event(e record.Event) {
	subject := t.common(e.Subject)
	if p, ok := record.As[record.StepDone](e); ok && p.Error != "" {
		t.firm(fmt.Sprintf("step %d could not be done", p.Number), p.Error)
	}
	if p, ok := record.As[record.APIAnswer](e); ok {
		t.firm(strings.TrimSpace(fmt.Sprintf("step %s: %s was answered %d %s", subject, t.common(p.Object), p.Code, p.Reason)), p.Message)
	}
	if p, ok := record.As[record.ComponentStopped](e); ok && !p.Asked {
		t.firm(subject+" died", p.State)
	}
	if p, ok := record.As[record.ContainerExited](e); ok {
		t.firm(fmt.Sprintf("container %s exited with %d", subject, p.ExitCode), p.Reason)
	}
	if p, ok := record.As[record.ContainerStarted](e); ok && p.Attempt > 0 {
		t.soft(fmt.Sprintf("container %s was started again, attempt %d", subject, p.Attempt), "")
	}
	if p, ok := record.As[record.ImagePullFailed](e); ok {
		t.soft(fmt.Sprintf("no image %s for %s", p.Ref, subject), p.Error)
	}
	if p, ok := record.As[record.Exec](e); ok {
		t.soft(fmt.Sprintf("%s in container %s exited with %d", strings.Join(p.Args, " "), subject, p.ExitCode), p.Error)
	}
	if p, ok := record.As[record.Connection](e); ok {
		t.soft(fmt.Sprintf("a client of container %s, port %d, began with %s%s", subject, p.Port, p.First, served(p)), "")
	}
	if p, ok := record.As[record.LinkRequest](e); ok && (p.Method != "GET" || p.Code >= 400) {
		t.soft(fmt.Sprintf("%s: %s %s was answered %d", subject, p.Method, generated.ReplaceAllString(p.Path, "*"), p.Code), p.Error)
	}
	if p, ok := record.As[record.PodsEnded](e); ok {
		t.soft(fmt.Sprintf("%s of the Pods API ended with %s", subject, p.Code), p.Message)
	}
	if p, ok := record.As[record.PodsAnswer](e); ok {
		t.soft(fmt.Sprintf("step %s: %s was answered %s", subject, p.Method, p.Code), p.Message)
	}
	if p, ok := record.As[record.ObjectObserved](e); ok {
		t.object(p)
	}
}

// served says how a connection went on.
func served(c record.Connection) string {
	switch {
	case c.Answered():
		return " and was answered"
	case c.GivenUp():
		return " and gave up"
	default:
		return " and had no answer"
	}
}

// generated is what paths have that is another each time.
var generated = regexp.MustCompile(`\d{2,}|[0-9a-f]{8,}`)

// common returns a path with generated names in it replaced by what is common to
// them.
func (t *runFacts) common(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if name, ok := t.names[part]; ok {
			parts[i] = name
		}
	}
	return strings.Join(parts, "/")
}

// object adds which conditions an object came to be in, and what events warn of.
func (t *runFacts) object(p record.ObjectObserved) {
	var o struct {
		Metadata       struct{ GenerateName string }
		Type           string
		Reason         string
		Message        string
		InvolvedObject struct{ Kind, Namespace, Name string }
		Status         struct {
			Phase      string
			Conditions []struct{ Type, Status, Reason, Message string }
		}
	}
	if json.Unmarshal(p.Object, &o) != nil {
		return
	}
	if o.Metadata.GenerateName != "" {
		t.names[p.Name] = o.Metadata.GenerateName + "*"
	}
	if p.Resource == "events" {
		if about := o.InvolvedObject; o.Type == "Warning" && p.Change != "deleted" {
			t.soft(fmt.Sprintf("warning %s of %s %s", o.Reason, about.Kind, t.common(strings.Trim(about.Namespace+"/"+about.Name, "/"))), o.Message)
		}
		return
	}
	object := path(p.Cluster, p.Resource, p.Namespace, p.Name)
	if p.Change == "deleted" {
		t.soft(t.common(object)+" was gone", "")
		return
	}
	t.became(object, "phase", o.Status.Phase, "")
	for _, c := range o.Status.Conditions {
		t.became(object, c.Type, c.Status, strings.Trim(c.Reason+": "+c.Message, ": "))
	}
}

func path(parts ...string) string {
	return strings.Join(strings.Fields(strings.Join(parts, " ")), "/")
}

// became adds an aspect of an object, if it was not so before. That it is so for
// the second time is another fact than that it was once.
func (t *runFacts) became(object, aspect, value, detail string) {
	key := object + " " + aspect
	if value == "" || t.shown[key] == value {
		return
	}
	t.shown[key] = value
	t.times[key+value]++
	text := fmt.Sprintf("%s: %s became %s", t.common(object), aspect, value)
	if n := t.times[key+value]; n > 1 {
		text += fmt.Sprintf(" for the %d. time", n)
	}
	t.soft(text, detail)
}
