package trial

import (
	"fmt"
	"strings"

	"github.com/skewrig/skewrig/scenarios/kube"
)

// check is a check of a scenario.
type check struct {
	ID         string            `json:"id"`
	Observe    string            `json:"observe"`
	Is         any               `json:"is,omitempty"` // nil is none
	AtMost     map[string]any    `json:"atMost,omitempty"`
	Eventually string            `json:"eventually,omitempty"`
	Always     map[string]string `json:"always,omitempty"`
}

// checks hold if what a finding says is not so. In the control a new object has the field.
func (i Item) checks(what string, a Alone) []check {
	key := i.Key("default")
	children := kube.ByName(i.Kind).PerTemplate
	there := fmt.Sprintf("'%s' in objects", key)
	if program, is := ProgramOf(what); is {
		return []check{endCheck(a.Turn.running(program), a.logged(what) != "")}
	}
	switch {
	case what == Endless && children != "":
		made := fmt.Sprintf("history.filter(name, name.startsWith('%s/default/%s-')).size()", children, i.Name)
		return []check{{ID: "ends", Observe: made, AtMost: map[string]any{"times": 10, "for": "15s"}}}
	case what == Lost:
		return []check{{ID: "kept", Observe: i.hasFields(key), Is: true, Always: map[string]string{"for": "5s"}}}
	case what == Stored || what == Defaulted:
		return []check{{ID: "stored", Observe: there + " && (" + i.hasFields(key) + ")", Is: a.IsControl(), Always: map[string]string{"for": "5s"}}}
	case what == Stays:
		return []check{{ID: "gone", Observe: "!(" + there + ")", Is: true, Eventually: "30s"}}
	case what == Behind:
		in := fmt.Sprintf("objects['%s']", key)
		return []check{{ID: "seen", Observe: fmt.Sprintf("%s.status.observedGeneration == %s.metadata.generation", in, in), Is: true, Eventually: "30s"}}
	case what == Changed:
		same := fmt.Sprintf("%s && has(objects['%s'].spec) && objects['%s'].spec == history['%s'][0].spec", there, key, key, key)
		return []check{{ID: "as-before", Observe: same, Is: true, Always: map[string]string{"for": "5s"}}}
	case what == Stopped:
		return []check{{ID: "runs", Observe: fmt.Sprintf("objects['%s'].status.phase", key), Is: "Running", Always: map[string]string{"for": "10s"}}}
	default: // the oracles tell, or whether the touch is accepted
		return []check{{ID: "stays", Observe: there, Is: true, Always: map[string]string{"for": "15s"}}}
	}
}

// endCheck holds if a component does not end by itself, or, if it goes on after a panic and only its log says so,
// does not panic.
func endCheck(component string, logged bool) check {
	if logged {
		return check{ID: "panics", Observe: "logs['panics']", Is: []string{}}
	}
	ends := fmt.Sprintf("components['%s'].exits.filter(e, !e.asked).size()", component)
	return check{ID: "ends", Observe: ends, Is: 0, Always: map[string]string{"for": "15s"}}
}

// hasFields is an expression for whether an object has all fields of an item.
func (i Item) hasFields(key string) string {
	var all []string
	for _, f := range i.Fields() {
		all = append(all, hasField(fmt.Sprintf("objects['%s']", key), strings.Split(f.Path, ".")))
	}
	return strings.Join(all, " && ")
}

// hasField is an expression for whether something has a field at a path.
func hasField(in string, path []string) string {
	name := strings.TrimRight(path[0], "[]{}")
	has := fmt.Sprintf("has(%s.%s)", in, name)
	if len(path) == 1 {
		return has
	}
	below := in + "." + name
	item := "x" + strings.Repeat("x", strings.Count(in, "x"))
	switch {
	case strings.HasSuffix(path[0], "[]"):
		return fmt.Sprintf("%s && %s.exists(%s, %s)", has, below, item, hasField(item, path[1:]))
	case strings.HasSuffix(path[0], "{}"):
		return fmt.Sprintf("%s && %s.exists(%s, %s)", has, below, item, hasField(below+"["+item+"]", path[1:]))
	default:
		return has + " && " + hasField(below, path[1:])
	}
}
