package keps

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/instrumentation"
	"github.com/skewrig/skewrig/harness/release"
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

// all are the sweeps, in the order of their names.
func (e Evidence) all() []*trial.Result { return []*trial.Result{e.Off, e.Back, e.Nodes} }

// name is the name of a sweep that ran.
func (e Evidence) name(r *trial.Result) string { return Sweeps()[slices.Index(e.all(), r)] }

// sweeps are those that ran.
func (e Evidence) sweeps() []*trial.Result {
	return reports.Only(e.all(), func(r *trial.Result) bool { return r != nil })
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
