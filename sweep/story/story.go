// Package story has ordinary objects, and what their owners do to them: stories, which a sweep puts into scenarios and judges by
// the laws of what is at rest (package rest). A story says nothing of what should come of it.
package story

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/kube"
)

// Story is some objects in a namespace, and what is done to them.
type Story struct {
	// Name is the name of the story, and Dimension what it varies.
	Name      string `json:"name"`
	Dimension string `json:"dimension"`
	// Objects are what is created first. What has a namespace is in that of the story.
	Objects []map[string]any `json:"objects"`
	// Acts are what is done then, one after the other, each once all is at rest.
	Acts []Act `json:"acts,omitempty"`
	// Gates are those of all components. If unset, they are as the release has them.
	Gates map[string]bool `json:"gates,omitempty"`
	// Alone is true if it changes what others see too, such as nodes: no other story is in its scenario.
	Alone bool `json:"alone,omitempty"`
}

// ID is the name of a story among those of all dimensions.
func (s Story) ID() string { return s.Dimension + "/" + s.Name }

// Act is what is done at the same time.
type Act struct {
	// Words say what is done: "pod template changed".
	Words string `json:"words"`
	Steps []Step `json:"steps"`
	// Fault is a fault that begins before and ends once all is at rest. If unset, there is none.
	Fault *Step `json:"fault,omitempty"`
}

// Step is a step of a scenario without its name.
type Step map[string]any

// Dimension is a kind of variation, by which stories can be chosen.
type Dimension struct {
	Name string
	// Words say what is varied.
	Words string
	// stories are all of it.
	stories func() []Story
}

// Dimensions are all, in the order in which they are tried.
func Dimensions() []Dimension {
	return []Dimension{
		{"owners", "what owners do to workloads: change, scale, pause, suspend, delete, make again", owners},
		{"selectors", "operators and selectors of the scheduler's constraints", selectors},
		{"references", "what containers refer to: there, absent, optional, empty, and bytes that are no text", references},
		{"containers", "containers that fail first, end, or are slow, with each kind of probe", containers},
		{"company", "quotas, limits and budgets beside what they count", company},
		{"bounds", "values at bounds", bounds},
		{"foreign", "objects with names and owners like those that a controller makes", foreign},
		{"apply", "server-side apply with a part less", applied},
		{"devices", "devices of a driver, and claims", devices},
		{"values", "values of fields: empty, at bounds, of each form, and twice in a list", values},
		{"services", "Services, their pods and EndpointSlices", services},
		{"access", "Secrets and ConfigMaps that pods refer to once or twice, and what nodes may read", access},
		{"stored", "objects that etcd has as an older release left them", stored},
		{"parts", "subresources: bindings, scales and statuses, and kinds of other shapes", parts},
		{"kubelets", "what containers do while their kubelet is away, starts again or needs room", kubelets},
		{"gates-on", "devices and what owners do, with all gates on that are off by default", gated},
		{"faults", "requests of controllers and of the scheduler that are refused, and watches that are late, while owners act", faults},
	}
}

// Stories are those of dimensions, or of all if none is named.
func Stories(names []string) (all []Story) {
	for _, d := range Dimensions() {
		if len(names) > 0 && !slices.Contains(names, d.Name) {
			continue
		}
		for _, s := range d.stories() {
			s.Dimension = d.Name
			all = append(all, s)
		}
	}
	return all
}

// objects are those of YAML documents. The text is part of the program.
func objects(text string) (all []map[string]any) {
	for document := range strings.SplitSeq(text, "\n---\n") {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			panic(fmt.Sprintf("%v in %s", err, document)) //nolint:forbidigo // the text is part of the program
		}
		all = append(all, o)
	}
	return all
}

// object is that of a YAML document with values in it.
func object(format string, values ...any) map[string]any {
	return objects(fmt.Sprintf(format, values...))[0]
}

// byName are stories sorted by their names.
func byName(all []Story) []Story {
	return slices.SortedFunc(slices.Values(all), func(a, b Story) int { return strings.Compare(a.Name, b.Name) })
}

// with is an object with a JSON merge patch, which is written as YAML.
func with(o map[string]any, text string, values ...any) map[string]any {
	return record.Merge(o, object(text, values...))
}

// ref is how steps name an object of a story.
func ref(o map[string]any) string {
	u := unstructured.Unstructured{Object: o}
	kind := kube.ByName(u.GetKind())
	if kind.ClusterScoped {
		return kind.Resource + "/" + u.GetName()
	}
	return kind.Resource + "/" + here + "/" + u.GetName()
}

// here stands for the namespace of a story, and ofRelease for the release that is swept.
const (
	here      = "$here"
	ofRelease = "$release"
)

// The steps.

func patch(of, merge string) Step {
	return Step{"patch": map[string]any{"object": of, "merge": objects(merge)[0]}}
}

// resize is a patch of the subresource resize.
func resize(of, merge string) Step {
	return Step{"patch": map[string]any{"object": of, "subresource": "resize", "merge": objects(merge)[0]}}
}

func remove(of, propagation string) Step {
	d := map[string]any{"object": of}
	if propagation != "" {
		d["propagation"] = propagation
	}
	return Step{"delete": d}
}

func create(all ...map[string]any) Step { return Step{"apply": asAny(all)} }

func asAny(all []map[string]any) (list []any) {
	for _, o := range all {
		list = append(list, o)
	}
	return list
}

// labeled is the smallest change of an object.
func labeled(of string) Act {
	return act("labeled", patch(of, "{metadata: {labels: {touched: by-owner}}}"))
}

func wait(seconds int) Step { return Step{"wait": map[string]any{"for": fmt.Sprintf("%ds", seconds)}} }

func act(words string, steps ...Step) Act { return Act{Words: words, Steps: steps} }

// In is a story as it is in a namespace, on a release: with its names, and each object there.
func (s Story) In(namespace string, v release.Version) Story {
	filled := strings.NewReplacer(here, namespace, ofRelease, string(v))
	s.Objects = slices.Clone(s.Objects)
	for i, o := range s.Objects {
		s.Objects[i] = placed(o, namespace, filled)
	}
	acts := slices.Clone(s.Acts)
	for i, a := range acts {
		acts[i].Steps = nil
		for _, step := range a.Steps {
			acts[i].Steps = append(acts[i].Steps, placed(step, namespace, filled))
		}
	}
	s.Acts = acts
	return s
}

// placed is a value with its names filled in, and with each object in a namespace. What it shares is copied.
func placed[M ~map[string]any](of M, namespace string, filled *strings.Replacer) M {
	return place(map[string]any(of), namespace, filled).(map[string]any) //nolint:forcetypeassert // of a map
}

func place(v any, namespace string, filled *strings.Replacer) any {
	switch v := v.(type) {
	case map[string]any:
		c := make(map[string]any, len(v))
		for name, below := range v {
			c[filled.Replace(name)] = place(below, namespace, filled)
		}
		kind, _ := c["kind"].(string)
		metadata, is := c["metadata"].(map[string]any)
		if is && kind != "" && c["apiVersion"] != nil && !kube.ByName(kind).ClusterScoped && metadata["namespace"] == nil {
			metadata["namespace"] = namespace
		}
		return c
	case Step:
		return place(map[string]any(v), namespace, filled)
	case []any:
		c := slices.Clone(v)
		for i := range c {
			c[i] = place(c[i], namespace, filled)
		}
		return c
	case string:
		return filled.Replace(v)
	default:
		return v
	}
}
