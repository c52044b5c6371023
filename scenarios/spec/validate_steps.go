package spec

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/record"
)

// present returns those of the fields that a mapping has.
func (v *validator) present(at string, fields []string) []string {
	return slices.DeleteFunc(slices.Clone(fields), func(name string) bool { return !v.Has(at + "." + name) })
}

func (v *validator) checkSteps() {
	v.Refuse("steps", len(v.scenario.Steps) == 0, "the scenario has no steps")
	names := make(map[string]int)
	for i, step := range v.scenario.Steps {
		at := stepPath(i)
		n, _ := v.Find(at)
		if n.Kind != yaml.MappingNode {
			continue
		}
		name := StepName(i, step)
		if first, taken := names[name]; taken && !step.Skipped {
			v.Note(at+".name", "step %d has the name %s already", first+1, strict.Quote(name))
		} else if !step.Skipped {
			names[name] = i
		}
		if len(name) > maxPart || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			v.Note(at+".name", "%s can't name a step: use at most %d bytes of one line", strict.Quote(name), maxPart)
		}
		v.checkAction(at, step)
		v.checkRun(at, step.Run)
	}
}

// checkRun reports a step for after a failure that does what can't be done then.
func (v *validator) checkRun(at string, run record.Run) {
	if !v.Clean(at + ".run") {
		return
	}
	if run != record.Catch && run != record.Cleanup {
		v.Note(at+".run", "%s is not a time to run a step: catch and cleanup are", strict.Quote(string(run)))
		return
	}
	for _, kind := range v.kinds {
		switch field := at + "." + kind.Name; {
		case !v.Has(field):
		case kind.Changes:
			v.Note(field, "a %s step can't change what runs: after a failure, that isn't what the scenario planned", run)
		case kind.Verdict && run == record.Catch:
			v.Note(field, "a catch step gathers evidence, and has no part in the verdict: a check does")
		}
	}
}

// StepName returns the name of a step, whose index counts from 0: the one it is
// given, or its number.
func StepName(index int, s Step) string {
	if s.Name != "" {
		return s.Name
	}
	return strconv.Itoa(index + 1)
}

func (v *validator) checkAction(at string, step Step) {
	found := v.present(at, kindNames(v.kinds, nil))
	switch len(found) {
	case 0:
		v.Refuse(at, true, "the step does nothing: give it one of %s", strings.Join(kindNames(v.kinds, nil), ", "))
	case 1:
	default:
		v.Note(at+"."+found[1], "a step does one thing, and this one has %s: make them steps of their own", strings.Join(found, " and "))
	}
	requests := kindNames(v.kinds, func(k ActionKind) bool { return k.Request })
	answers := v.present(at, []string{"accepted", "rejected", "refusable"})
	asking := kindNames(v.kinds, func(k ActionKind) bool { return k.Asks })
	for _, answer := range answers {
		with := requests
		if answer == "refusable" {
			with = asking
		}
		v.Refuse(at+"."+answer, len(v.present(at, with)) == 0, "%s goes with %s only", answer, inWords(with))
	}
	v.Refuse(at+".via", len(v.present(at, asking)) == 0, "via goes with %s only", inWords(asking))
	written := kindNames(v.kinds, func(k ActionKind) bool { return k.Unknown })
	v.Refuse(at+".unknownFields", len(v.present(at, written)) == 0, "unknownFields goes with %s only", inWords(written))
	if len(answers) > 1 {
		v.Refuse(at+"."+answers[1], true, "a step has one of accepted, rejected and refusable")
	}
	if r := step.Rejected; r != nil {
		v.Refuse(at+".rejected.code", r.Code != 0 && (r.Code < 400 || r.Code > 500), "%d is not the status of a refusal: those are 400 to 499, and 500 for a webhook that does not answer", r.Code)
		err := CheckPattern(r.Message)
		v.Refuse(at+".rejected.message", err != nil, "%v", err)
	}
	if step.Action != nil {
		step.Action.Check(Field{v: v, at: at + "." + step.Kind, Step: step})
	}
}

// inWords lists names as a sentence does: a, b and c.
func inWords(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// followRig follows the rig from step to step. It marks the steps that are not for
// it, and reports what a real one could not do, as long as it is known what runs. It returns why the releases can't
// run it, if that is to be marked.
func (v *validator) followRig() (unfit []string) {
	rig, conflicts := NewRig(v.scenario.Topology, v.axes, v.options.Releases)
	known, knownFaults := v.knowsRig(), true
	note := func(at string, conflicts ...Conflict) {
		for _, c := range conflicts {
			switch {
			case !known:
			case c.Unfit && v.options.MarkUnfit:
				unfit, known = append(unfit, c.Message), false // what follows may follow from that
			default:
				v.Note(at+c.Field, "%s", c.Message)
			}
		}
	}
	note("topology.", conflicts...)
	proxied := rig.proxies()
	for i := range v.scenario.Steps {
		step, at := &v.scenario.Steps[i], stepPath(i)+"."
		holds, err := rig.Applies(step.When)
		if _, malformed := ParseCondition(step.When); err != nil && (known || malformed != nil) {
			v.Note(at+"when", "%v", err)
		}
		if step.Skipped = err == nil && !holds; step.Skipped {
			continue
		}
		known = known && len(v.unclean(stepPath(i), kindNames(v.kinds, starts)...)) == 0
		isFault := len(v.present(stepPath(i), kindNames(v.kinds, faults))) > 0
		knownFaults = knownFaults && len(v.unclean(stepPath(i), kindNames(v.kinds, faults)...)) == 0
		if len(v.present(stepPath(i), kindNames(v.kinds, func(k ActionKind) bool { return k.Asks }))) > 0 {
			note(at, rig.checkAsked(*step)...)
		}
		if conflicts := rig.Do(*step); knownFaults || !isFault {
			note(at, conflicts...)
		}
		proxied = proxied || rig.proxies()
	}
	if known {
		v.checkPeerProxy(len(rig.Servers()), proxied)
	}
	return unfit
}

// faults are the kinds of actions that change links between components, and starts those that change what runs.
func faults(k ActionKind) bool { return k.Changes && k.Type.Implements(reflect.TypeFor[Shorthand]()) }
func starts(k ActionKind) bool { return k.Changes && !faults(k) }

// knowsRig reports whether everything could be decoded that says which releases
// the rig begins with.
func (v *validator) knowsRig() bool {
	n, found := v.Find("topology")
	return found && v.isDecoded(n)
}

// details are the fields in a topology that don't say which releases it has.
var details = []string{"config", "defaults", "flags", "runtime", "runtimeHandlers"}

// isDecoded reports whether all of a part of the topology could be decoded but details.
func (v *validator) isDecoded(n *yaml.Node) bool {
	if !v.Source.Bad[n] {
		return true
	}
	isDetail := false
	for i, child := range n.Content {
		switch {
		case !v.Source.Bad[child]:
			continue
		case n.Kind == yaml.MappingNode && i%2 == 0: // the name of a field, and which is meant is not known
			return false
		case n.Kind == yaml.MappingNode && slices.Contains(details, n.Content[i-1].Value):
		case !v.isDecoded(child):
			return false
		}
		isDetail = true
	}
	return isDetail
}

// unclean returns those of the fields that are there and could not be decoded.
func (v *validator) unclean(at string, fields ...string) []string {
	return slices.DeleteFunc(fields, func(field string) bool {
		return !v.Has(at+"."+field) || v.Clean(at+"."+field)
	})
}
