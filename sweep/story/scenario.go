package story

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

// Batch is stories that run beside each other, each in a namespace of its own.
type Batch struct {
	ID      string
	Stories []Story
}

// size is how many stories a batch has at most: as many as a few nodes have addresses for.
const size = 24

// Batches are stories put together: in the order of their dimensions, those of many stories first. Stories of a batch follow each
// other, and have the same faults.
func Batches(all []Story) (batches []Batch) {
	place := make(map[string]int) // of a dimension
	for n, s := range slices.Backward(all) {
		place[s.Dimension] = n
	}
	rank := func(s Story) int {
		if s.Alone {
			return 1
		}
		return 0
	}
	all = slices.SortedStableFunc(slices.Values(all), func(a, b Story) int {
		return cmp.Or(cmp.Compare(place[a.Dimension], place[b.Dimension]), cmp.Compare(rank(a), rank(b)))
	})
	number := make(map[string]int)
	for _, s := range all {
		if n := len(batches) - 1; n >= 0 && batches[n].takes(s) {
			batches[n].Stories = append(batches[n].Stories, s)
			continue
		}
		number[s.Dimension]++
		batches = append(batches, Batch{ID: fmt.Sprintf("sweep/%s/batch-%d", s.Dimension, number[s.Dimension]), Stories: []Story{s}})
	}
	return batches
}

// takes reports whether a story may be the next one of a batch.
func (b Batch) takes(s Story) bool {
	first := b.Stories[0]
	return len(b.Stories) < size && !s.Alone && s.Dimension == first.Dimension && faultsOf(s) == faultsOf(first) && maps.Equal(s.Gates, first.Gates)
}

// faultsOf are the faults of a story as text: a fault is one of all stories beside it.
func faultsOf(s Story) string {
	var all []string
	for _, a := range s.Acts {
		if a.Fault != nil {
			all = append(all, fmt.Sprint(*a.Fault))
		}
	}
	return strings.Join(all, "\n")
}

// Namespace is that of the story at a place of a batch.
func Namespace(n int) string { return fmt.Sprintf("story-%02d", n+1) }

// At is the story whose namespace an object is in, by its key, and whether there is one.
func (b Batch) At(key string) (s Story, is bool) {
	var number int
	if found := inStory.FindStringSubmatch(key); found != nil {
		number, _ = strconv.Atoi(found[1])
	}
	switch {
	case number > 0 && number <= len(b.Stories):
		return b.Stories[number-1], true
	case len(b.Stories) == 1:
		return b.Stories[0], true
	}
	return s, false
}

// inStory finds the namespace of a story in the key of an object, which has it in its name if it has no namespace.
var inStory = regexp.MustCompile(`[/.]story-([0-9]+)([/.-]|$)`)

// Scenario is the scenario of a batch on a release: all is created, each act begins once all is at rest, and in the end the
// namespaces are deleted.
func (b Batch) Scenario(v release.Version) ([]byte, error) {
	steps := b.steps(v)
	plane := map[string]any{"version": v}
	node := map[string]any{"version": v, "endpoints": true}
	if gates := b.Stories[0].Gates; gates != nil {
		plane["gates"], node["gates"] = gates, gates
		plane["flags"] = map[string]any{record.APIServer: map[string]any{"runtime-config": "api/all=true"}}
	}
	scenario := map[string]any{
		"apiVersion": "skewrig.dev/v1alpha1", "kind": "Scenario", "id": b.ID, "title": b.title(),
		"topology": map[string]any{
			"controlPlane": plane,
			"nodes":        []any{with(node, "{name: node-a}"), with(node, "{name: node-b}")},
		},
		"steps": steps,
	}
	return yaml.Marshal(scenario)
}

func (b Batch) title() string {
	if len(b.Stories) == 1 {
		return b.Stories[0].String()
	}
	return fmt.Sprintf("%d stories of %s", len(b.Stories), b.Stories[0].Dimension)
}

// String is the name of a story, and what is done: "deployment: pod template changed, scaled to 0".
func (s Story) String() string {
	var words []string
	for _, a := range s.Acts {
		words = append(words, a.Words)
	}
	if len(words) == 0 {
		return s.Name
	}
	return s.Name + ": " + strings.Join(words, ", ")
}

// settle is the step that waits until all is at rest.
func settle(name string, touch bool) Step {
	return Step{"name": name, "settle": map[string]any{"within": "40s", "touch": touch}}
}

func (b Batch) steps(v release.Version) (steps []Step) {
	var stories []Story
	acts := 0
	for n, s := range b.Stories {
		s = s.In(Namespace(n), v)
		stories = append(stories, s)
		acts = max(acts, len(s.Acts))
		if len(s.Objects) > 0 {
			steps = append(steps, named(fmt.Sprintf("%s-create", Namespace(n)), create(s.Objects...)))
		}
	}
	steps = append(steps, settle("rest-created", true))
	for at := range acts {
		var fault *Step
		for n, s := range stories {
			if at >= len(s.Acts) {
				continue
			}
			if f := s.Acts[at].Fault; f != nil && fault == nil {
				fault = f
				steps = append(steps, *f)
			}
			for i, step := range s.Acts[at].Steps {
				steps = append(steps, named(fmt.Sprintf("%s-act-%d-%d", Namespace(n), at+1, i+1), step))
			}
		}
		if fault == nil {
			steps = append(steps, settle(fmt.Sprintf("rest-act-%d", at+1), true))
			continue
		}
		// Controllers wait longer after each refusal until they ask again: not longer than twice the time of the fault.
		steps = append(steps, Step{"name": fmt.Sprintf("rest-act-%d", at+1), "settle": map[string]any{"within": "8s"}}, Step{"heal": from(*fault)},
			Step{"wait": map[string]any{"for": "20s"}}, settle(fmt.Sprintf("rest-healed-%d", at+1), true))
	}
	for n := range stories {
		steps = append(steps, named(fmt.Sprintf("%s-delete", Namespace(n)), remove("namespaces/"+Namespace(n), "")))
	}
	steps = append(steps, Step{"name": restDeleted, "settle": map[string]any{"within": "90s"}})
	return append(steps, components()...)
}

// The names of steps by which a record is read: the last wait for rest, and what begins the name of a step that reads a log.
const (
	restDeleted = "rest-deleted"
	logOf       = "log of "
)

// components are the steps that look for panics of components, and for their ends.
func components() (steps []Step) {
	var checks []any
	for _, name := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet/node-a", "kubelet/node-b"} {
		log, id := logOf+name, strings.ReplaceAll(name, "/", "-")
		steps = append(steps, Step{"name": log, "log": map[string]any{"component": name, "match": "^panic: |Observed a panic|http: panic serving"}})
		checks = append(checks,
			map[string]any{"id": id + "-does-not-panic", "observe": fmt.Sprintf("logs[%q]", log), "is": []any{}},
			map[string]any{"id": id + "-runs", "observe": fmt.Sprintf("components[%q].exits.size()", name), "is": 0})
	}
	return append(steps, Step{"checks": checks})
}

// named is a step that may be refused, with a name.
func named(name string, s Step) Step {
	c := Step{"name": name}
	maps.Copy(c, s)
	for _, asks := range []string{"apply", "patch", "delete", "create", "put", "serverSideApply", "client", "kubectl"} {
		if s[asks] != nil {
			c["refusable"] = true
		}
	}
	return c
}

// from is the component that a fault is about.
func from(fault Step) any {
	for _, of := range fault {
		if fields, is := of.(map[string]any); is {
			return fields["from"]
		}
	}
	return nil
}
