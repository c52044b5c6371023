package narrate

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
)

// leaving is how a field came from the wanted value to the one in a state that was written. No one is
// named as who did it unless the record proves that: by the request of a step, by what a webhook
// answered, by the managers of the object's fields, or by an API server that does not show the field.
func (f *fieldHistory) leaving(s fieldState, webhook string) departure {
	left := departure{at: s.at}
	changed := change{f.subject, f.had, s.value}
	asked, isAsked, isKnown := f.asked(s)
	switch {
	case s.Gone():
		left.text, left.caused = f.deletion(s), true
	case f.uid != "" && f.uid != s.Meta().UID || f.value == deleted:
		left.text, left.caused = fmt.Sprintf("%s was deleted, and created again at %s%s with another value", objectWords(f.key), moment(s.at), s.in()), true
	case s.answer != nil && s.answer.Stored && s.value == unset:
		left.text, left.lost = fmt.Sprintf("%s was lost at %s, when the object was put into etcd%s", f.subject, moment(s.at), s.in()), true
	case webhook != "" && (!isConversion(webhook) || isKnown && !isAsked):
		left.text, left.caused = changed.by(webhook)+" at "+moment(s.at)+s.in(), true
	case isAsked && asked == s.value:
		left.text = changed.by(s.step) + " at " + moment(s.at)
	case s.value == unset && f.isLossOf(s, isKnown && !isAsked):
		left.text, left.lost = fmt.Sprintf("%s lost %s at %s, when it wrote the object%s", f.storing(s), f.subject, moment(s.at), s.in()), true
	case s.answer != nil:
		left.text = changed.itself() + " at " + moment(s.at) + ", with the write of " + f.author(s)
	case f.field[0] == "status" && s.Meta().DeletionTimestamp != nil: // whoever wrote it, that is the cause
		left.text = changed.itself() + " at " + moment(s.at) + ", while the object was being deleted"
	case f.isOfKubelet(s): // it says so, and did not do it
		left.text = changed.itself() + " at " + moment(s.at) + f.afterExit(s)
	case f.writer(s) != "":
		left.text = changed.by(f.writer(s)) + " at " + moment(s.at)
	default:
		left.text = changed.itself() + " at " + moment(s.at) + "; the record does not say who wrote it"
	}
	left.caused = left.caused || left.lost
	return left
}

// isConversion reports whether a webhook converts: it is asked also where nothing is written, so that what
// it did proves nothing of a write that may have done the same.
func isConversion(webhook string) bool { return strings.HasPrefix(webhook, "conversion ") }

// change is a change of a field in words.
type change struct{ subject, from, to string }

// by is who made the change.
func (c change) by(who string) string {
	switch unset {
	case c.to:
		return fmt.Sprintf("%s removed %s, which was %s,", who, c.subject, c.from)
	case c.from:
		return fmt.Sprintf("%s set %s to %s", who, c.subject, c.to)
	}
	return fmt.Sprintf("%s changed %s from %s to %s", who, c.subject, c.from, c.to)
}

// itself is the change without who made it.
func (c change) itself() string {
	switch unset {
	case c.to:
		return fmt.Sprintf("%s, which was %s, was no longer set", c.subject, c.from)
	case c.from:
		return fmt.Sprintf("%s was set to %s", c.subject, c.to)
	}
	return fmt.Sprintf("%s changed from %s to %s", c.subject, c.from, c.to)
}

// deletion is that the object was deleted, with the step if that asked for it.
func (f *fieldHistory) deletion(s fieldState) string {
	in := ""
	if step := f.b.StepAt(s.Place); step != nil && strings.HasPrefix(step.Action, "delete "+f.key) {
		in = " in " + inWords(f.b.taken(step))
	}
	return fmt.Sprintf("%s was deleted at %s%s", objectWords(f.key), moment(s.at), in)
}

// author is the step that wrote a state, with its client if that was another program.
func (f *fieldHistory) author(s fieldState) string {
	if s.answer.Client == "" {
		return s.step
	}
	return s.answer.Client + " in " + s.step
}

// writer is the one field manager that changed a state, as a component if it is one; empty if that
// is not known.
func (f *fieldHistory) writer(s fieldState) string {
	if len(s.Writers) != 1 {
		return ""
	}
	name := s.Writers[0].Manager
	if running := f.t.running(name, s.at); running != "" {
		return running
	}
	if spec := s.PodSpec(); name == "kubelet" && spec != nil && spec.NodeName != "" {
		if running := f.t.running(name+"/"+spec.NodeName, s.at); running != "" {
			return running
		}
	}
	return fmt.Sprintf("field manager %q", name)
}

// isOfKubelet reports whether a state is one of a pod's status that its kubelet wrote.
func (f *fieldHistory) isOfKubelet(s fieldState) bool {
	return f.field[0] == "status" && s.PodSpec() != nil && len(s.Writers) == 1 && s.Writers[0].Manager == "kubelet"
}

// afterExit is the last container of a pod that ended while the field had its last value, as the end of
// a sentence; empty if none did.
func (f *fieldHistory) afterExit(s fieldState) (text string) {
	for _, r := range f.b.Runs {
		at := f.b.at(r.To.Time)
		if r.Exit == nil || reports.PodKey(timeline.PodOf(r.Container)) != f.key || at < f.since || at > s.at {
			continue
		}
		text = fmt.Sprintf(", after container %s ended with exit code %d at %s", path.Base(r.Container), r.Exit.ExitCode, moment(at))
	}
	return text
}

// isLossOf reports whether it is proven that an API server lost the field when it wrote a state. Of a
// step, it is known whether the request had the field.
func (f *fieldHistory) isLossOf(s fieldState, notAsked bool) bool {
	isOfStatus := len(s.Writers) == 1 && s.Writers[0].Subresource == "status"
	switch {
	case f.hides[f.storedBy(s)]: // whoever writes through it
		return true
	case isOfStatus && f.field[0] == "spec": // such a write does not touch the spec
		return true
	}
	return notAsked && s.answer.Client == "" && !f.b.mutates()
}

// mutates reports whether the scenario has API servers change what is written in ways that the record
// does not have.
func (b *builder) mutates() bool {
	return slices.ContainsFunc(b.Answers, func(a *timeline.Answer) bool {
		return strings.HasPrefix(a.Object, "mutatingwebhookconfigurations/") || strings.HasPrefix(a.Object, "mutatingadmissionpolicies/")
	})
}

// storedBy is the API server that wrote a state; empty if it may be one of several.
func (f *fieldHistory) storedBy(s fieldState) string {
	switch {
	case s.Cluster != "" || len(f.b.Servers()) < 2:
		return s.server
	case s.answer != nil:
		return f.b.serverAt(s.answer.By(), s.Time)
	default:
		return ""
	}
}

// storing are the API servers that can have written a state: see writers.
func (f *fieldHistory) storing(s fieldState) string {
	if name := f.storedBy(s); name != "" {
		return name
	}
	return f.b.writers(s.Version, s.answer)
}

// asked is the value that the request of a step had for the field, and whether it had one. It is known
// of a patch, and of an object that is read, changed and put back, if the record has all of the change.
func (f *fieldHistory) asked(s fieldState) (value string, is, known bool) {
	if s.answer == nil {
		return "", false, false
	}
	step := f.b.Made(s.Version)
	if step == nil {
		return "", false, false
	}
	verb, rest, _ := strings.Cut(step.Action, " ")
	_, text, with := strings.Cut(rest, " with ")
	switch {
	case verb != "patch" && verb != "put":
		return "", false, false
	case !with:
		return "", false, strings.HasSuffix(step.Action, " as it is read")
	}
	var body any
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&body); err != nil {
		return "", false, false // it is cut
	}
	value, is = mergedAt(body, f.field)
	return value, is, true
}

// mergedAt is the value that a merge patch gives a field, and whether it has it.
func mergedAt(body any, field []string) (value string, is bool) {
	for i, name := range field {
		fields, isObject := body.(map[string]any)
		if !isObject { // a list is replaced as a whole, and what is below null goes
			found, _ := at(body, field[i:])
			body = found
			break
		}
		if body, is = fields[name]; !is {
			return "", false
		}
	}
	if body == nil {
		return unset, true
	}
	text, _ := json.Marshal(body) // it was decoded from JSON
	return shortened(string(text), maxWords), true
}
