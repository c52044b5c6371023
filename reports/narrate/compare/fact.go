package compare

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

// fact is something that a run showed.
type fact struct {
	place int // in the history
	step  int // during which it was first seen; 0 is before the first one
	// text is the same in each run that shows the fact: it has no times, no
	// addresses and no generated names. Detail is more of it, and need not be.
	text, detail string
	// about is how the text begins that says what it is about, in other runs too. If unset, all
	// of it does.
	about string
	// firm is true for what a plan leaves no room for.
	firm bool
}

// runFacts is a run as facts.
type runFacts struct {
	*timeline.Timeline

	facts []fact // in order, each once
	keys  map[string]bool
	names map[string]string // of objects whose names are generated: what is common to them
	known []string          // what is generated, the longest first
}

// action is what a step does. A run that was broken off may not have got there.
func (t runFacts) action(step int, other runFacts) string {
	for _, s := range slices.Concat(t.Steps, other.Steps) {
		if s.Number == step {
			return s.Action
		}
	}
	return ""
}

// factsOf reads a history. What happens after the last step is the rig's end, and is
// left out. The fields of objects are among them if they are asked for.
func factsOf(r Run, fields bool) runFacts {
	t := runFacts{Timeline: timeline.Of(r.Events), keys: make(map[string]bool), names: make(map[string]string)}
	for _, v := range t.Versions {
		t.rename(v)
	}
	end := len(r.Events)
	if last := len(t.Steps) - 1; last >= 0 && t.Steps[last].Done != nil {
		end = t.Steps[last].To.Place
	}
	t.course()
	t.containers()
	t.objects()
	if fields {
		t.fields(end)
	}
	for e := range t.Entries() {
		t.event(e)
	}
	for _, c := range r.Checks {
		place := end // of those that no step opens
		if w := t.Windows[c.ID]; w != nil && w.Closed != nil {
			place = min(end, w.To.Place)
		}
		if c.Outcome.Judged() {
			t.firm(place, "check "+c.ID, ": "+string(c.Outcome), "")
		}
	}
	slices.SortStableFunc(t.facts, func(a, b fact) int { return cmp.Compare(a.place, b.place) })
	t.facts = slices.DeleteFunc(t.facts, func(f fact) bool {
		again := t.keys[f.text] || f.place > end
		t.keys[f.text] = t.keys[f.text] || !again
		return again
	})
	for i, f := range t.facts {
		if s := t.StepAt(f.place); s != nil {
			t.facts[i].step = s.Number
		}
	}
	return t
}

func (t *runFacts) firm(place int, about, text, detail string) {
	t.add(true, place, about, text, detail)
}

func (t *runFacts) soft(place int, about, text, detail string) {
	t.add(false, place, about, text, detail)
}

func (t *runFacts) add(firm bool, place int, about, text, detail string) {
	t.facts = append(t.facts, fact{place: place, text: about + text, about: about, detail: detail, firm: firm})
}

// course adds what came of steps, and which components died.
func (t *runFacts) course() {
	for _, s := range t.Steps {
		if s.Done != nil && s.Done.Error != "" {
			t.firm(s.To.Place, fmt.Sprintf("step %d", s.Number), " could not be done", s.Done.Error)
		}
	}
	for _, a := range t.Answers {
		about := fmt.Sprintf("step %s: %s", t.common(a.Step), t.common(a.Object))
		t.firm(a.Place, about, strings.TrimRight(fmt.Sprintf(" was answered %d %s", a.Code, a.Reason), " "), a.Message)
		for _, warning := range a.Warning {
			t.firm(a.Place, about+": warning", " is "+t.plain(warning), "")
		}
	}
	for _, name := range t.Components() {
		for _, l := range t.Lives(name) {
			if l.Stopped != nil && !l.Stopped.Asked {
				t.firm(l.Until.Place, name, " died", l.Stopped.State)
			}
		}
	}
}

// containers adds how the programs of containers started and ended, and who connected
// to them.
func (t *runFacts) containers() {
	for _, r := range t.Runs {
		container := t.common(r.Container)
		if r.Started != nil && r.Started.Attempt > 0 {
			t.soft(r.From.Place, fmt.Sprintf("attempt %d of container %s", r.Started.Attempt, container), " was started", "")
		}
		if r.Exit != nil {
			t.firm(r.To.Place, "container "+container, fmt.Sprintf(" exited with %d", r.Exit.ExitCode), r.Exit.Reason)
		}
	}
	for _, c := range t.Connections {
		t.soft(c.Place, fmt.Sprintf("a client of container %s, port %d,", t.common(c.Container), c.Port), fmt.Sprintf(" began with %s%s", c.First, served(c.Connection)), "")
	}
}

// event adds what an event shows by itself.
func (t *runFacts) event(e timeline.Entry) {
	subject := t.common(e.Subject)
	add := func(detail, format string, args ...any) { t.soft(e.Place, fmt.Sprintf(format, args...), "", detail) }
	switch p := e.Payload.(type) {
	case record.ImagePullFailed:
		add(p.Error, "no image %s for %s", p.Ref, subject)
	case record.Exec:
		add(p.Error, "%s in container %s exited with %d", strings.Join(p.Args, " "), subject, p.ExitCode)
	case record.LinkRequest:
		if p.Method != http.MethodGet || p.Code >= http.StatusBadRequest {
			add(p.Error, "%s: %s %s was answered %d", subject, p.Method, generated.ReplaceAllString(p.Path, "*"), p.Code)
		}
	case record.PodsEnded:
		add(p.Message, "%s of the Pods API ended with %s", subject, p.Code)
	case record.PodsAnswer:
		add(p.Message, "step %s: %s was answered %s", subject, p.Method, p.Code)
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

// objects adds which conditions objects came to be in, and what Event objects warn of.
// That something is so for the second time is another fact than that it was once.
func (t *runFacts) objects() {
	for _, h := range t.Happenings {
		if h.Type == "Warning" {
			about := t.common(strings.Trim(h.About.Namespace+"/"+h.About.Name, "/"))
			t.soft(h.Place, fmt.Sprintf("warning %s of %s %s", h.Reason, h.About.Kind, about), "", h.Message)
		}
	}
	last, times := make(map[string]string), make(map[string]int)
	for _, v := range t.Versions {
		object := path(v.Cluster, v.Resource, v.Namespace, v.Name)
		became := func(aspect, value, detail string) {
			key := object + " " + aspect
			if value == "" || last[key] == value {
				return
			}
			last[key] = value
			times[key+value]++
			text := " became " + value
			if n := times[key+value]; n > 1 {
				text += fmt.Sprintf(" for the %d. time", n)
			}
			t.soft(v.Place, t.common(object)+": "+aspect, text, detail)
		}
		if v.Gone() {
			t.soft(v.Place, t.common(object), " was gone", "")
			continue
		}
		status := v.Workload().Status
		became("phase", status.Phase, "")
		for _, c := range status.Conditions {
			became(c.Type, string(c.Status), strings.Trim(c.Reason+": "+c.Message, ": "))
		}
	}
}

func path(parts ...string) string {
	return strings.Join(strings.Fields(strings.Join(parts, " ")), "/")
}
