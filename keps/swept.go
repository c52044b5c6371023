package keps

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/sweep/trial"
)

// Finding is a finding of a sweep.
type Finding struct {
	// Sweep is the name of the sweep, and ID what its page calls the finding.
	Sweep string `json:"sweep"`
	ID    string `json:"id"`
	Title string `json:"title"`
	// At is the least that has to change for it, and Issues are the known issues that it shows.
	At     string `json:"at"`
	Issues string `json:"issues,omitempty"`
	// Detail is what was seen of the first object.
	Detail string `json:"detail,omitempty"`
}

// String names the sweep, too.
func (f Finding) String() string { return fmt.Sprintf("%s/%s: %s", f.Sweep, f.ID, f.Text()) }

// Text is what was found, without the name.
func (f Finding) Text() string {
	text := fmt.Sprintf("%s, with %s", f.Title, f.At)
	if f.Issues != "" {
		text += " (" + f.Issues + ")"
	}
	if f.Detail != "" {
		text += ": " + f.Detail
	}
	return text
}

// maxDetail is how long the detail of a finding is at most, in runes: an API server's answer may be long.
const maxDetail = 300

// findingOf is a finding of a sweep, by those of its items that concern a proposal.
func findingOf(sweep string, l trial.Listed, items []trial.Found, at trial.Transition) Finding {
	var kinds []string
	for _, i := range items {
		kinds = append(kinds, i.Kind)
	}
	slices.Sort(kinds)
	of := l.Finding
	of.Items = items
	title := l.Title()
	if kinds = slices.DeleteFunc(slices.Compact(kinds), func(kind string) bool { return kind == "" }); len(kinds) > 0 {
		title = strings.Join(append(kinds, l.Signature()), ", ")
	}
	return Finding{sweep, l.ID(), title, at.String(), strings.Join(of.Issues(), ", "), reports.Truncate(items[0].Detail, maxDetail)}
}

// with adds a finding that is not there.
func with(all []Finding, f Finding) []Finding {
	if !slices.Contains(all, f) {
		all = append(all, f)
	}
	return all
}

// whole has every change count.
func whole(trial.Transition) bool { return true }

// partial reports whether a change leaves another component of the control plane as it is.
func partial(t trial.Transition) bool {
	return len(t.At) == 1 && (t.HasTwoServers() || !t.Has(record.APIServer))
}

// part is the changes of a sweep that answer a question. If the sweep is nil, it did not run.
type part struct {
	*trial.Result

	wanted func(trial.Transition) bool
}

// swept answers by parts of sweeps, and by their findings of some breaches.
func (a asked) swept(answer *Answer, about func(what string) bool, parts ...part) {
	answer.Sentences = nil
	course := tried{reached: make(map[string]bool)}
	for _, g := range a.gates {
		answer.Sentences = append(answer.Sentences, course.gate(a, g, about, parts)...)
	}
	if parts[0].Result == nil && course.locked < len(a.gates) {
		course.partial = true
		answer.Sentences = append(answer.Sentences, "The sweep that answers it did not run.")
	}
	if course.objects > 0 {
		answer.Command = a.command(course.by)
		if others := len(course.by.Gates) - len(a.gates); others > 0 {
			answer.Sentences = append(answer.Sentences, reports.Counted(others, "other gate")+" changed with it.")
		}
	}
	answer.Findings = slices.Concat(course.confirmed, course.other)
	switch {
	case len(course.confirmed) > 0:
		answer.Verdict = Contradicted
		answer.Sentences = append(answer.Sentences, reports.Counted(len(course.confirmed), "finding")+": seen in each of three runs alone, and in none without the change.")
	case course.objects == 0:
		answer.Verdict = NotTried
	case len(course.other) > 0:
		answer.Verdict = Partly
		answer.Sentences = append(answer.Sentences, fmt.Sprintf("%s, not confirmed.", reports.Counted(len(course.other), "finding")))
	case course.partial:
		answer.Verdict = Partly
		answer.Sentences = append(answer.Sentences, "Nothing went wrong in what was tried.")
	default:
		answer.Verdict = Shown
		answer.Sentences = append(answer.Sentences, "Nothing went wrong.")
	}
}

// tried sums up what was tried of the gates of a proposal.
type tried struct {
	objects int
	by      *trial.Result // the first sweep that tried something
	locked  int           // gates that can't be turned off
	// partial is true if a gate guards no field or could not be tried, a component did not change, or a sweep broke off.
	partial          bool
	reached          map[string]bool // components that changed
	confirmed, other []Finding
}

// gate adds what parts tried of a gate, and says it.
func (t *tried) gate(a asked, g Gate, about func(string) bool, parts []part) (sentences []string) {
	if has, _ := gateOf(a.Release, g.Name); has.Locked && parts[0].Result == a.Off {
		t.locked++
		t.partial = true
		return []string{fmt.Sprintf("%s is locked in %s (%s): it can't be turned off.", g.Name, a.Release.Version, has.Stage)}
	}
	clear(t.reached)
	why := "no object that uses its fields is tried with such a change"
	for _, p := range parts {
		if p.Result == nil {
			continue
		}
		if said := t.add(a.name(p.Result), p, g, about); said != "" {
			sentences = append(sentences, said)
		} else {
			why = cmp.Or(p.Unreached(g.Name), why)
		}
	}
	if len(sentences) == 0 {
		t.partial = true
		return []string{fmt.Sprintf("%s: %s.", g.Name, why)}
	}
	for _, component := range runs(g) {
		if !t.reached[component] {
			t.partial = true
			sentences = append(sentences, fmt.Sprintf("%s did not change.", component))
		}
	}
	return sentences
}

// add adds what a part tried of a gate, and says it. If it tried nothing, it is empty.
func (t *tried) add(sweep string, r part, g Gate, about func(string) bool) string {
	bare := slices.Contains(r.Bare, g.Name)
	as := g.Name
	if bare {
		as = "" // ordinary objects
	}
	var places []string
	for _, transition := range r.Transitions {
		n := r.objects(transition.String(), as)
		if n == 0 || !r.wanted(transition) || !concerns(g, transition) {
			continue
		}
		t.objects += n
		places = append(places, fmt.Sprintf("%s (%d objects)", transition, n))
		for _, component := range transition.At {
			t.reached[record.Program(component)] = true
		}
		t.found(sweep, *r.Result, g, transition.String(), about)
	}
	if len(places) == 0 {
		return ""
	}
	if t.by == nil {
		t.by = r.Result
	}
	t.partial = t.partial || bare || r.Partial
	what := "Objects used its fields"
	if bare {
		what = "It guards no field, and what the feature does was not looked at. Ordinary objects were there"
	}
	return fmt.Sprintf("%s on %s: %s during each change, and once it was undone: %s.", g.Name, r.Version, what, strings.Join(places, "; "))
}

// objects are how many objects with fields of a gate were there before a change.
func (p part) objects(transition, gate string) (n int) {
	for _, tally := range p.Tried {
		if tally.Transition == transition && tally.Gate == gate && tally.Mutation != trial.Create && tally.Mutation != trial.Bare {
			n += tally.Objects
		}
	}
	return n
}

// found adds the findings of a gate during a change, if the least change with which they were seen is about it.
func (t *tried) found(sweep string, r trial.Result, g Gate, transition string, about func(string) bool) {
	for _, l := range r.All() {
		if len(ofGate(l, g.Name, transition)) == 0 || !about(l.What) {
			continue
		}
		at, is := least(r, l, g)
		if !is {
			continue
		}
		f := findingOf(sweep, l, ofGate(l, g.Name, at.String()), at)
		if l.Standing == trial.Unconfirmed {
			t.other = with(t.other, f)
		} else {
			t.confirmed = with(t.confirmed, f)
		}
	}
}

// ofGate are the items of a finding that were seen with a change, and are about a gate.
func ofGate(l trial.Listed, gate, transition string) []trial.Found {
	return slices.Concat(l.Of(transition, gate).Items, slices.DeleteFunc(l.During(transition).Items, func(i trial.Found) bool { return !slices.Contains(i.Off, gate) }))
}

// least is a change of the fewest components with which a finding of a gate was seen, if one of them has the gate.
func least(r trial.Result, l trial.Listed, g Gate) (at trial.Transition, is bool) {
	seen := reports.Only(r.Transitions, func(t trial.Transition) bool { return len(ofGate(l, g.Name, t.String())) > 0 })
	for _, t := range seen {
		fewest := !slices.ContainsFunc(seen, func(other trial.Transition) bool { return len(other.At) < len(t.At) })
		if fewest && concerns(g, t) {
			return t, true
		}
	}
	return at, false
}
