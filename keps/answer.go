package keps

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/instrumentation"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/prr"
	"github.com/skewrig/skewrig/scenarios/law"
	"github.com/skewrig/skewrig/sweep/gated"
	"github.com/skewrig/skewrig/sweep/trial"
)

// Verdict is what a run says of a question.
type Verdict string

// The closed set.
const (
	Shown        Verdict = "shown"
	Contradicted Verdict = "contradicted"
	Partly       Verdict = "partly"
	NotReachable Verdict = "not reachable on a rig"
	NotTried     Verdict = "not tried"
)

// Verdicts are all, the worst first.
func Verdicts() []Verdict { return []Verdict{Contradicted, NotTried, NotReachable, Partly, Shown} }

// Evidence is what answers rest on.
type Evidence struct {
	// Release is the release of the milestone.
	Release gated.Release
	// Off is a sweep in which gates are turned off and on again, Back one in which components go to the release before
	// and back, and Nodes one in which a kubelet goes to the oldest release that may be beside it. If nil, it did not run.
	Off, Back, Nodes *trial.Result
	// Declared are the metrics that the sources of the release declare. If unset, they are not known.
	Declared []instrumentation.Metric
}

// The sweeps that answers rest on.
const (
	OffSweep   = "gates"
	BackSweep  = "rollback"
	NodesSweep = "nodes"
)

// Sweeps are the names of all sweeps.
func Sweeps() []string { return []string{OffSweep, BackSweep, NodesSweep} }

// name is the name of a sweep.
func (e Evidence) name(r *trial.Result) string {
	return Sweeps()[slices.Index([]*trial.Result{e.Off, e.Back, e.Nodes}, r)]
}

// sweeps are those that ran.
func (e Evidence) sweeps() []*trial.Result {
	return reports.Only([]*trial.Result{e.Off, e.Back, e.Nodes}, func(r *trial.Result) bool { return r != nil })
}

// Result is the answers for one proposal.
type Result struct {
	KEP

	// Why says why nothing could be tried. If unset, something was.
	Why     string   `json:"why,omitempty"`
	Answers []Answer `json:"answers"`
}

// Answer is the answer to a question.
type Answer struct {
	Section  string  `json:"section"`
	Question string  `json:"question"`
	Verdict  Verdict `json:"verdict"`
	// Sentences say what was tried and seen, or why nothing was.
	Sentences []string `json:"sentences"`
	// Findings are what sweeps found that contradicts it, or was not confirmed.
	Findings []Finding `json:"findings,omitempty"`
	// Command tries it again. If unset, no command does.
	Command string `json:"command,omitempty"`
	// Written is the proposal's own answer, and Beside how it compares. If Beside is unset, they don't contradict each other.
	Written Written `json:"written,omitzero"`
	Beside  Beside  `json:"beside,omitempty"`
	// Ledger is the answer of the proposal's ledger. If unset, it has none, or no saved run was given.
	Ledger Ledger `json:"ledger,omitzero"`
}

// Anchor is its name in addresses.
func (a Answer) Anchor() string {
	return strings.Trim(noLetters.ReplaceAllString(strings.ToLower(a.Question), "-"), "-")
}

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
func (f Finding) String() string {
	text := fmt.Sprintf("%s/%s: %s, with %s", f.Sweep, f.ID, f.Title, f.At)
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

// programs are the components that a rig runs.
var programs = []string{record.APIServer, record.ControllerManager, record.Scheduler, trial.Kubelet}

// Gates are the gates of proposals that a sweep of a release can try, sorted, each once.
func Gates(r gated.Release, all []KEP) []string {
	return gatesWhere(r, all, func(Gate, gated.Gate) bool { return true })
}

// Unlocked are those of them that can be turned off.
func Unlocked(r gated.Release, all []KEP) []string {
	return gatesWhere(r, all, func(_ Gate, has gated.Gate) bool { return !has.Locked })
}

// OfPods are those of them that say something of pods on a node: a pod has a field that they guard, or they are of the kubelet.
func OfPods(r gated.Release, all []KEP) []string {
	return gatesWhere(r, all, func(g Gate, has gated.Gate) bool {
		return slices.Contains(g.Components, trial.Kubelet) || slices.ContainsFunc(has.Fields, func(f gated.Field) bool {
			return slices.ContainsFunc(f.Places, func(p gated.Place) bool { return p.Kind == "Pod" })
		})
	})
}

func gatesWhere(r gated.Release, all []KEP, wanted func(Gate, gated.Gate) bool) []string {
	names := make(map[string]bool)
	for _, k := range all {
		for _, g := range k.Gates {
			if has, _ := gateOf(r, g.Name); whyNot(r, g) == "" && wanted(g, has) {
				names[g.Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Places are where gates of proposals change, as trial.Places has them: where their components are. If one has no components, it is
// nil, which is all.
func Places(r gated.Release, all []KEP) (names []string) {
	components := make(map[string]bool)
	for _, k := range all {
		for _, g := range k.Gates {
			if whyNot(r, g) != "" {
				continue
			}
			if len(g.Components) == 0 {
				return nil
			}
			for _, c := range runs(g) {
				components[c] = true
			}
		}
	}
	for _, place := range trial.Places() {
		emulates := place == trial.Emulation && components[record.APIServer]
		if place == trial.Everywhere || emulates || components[record.Program(place)] {
			names = append(names, place)
		}
	}
	return names
}

// whyNot says why a sweep can't try a gate. It is empty if it can.
func whyNot(r gated.Release, g Gate) string {
	_, is := gateOf(r, g.Name)
	switch {
	case len(g.Components) > 0 && len(runs(g)) == 0:
		return fmt.Sprintf("a rig does not run %s, which %s is of", strings.Join(g.Components, ", "), g.Name)
	case !is:
		return fmt.Sprintf("%s has no gate %s", r.Version, g.Name)
	default:
		return ""
	}
}

// gateOf is a gate as a release has it.
func gateOf(r gated.Release, name string) (g gated.Gate, is bool) {
	n := slices.IndexFunc(r.Gates, func(has gated.Gate) bool { return has.Name == name })
	if n < 0 {
		return g, false
	}
	return r.Gates[n], true
}

// runs are the components of a gate that a rig runs. If the proposal names none, there are none.
func runs(g Gate) []string {
	return slices.DeleteFunc(slices.Clone(g.Components), func(c string) bool { return !slices.Contains(programs, c) })
}

// concerns reports whether a change is about a gate: at a component of it. If the proposal names none, each is.
func concerns(g Gate, t trial.Transition) bool {
	return len(g.Components) == 0 || slices.ContainsFunc(runs(g), t.Has)
}

// Answers answers all questions of a proposal.
func Answers(k KEP, e Evidence) Result {
	a := asked{KEP: k, Evidence: e}
	var why []string
	for _, g := range k.Gates {
		if reason := whyNot(e.Release, g); reason != "" {
			why = append(why, reason)
		} else {
			a.gates = append(a.gates, g)
		}
	}
	r := Result{KEP: k}
	switch {
	case len(k.Gates) == 0:
		r.Why = "kep.yaml names no feature gate"
	case len(a.gates) == 0:
		r.Why = strings.Join(why, "; ")
	}
	for _, s := range prr.Questionnaire() {
		for _, q := range s.Questions {
			answer := Answer{Section: s.Heading, Question: q, Verdict: NotReachable, Sentences: []string{r.Why}, Written: k.Written[q]}
			if r.Why == "" {
				a.fill(&answer)
			}
			if answer.Beside == "" {
				answer.Beside = compared(answer)
			}
			r.Answers = append(r.Answers, answer)
		}
	}
	return r
}

// Answer is the answer to a question.
func (r Result) Answer(question string) Answer {
	n := slices.IndexFunc(r.Answers, func(a Answer) bool { return a.Question == question })
	if n < 0 {
		return Answer{}
	}
	return r.Answers[n]
}

// IsContradicted reports whether an answer is.
func (r Result) IsContradicted() bool {
	return slices.ContainsFunc(r.Answers, func(a Answer) bool { return a.Verdict == Contradicted })
}

// asked is a proposal with those of its gates that a sweep can turn off.
type asked struct {
	KEP
	Evidence

	gates []Gate
}

func (a asked) fill(answer *Answer) {
	undone := func(what string) bool { l, _ := law.Named(what); return l.Undone }
	every := func(string) bool { return true }
	switch answer.Question {
	case prr.Enablement:
		a.enablement(answer)
	case prr.Disabled:
		a.swept(answer, func(what string) bool { return !undone(what) }, part{a.Off, whole})
		if a.areLocked() {
			answer.Verdict = Shown // that it can't
		}
	case prr.Reenabled:
		a.swept(answer, undone, part{a.Off, whole})
		answer.Sentences = append(answer.Sentences, "What counts here is how objects that were left alone are once it is on again.")
	case prr.Tests:
		if a.swept(answer, every, part{a.Off, whole}); answer.Verdict == Contradicted {
			answer.Verdict = Partly
			answer.Sentences = append(answer.Sentences, "The sweep is such a test, and fails.")
		}
	case prr.Rollouts:
		half := func(t trial.Transition) bool { return t.Emulates || partial(t) }
		if a.swept(answer, every, part{a.Off, partial}, part{a.Back, half}, part{a.Nodes, whole}); answer.Verdict == Shown { // a failure may exist that was not seen
			answer.Verdict = Partly
		}
	case prr.Upgrades:
		a.swept(answer, every, part{a.Back, func(t trial.Transition) bool { return !t.Emulates }})
	case prr.Defaults:
		a.defaults(answer)
	case prr.Sizes:
		a.sizes(answer)
	case prr.RollbackMetrics, prr.InUse, prr.Indicators:
		a.metrics(answer)
	case prr.Working:
		a.events(answer)
	default:
		answer.Verdict, answer.Sentences = NotTried, []string{"A sweep does not look at this."}
	}
}

// areLocked reports whether none of the gates can be turned off.
func (a asked) areLocked() bool {
	return !slices.ContainsFunc(a.gates, func(g Gate) bool { has, _ := gateOf(a.Release, g.Name); return !has.Locked })
}

// whole has every change count.
func whole(trial.Transition) bool { return true }

// partial reports whether a change leaves another component of the control plane as it is.
func partial(t trial.Transition) bool {
	return len(t.At) == 1 && (t.HasTwoServers() || !t.Has(record.APIServer))
}

// enablement says where the gates are turned on and off.
func (a asked) enablement(answer *Answer) {
	answer.Verdict, answer.Sentences = Shown, nil
	for _, g := range a.gates {
		has, _ := gateOf(a.Release, g.Name)
		state := "off"
		if has.Default {
			state = "on"
		}
		if has.Locked {
			state = "locked, " + state
		}
		answer.Sentences = append(answer.Sentences, fmt.Sprintf("%s has the gate %s: %s, %s by default.", a.Release.Version, g.Name, has.Stage, state))
		if says := a.planned(); says != "" && says != has.Stage {
			answer.Sentences = append(answer.Sentences, fmt.Sprintf("kep.yaml says %s.", says))
			answer.Beside = Disagrees
		}
	}
	for _, g := range a.Gates {
		if _, is := gateOf(a.Release, g.Name); !is {
			answer.Sentences = append(answer.Sentences, fmt.Sprintf("kep.yaml names the gate %s, which %s does not have.", g.Name, a.Release.Version))
		}
	}
	switch {
	case a.areLocked():
		return
	case a.Off == nil || len(a.Off.Plans) == 0:
		answer.Verdict = Partly
		answer.Sentences = append(answer.Sentences, "No sweep has turned it off.")
		return
	}
	var at []string
	for _, p := range a.Off.Plans {
		concerned := slices.ContainsFunc(a.gates, func(g Gate) bool { return concerns(g, p.Transition) })
		if t := strings.TrimPrefix(p.Transition.String(), "gates off at "); concerned && !slices.Contains(at, t) {
			at = append(at, t)
		}
	}
	answer.Sentences = append(answer.Sentences, "Components started with it, without it, and with it again: "+strings.Join(at, "; ")+". What the feature does is not part of this answer.")
	answer.Command = a.command(a.Off)
}

// stages are how releases call the stages of proposals.
var stages = map[string]release.Stage{"alpha": release.Alpha, "beta": release.Beta, "stable": release.GA}

// planned is the stage of the gate in the release, as kep.yaml says. It is empty if that speaks of another release or of several gates.
func (a asked) planned() release.Stage {
	if a.Milestone != a.Release.Version.MajorMinor() || len(a.Gates) != 1 {
		return ""
	}
	return stages[a.Stage]
}

func (a asked) names() []string {
	return reports.Each(a.gates, func(g Gate) string { return g.Name })
}

// command is the sweep of the gates alone.
func (a asked) command(r *trial.Result) string {
	command := fmt.Sprintf("%s --gates %s", trial.Command(r.Version), strings.Join(a.names(), ","))
	if r.To != "" {
		command += " --to " + string(r.To)
	}
	return command
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

// defaults answers by the objects that use no gated field.
func (a asked) defaults(answer *Answer) {
	a.swept(answer, func(string) bool { return false }, part{a.Off, whole})
	if answer.Verdict == NotTried {
		return
	}
	answer.Verdict, answer.Findings = Partly, nil
	controls := 0
	for _, tally := range a.Off.Tried {
		if tally.Gate == "" && tally.Mutation != trial.Create {
			controls += tally.Objects
		}
	}
	for _, l := range a.Off.All() {
		ordinary := reports.Only(l.Items, trial.Found.IsControl)
		for _, t := range a.Off.Transitions {
			items := reports.Only(ordinary, func(i trial.Found) bool {
				return slices.Contains(i.Transitions(), t.String()) && slices.ContainsFunc(a.gates, func(g Gate) bool { return slices.Contains(i.Off, g.Name) })
			})
			if len(items) > 0 && l.Standing != trial.Unconfirmed {
				answer.Findings = with(answer.Findings, findingOf(OffSweep, l, items, t))
			}
		}
	}
	answer.Sentences = []string{fmt.Sprintf("Gates were turned off and on while objects without a gated field were there, %d over all changes.", controls)}
	if len(answer.Findings) > 0 {
		answer.Verdict = Contradicted
		return
	}
	answer.Sentences = append(answer.Sentences, "None of them was lost, refused or restarted, and none was written without end. Which fields are filled in, and what components do otherwise, was not compared.")
}

// sizes names the fields that the gates guard.
func (a asked) sizes(answer *Answer) {
	answer.Verdict, answer.Sentences = NotTried, []string{"Its gate guards no field that the types name."}
	var fields []string
	for _, g := range a.gates {
		has, _ := gateOf(a.Release, g.Name)
		for _, f := range has.Fields {
			if !slices.Contains(fields, f.Name) {
				fields = append(fields, f.Name)
			}
		}
	}
	if len(fields) > 0 {
		answer.Verdict = Partly
		answer.Sentences = []string{fmt.Sprintf("Objects that use it are larger by %s: %s. Numbers of objects were not compared.", reports.Counted(len(fields), "field"), reports.Few(fields, 6))}
		answer.Command = fmt.Sprintf("skewrig gates %s %s", a.Release.Version, strings.Join(a.names(), " "))
	}
}
