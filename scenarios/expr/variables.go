package expr

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
)

// Variable is what expressions see by name: pods["web"].
type Variable struct {
	Name string
	// Noun is what has the names, for people.
	Noun string
	// of is the type of what is seen by one name. API objects have none: what fields they
	// have depends on the release.
	of reflect.Type
	// seen is all that a history has of it.
	seen func(*timeline.Timeline) any
	// Needs are the events that it is made of: of what has a key, or of all if the key is empty.
	Needs func(key string) []timeline.Need
	// Adds is true if it has what happened since the beginning of the cell, and not only how something is now.
	Adds bool
}

// variables are all but since.
var variables = []Variable{
	{
		"containers", "container", reflect.TypeFor[timeline.Container](), func(t *timeline.Timeline) any { return t.Containers },
		about(ofContainer, record.SandboxStarted{}, record.ContainerStarted{}, record.ContainerExited{}, record.Exec{}, record.ProcessRan{}), true,
	},
	{
		// That nothing was seen of a pod or a container that there is, is an observation too.
		"connections", "container", reflect.TypeFor[[]timeline.Connection](), func(t *timeline.Timeline) any { return lists{asMap(t.Connected), t.Known} },
		// One that ends with its kubelet is not counted.
		both(about(ofContainer, record.SandboxStarted{}, record.Connection{}), about(always("kubelet"), record.ComponentStopped{})), true,
	},
	{
		"pods", "pod", reflect.TypeFor[any](), func(t *timeline.Timeline) any { return t.Pods },
		about(ofPod, record.ObjectObserved{}), false,
	},
	{
		"events", "pod", reflect.TypeFor[[]timeline.PodEvent](), func(t *timeline.Timeline) any { return lists{asMap(t.PodEvents), t.Known} },
		about(always("events"), record.ObjectObserved{}), true,
	},
	{
		"objects", "object", reflect.TypeFor[any](), func(t *timeline.Timeline) any { return t.Objects },
		about(asItIs, record.ObjectObserved{}), false,
	},
	{
		"history", "object", reflect.TypeFor[[]any](), func(t *timeline.Timeline) any { return t.History },
		about(asItIs, record.ObjectObserved{}), true,
	},
	{
		"nodes", "node", reflect.TypeFor[timeline.Node](), func(t *timeline.Timeline) any { return t.Nodes },
		both(about(ofNode, record.ObjectObserved{}), about(always("events"), record.ObjectObserved{})), true,
	},
	{
		"components", "component", reflect.TypeFor[timeline.Component](), func(t *timeline.Timeline) any { return t.Ran },
		about(asItIs, record.ComponentStarted{}, record.ComponentStopped{}), true,
	},
	{
		"leases", "zone of simulated nodes", reflect.TypeFor[record.ZoneAges](), func(t *timeline.Timeline) any { return t.Leases },
		about(always(""), record.LeaseAges{}), false,
	},
	{
		"dependents", "dependent", reflect.TypeFor[timeline.Dependent](), func(t *timeline.Timeline) any { return t.Dependents },
		about(always("seed/deployments"), record.ObjectObserved{}), true,
	},
	{
		"calls", "link with recorded requests", reflect.TypeFor[[]timeline.Call](), func(t *timeline.Timeline) any { return t.Calls },
		about(asItIs, record.LinkRequest{}), true,
	},
	{
		"webhooks", "webhook", reflect.TypeFor[[]timeline.WebhookCall](), func(t *timeline.Timeline) any { return t.Webhooks },
		about(asItIs, record.WebhookCalled{}), true,
	},
	{
		"conversions", "definition with a mock conversion webhook", reflect.TypeFor[[]timeline.ConversionCall](), func(t *timeline.Timeline) any { return t.Conversions },
		about(asItIs, record.ConversionCalled{}), true,
	},
	{
		"requests", "write or get step", reflect.TypeFor[record.APIAnswer](), func(t *timeline.Timeline) any { return t.Answered },
		about(asItIs, record.APIAnswer{}), false,
	},
	{
		"metrics", "scraped component", reflect.TypeFor[map[string][]record.Sample](), func(t *timeline.Timeline) any { return t.Metrics },
		about(asItIs, record.Scraped{}), false,
	},
	{
		"scrapes", "scrape step", reflect.TypeFor[map[string][]record.Sample](), func(t *timeline.Timeline) any { return t.Scrapes },
		about(always(""), record.Scraped{}), false,
	},
	{
		"kubectl", "kubectl step", reflect.TypeFor[record.KubectlRan](), func(t *timeline.Timeline) any { return t.Kubectl },
		about(asItIs, record.KubectlRan{}), false,
	},
	{
		"logs", "log step", reflect.TypeFor[[]string](), func(t *timeline.Timeline) any { return t.Logs },
		about(asItIs, record.LogRead{}), false,
	},
	{
		"stored", "stored or store step", reflect.TypeFor[record.StoredRead](), func(t *timeline.Timeline) any { return t.Stored },
		about(asItIs, record.StoredRead{}), false,
	},
	{
		"sockets", "sockets step", reflect.TypeFor[[]record.Socket](), func(t *timeline.Timeline) any { return t.Sockets },
		about(asItIs, record.SocketsRead{}), false,
	},
	{
		"podsAPI", "podsAPI step with list or get", reflect.TypeFor[timeline.PodsAnswers](), func(t *timeline.Timeline) any { return t.PodsAnswers },
		about(asItIs, record.PodsAnswer{}, record.PodsEvent{}, record.PodsEnded{}), true,
	},
	{
		"watches", "podsAPI step that watches", reflect.TypeFor[timeline.PodsWatch](), func(t *timeline.Timeline) any { return t.PodsWatches },
		about(asItIs, record.PodsEvent{}, record.PodsEnded{}), true,
	},
	{
		"polls", "podsAPI step that polls", reflect.TypeFor[timeline.PodsPoll](), func(t *timeline.Timeline) any { return t.PodsPolls },
		about(asItIs, record.PodsPolled{}, record.PodsEnded{}), true,
	},
}

// about is the needs for events of payloads about the subject that a key stands for.
func about(subject func(key string) string, payloads ...record.Payload) func(key string) []timeline.Need {
	return func(key string) []timeline.Need { return timeline.NeedsOf(subject(key), payloads...) }
}

func asItIs(key string) string { return key }

func always(subject string) func(string) string { return func(string) string { return subject } }

// both is the needs of two kinds.
func both(one, other func(string) []timeline.Need) func(string) []timeline.Need {
	return func(key string) []timeline.Need { return append(one(key), other(key)...) }
}

// ofNode is the subject of a node's states.
func ofNode(name string) string { return strings.TrimSuffix("nodes/"+name, "/") }

// ofContainer is the subject of a container's events, by the name that expressions have for it.
func ofContainer(key string) string {
	if strings.Count(key, "/") == 1 {
		return "default/" + key
	}
	return key
}

// ofPod is the subject of a pod's states, by the name that expressions have for it.
func ofPod(key string) string {
	if key == "" {
		return "pods"
	}
	return reports.PodKey(key)
}

// VariableOf is the variable of a name, if there is one.
func VariableOf(name string) (Variable, bool) {
	i := slices.IndexFunc(variables, func(v Variable) bool { return v.Name == name })
	if i < 0 {
		return Variable{}, false
	}
	return variables[i], true
}

// IsVariable reports whether a name is that of something which expressions see.
func IsVariable(name string) bool {
	_, is := VariableOf(name)
	return is || name == "since"
}

// Variables are the names of all that expressions see by name, in order.
func Variables() (all []string) {
	for _, v := range variables {
		all = append(all, v.Name)
	}
	slices.Sort(all)
	return all
}

// OnlyGrows reports whether its value is a list to which things are only added.
func (v Variable) OnlyGrows() bool { return v.Adds && v.lists() > 0 }

// lists is how many lists are around what is seen by one name.
func (v Variable) lists() (n int) {
	for t := v.of; t.Kind() == reflect.Slice; t = t.Elem() {
		n++
	}
	return n
}

// IsVisible reports whether expressions may see a difference after an event.
func IsVisible(e record.Event) bool { return visible[e.Kind] }

// visible are the kinds of such events.
var visible = func() map[string]bool {
	kinds := make(map[string]bool)
	for _, v := range variables {
		for _, need := range v.Needs("") {
			kinds[need.Kind] = true
		}
	}
	return kinds
}()

// KeysOf are the variables that an expression reads, each with the keys at which it does, or with the empty key if it
// reads all of one.
func KeysOf(e ast.Expr) map[string][]string {
	found, keyed := make(map[string][]string), make(map[int64]bool)
	at := func(of, key ast.Expr) {
		if text, is := TextOf(key); is && of.Kind() == ast.IdentKind {
			keyed[of.ID()] = true
			found[of.AsIdent()] = append(found[of.AsIdent()], text)
		}
	}
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.IdentKind:
			if _, is := VariableOf(e.AsIdent()); is && !keyed[e.ID()] {
				found[e.AsIdent()] = append(found[e.AsIdent()], "")
			}
		case ast.SelectKind:
			if of := e.AsSelect().Operand(); of.Kind() == ast.IdentKind {
				keyed[of.ID()] = true
				found[of.AsIdent()] = append(found[of.AsIdent()], e.AsSelect().FieldName())
			}
		case ast.CallKind:
			switch args := e.AsCall().Args(); e.AsCall().FunctionName() {
			case operators.Index, operators.OptIndex, operators.OptSelect:
				at(args[0], args[1])
			case operators.In:
				at(args[1], args[0])
			}
		}
	}))
	maps.DeleteFunc(found, func(name string, _ []string) bool { // what a macro names
		_, is := VariableOf(name)
		return !is
	})
	return found
}

// Field is the type of a field of what is seen by one name, if it has that field.
func (v Variable) Field(name string) (of reflect.Type, is bool) {
	if v.of.Kind() != reflect.Struct {
		return nil, false
	}
	for _, f := range fieldsOf(v.of) {
		if f.name == name {
			return f.of, true
		}
	}
	return nil, false
}
