package check

import (
	"reflect"
	"slices"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
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
}

// variables are all but since.
var variables = []variable{
	{"containers", "container", reflect.TypeFor[timeline.Container](), func(t *timeline.Timeline) any { return t.Containers }},
	// That nothing was seen of a pod or a container that there is, is an observation too.
	{"connections", "container", reflect.TypeFor[[]timeline.Connection](), func(t *timeline.Timeline) any { return lists{asMap(t.Connected), t.Known} }},
	{"pods", "pod", reflect.TypeFor[any](), func(t *timeline.Timeline) any { return t.Pods }},
	{"events", "pod", reflect.TypeFor[[]timeline.PodEvent](), func(t *timeline.Timeline) any { return lists{asMap(t.PodEvents), t.Known} }},
	{"objects", "object", reflect.TypeFor[any](), func(t *timeline.Timeline) any { return t.Objects }},
	{"history", "object", reflect.TypeFor[[]any](), func(t *timeline.Timeline) any { return t.History }},
	{"nodes", "node", reflect.TypeFor[timeline.Node](), func(t *timeline.Timeline) any { return t.Nodes }},
	{"components", "component", reflect.TypeFor[timeline.Component](), func(t *timeline.Timeline) any { return t.Ran }},
	{"leases", "zone of simulated nodes", reflect.TypeFor[record.ZoneAges](), func(t *timeline.Timeline) any { return t.Leases }},
	{"dependents", "dependent", reflect.TypeFor[timeline.Dependent](), func(t *timeline.Timeline) any { return t.Dependents }},
	{"calls", "link whose requests are recorded", reflect.TypeFor[[]timeline.Call](), func(t *timeline.Timeline) any { return t.Calls }},

	{"webhooks", "webhook", reflect.TypeFor[[]timeline.WebhookCall](), func(t *timeline.Timeline) any { return t.Webhooks }},
	{"conversions", "definition whose conversion is played", reflect.TypeFor[[]timeline.ConversionCall](), func(t *timeline.Timeline) any { return t.Conversions }},

	{
		"requests", "write or get step", reflect.TypeFor[record.APIAnswer](),
		func(t *timeline.Timeline) any { return t.Answered },
	},
	{
		"metrics", "component that is scraped", reflect.TypeFor[map[string][]record.Sample](),
		func(t *timeline.Timeline) any { return t.Metrics },
	},
	{
		"scrapes", "scrape step", reflect.TypeFor[map[string][]record.Sample](),
		func(t *timeline.Timeline) any { return t.Scrapes },
	},
	{"kubectl", "kubectl step", reflect.TypeFor[record.KubectlRan](), func(t *timeline.Timeline) any { return t.Kubectl }},
	{"logs", "log step", reflect.TypeFor[[]string](), func(t *timeline.Timeline) any { return t.Logs }},
	{"stored", "stored or store step", reflect.TypeFor[record.StoredRead](), func(t *timeline.Timeline) any { return t.Stored }},
	{"sockets", "sockets step", reflect.TypeFor[[]record.Socket](), func(t *timeline.Timeline) any { return t.Sockets }},
	{
		"podsAPI", "podsAPI step that lists or gets", reflect.TypeFor[timeline.PodsAnswers](),
		func(t *timeline.Timeline) any { return t.PodsAnswers },
	},
	{
		"watches", "podsAPI step that watches", reflect.TypeFor[timeline.PodsWatch](),
		func(t *timeline.Timeline) any { return t.PodsWatches },
	},
	{
		"polls", "podsAPI step that polls", reflect.TypeFor[timeline.PodsPoll](),
		func(t *timeline.Timeline) any { return t.PodsPolls },
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
