package check

import (
	"reflect"
	"slices"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// variable is what expressions see by name: pods["web"].
type variable struct {
	name string
	// noun is what has the names, for people.
	noun string
	// of is the type of what is seen by one name. API objects have none: what fields they
	// have depends on the release.
	of reflect.Type
	// seen is all that a history has of it.
	seen func(*timeline.Timeline) any
	// given is the name that something is seen by once a step is done; empty if nothing is.
	// If unset, no step gives anything: the rig does, or objects that steps create.
	given func(plan.Step) string
}

// variables are all but since.
var variables = []variable{
	{"containers", "container", reflect.TypeFor[timeline.Container](), func(t *timeline.Timeline) any { return t.Containers }, nil},
	// That nothing was seen of a pod or a container that there is, is an observation too.
	{"connections", "container", reflect.TypeFor[[]timeline.Connection](), func(t *timeline.Timeline) any { return lists{asMap(t.Connected), t.Known} }, nil},
	{"pods", "pod", reflect.TypeFor[any](), func(t *timeline.Timeline) any { return t.Pods }, nil},
	{"events", "pod", reflect.TypeFor[[]timeline.PodEvent](), func(t *timeline.Timeline) any { return lists{asMap(t.PodEvents), t.Known} }, nil},
	{"objects", "object", reflect.TypeFor[any](), func(t *timeline.Timeline) any { return t.Objects }, nil},
	{"history", "object", reflect.TypeFor[[]any](), func(t *timeline.Timeline) any { return t.History }, nil},
	{"nodes", "node", reflect.TypeFor[timeline.Node](), func(t *timeline.Timeline) any { return t.Nodes }, nil},
	{"components", "component", reflect.TypeFor[timeline.Component](), func(t *timeline.Timeline) any { return t.Ran }, nil},
	{"leases", "zone of simulated nodes", reflect.TypeFor[record.ZoneAges](), func(t *timeline.Timeline) any { return t.Leases }, nil},
	{"dependents", "dependent", reflect.TypeFor[timeline.Dependent](), func(t *timeline.Timeline) any { return t.Dependents }, nil},
	{"calls", "link whose requests are recorded", reflect.TypeFor[[]timeline.Call](), func(t *timeline.Timeline) any { return t.Calls }, nil},

	{"webhooks", "webhook", reflect.TypeFor[[]timeline.WebhookCall](), func(t *timeline.Timeline) any { return t.Webhooks }, webhook},
	{"conversions", "definition whose conversion is played", reflect.TypeFor[[]timeline.ConversionCall](), func(t *timeline.Timeline) any { return t.Conversions }, conversion},

	{
		"requests", "write or get step", reflect.TypeFor[record.APIAnswer](),
		func(t *timeline.Timeline) any { return t.Answered }, ofSteps(isA[action.Apply], isA[action.Patch], isA[action.Written], isA[action.Client], isA[action.Get], isA[action.Delete]),
	},
	{
		"metrics", "component that is scraped", reflect.TypeFor[map[string][]record.Sample](),
		func(t *timeline.Timeline) any { return t.Metrics }, scraped,
	},
	{
		"scrapes", "scrape step", reflect.TypeFor[map[string][]record.Sample](),
		func(t *timeline.Timeline) any { return t.Scrapes }, ofSteps(isA[action.Scrape]),
	},
	{"kubectl", "kubectl step", reflect.TypeFor[record.KubectlRan](), func(t *timeline.Timeline) any { return t.Kubectl }, ofSteps(isA[action.Kubectl])},
	{"logs", "log step", reflect.TypeFor[[]string](), func(t *timeline.Timeline) any { return t.Logs }, ofSteps(isA[action.Log])},
	{"stored", "stored or store step", reflect.TypeFor[record.StoredRead](), func(t *timeline.Timeline) any { return t.Stored }, ofSteps(isA[action.Stored], isA[action.Store])},
	{"sockets", "sockets step", reflect.TypeFor[[]record.Socket](), func(t *timeline.Timeline) any { return t.Sockets }, ofSteps(isA[action.Sockets])},
	{
		"podsAPI", "podsAPI step that lists or gets", reflect.TypeFor[timeline.PodsAnswers](),
		func(t *timeline.Timeline) any { return t.PodsAnswers }, ofSteps(asks(action.ListPods, action.GetPod, action.WatchPods)),
	},
	{
		"watches", "podsAPI step that watches", reflect.TypeFor[timeline.PodsWatch](),
		func(t *timeline.Timeline) any { return t.PodsWatches }, ofSteps(asks(action.WatchPods)),
	},
	{
		"polls", "podsAPI step that polls", reflect.TypeFor[timeline.PodsPoll](),
		func(t *timeline.Timeline) any { return t.PodsPolls }, ofSteps(asks(action.PollPods)),
	},
}

// variableOf is the variable of a name, if there is one.
func variableOf(name string) (variable, bool) {
	i := slices.IndexFunc(variables, func(v variable) bool { return v.name == name })
	if i < 0 {
		return variable{}, false
	}
	return variables[i], true
}

// names are those of all variables, in order.
func names() (all []string) {
	for _, v := range variables {
		all = append(all, v.name)
	}
	slices.Sort(all)
	return all
}

// lists is how many lists are around what is seen by one name.
func (v variable) lists() (n int) {
	for t := v.of; t.Kind() == reflect.Slice; t = t.Elem() {
		n++
	}
	return n
}

// ofSteps is for what steps of some kinds give, by their own names.
func ofSteps(kinds ...func(action.Action) bool) func(plan.Step) string {
	return func(s plan.Step) string {
		if slices.ContainsFunc(kinds, func(is func(action.Action) bool) bool { return is(s.Action) }) {
			return s.Name
		}
		return ""
	}
}

func isA[T action.Action](a action.Action) bool {
	_, is := a.(T)
	return is
}

// asks is the kind of the steps that ask a Pods API in one of some ways.
func asks(calls ...action.PodsCall) func(action.Action) bool {
	return func(a action.Action) bool {
		does, is := a.(action.PodsAPI)
		return is && slices.Contains(calls, does.Call)
	}
}

// webhook is the one that a step plays.
func webhook(s plan.Step) string {
	does, _ := s.Action.(action.Webhook)
	return does.Name
}

// conversion is the definition whose conversion a step plays.
func conversion(s plan.Step) string {
	does, _ := s.Action.(action.Conversion)
	return does.Of
}

// scraped is the component that a step scrapes.
func scraped(s plan.Step) string {
	does, _ := s.Action.(action.Scrape)
	return does.Component
}
