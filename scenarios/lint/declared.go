package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/kube"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// mayHave is what a cell may have something of, by the variable of expressions that has
// it. What can't be known before is not refused: the names of pods that a controller
// makes begin with its own.
type mayHave map[string][]mayBe

// mayBe is a name that something may have.
type mayBe struct {
	begins string
	ends   string // after what can't be known; if open is unset, empty
	open   bool
}

func exactly(name string) mayBe { return mayBe{begins: name} }

// String is the name as errors have it.
func (n mayBe) String() string {
	if n.open {
		return n.begins + "*" + n.ends
	}
	return n.begins
}

// is reports whether a name may be this one.
func (n mayBe) is(name string) bool {
	if !n.open {
		return name == n.begins
	}
	return len(name) > len(n.begins)+len(n.ends) && strings.HasPrefix(name, n.begins) && strings.HasSuffix(name, n.ends)
}

// canBegin reports whether the name may begin so.
func (n mayBe) canBegin(text string) bool {
	return strings.HasPrefix(n.begins, text) || n.open && strings.HasPrefix(text, n.begins)
}

// with is the name with something before and behind it.
func (n mayBe) with(before, behind string) mayBe {
	n.begins = before + n.begins
	if n.open {
		n.ends += behind
	} else {
		n.begins += behind
	}
	return n
}

// declare returns what a cell may have something of at all.
func declare(cell plan.Cell) mayHave {
	d := make(mayHave)
	d.rig(cell)
	for _, step := range cell.Steps {
		facts := step.Action.Facts()
		for _, r := range facts.Gives {
			d[r.Variable] = append(d[r.Variable], exactly(cmp.Or(r.Name, step.Name)))
		}
		for _, o := range facts.Creates {
			d.object(cell, unstructured.Unstructured{Object: o}, "")
		}
		if static := facts.Static; static.Node != "" {
			d.object(cell, unstructured.Unstructured{Object: static.Pod}, "-"+static.Node)
		}
	}
	return d
}

// rig declares what the topology has.
func (d mayHave) rig(cell plan.Cell) {
	add := func(variable string, names ...string) {
		for _, name := range names {
			d[variable] = append(d[variable], exactly(name))
		}
	}
	add("components", cell.Components()...)
	t := cell.Topology
	for _, n := range t.Nodes {
		add("nodes", n.Name)
	}
	if t.LeaseNodes != nil {
		count := 0
		for _, z := range t.LeaseNodes.Zones {
			count += z.Count
			add("leases", timeline.ZoneName(record.ZoneAges{Zone: z.Name}))
		}
		for i := range count {
			add("nodes", fmt.Sprintf("node-%d", i))
		}
	}
	if t.Garden != nil {
		for _, dependent := range t.Garden.Dependents {
			add("dependents", dependent.Name)
		}
		add("calls", spec.Watchdog+"->"+spec.APIServer, spec.Watchdog+"->"+spec.SeedAPIServer)
	}
	for _, from := range t.Inspected {
		add("calls", from+"->"+spec.APIServer)
	}
	for _, n := range d["nodes"] {
		add("objects", "nodes/"+n.begins)
	}
}

// maxGenerated is how much of a name is left when the API server adds the rest of it
// (k8s.io/apiserver, storage/names).
const maxGenerated = 58

// object declares an object, and what becomes of it. The suffix is what its node appends
// to the name of a static pod.
func (d mayHave) object(cell plan.Cell, o unstructured.Unstructured, suffix string) {
	name := exactly(o.GetName() + suffix)
	if o.GetName() == "" {
		name = mayBe{begins: o.GetGenerateName(), open: true}
	}
	resource := kube.Resource(o.GetKind())
	namespace := cmp.Or(o.GetNamespace(), "default")
	d.keep(resource, namespace, name)
	for kube.ByResource(resource).HasPods() {
		begins := name.begins
		if !name.open {
			begins += "-"
		}
		resource, name = kube.ByResource(resource).Makes, mayBe{begins: begins[:min(len(begins), maxGenerated)], open: true}
		d.keep(resource, namespace, name)
	}
	if resource != "pods" {
		return
	}
	for _, container := range containersOf(cell, o) {
		in := name.with("", "/"+container)
		d.add(namespace, in, "containers", "connections")
	}
}

// keep declares an object by its key, and a pod by its name too.
func (d mayHave) keep(resource, namespace string, name mayBe) {
	switch resource {
	case "nodes":
		d["objects"] = append(d["objects"], name.with("nodes/", ""))
		d["nodes"] = append(d["nodes"], name)
		return
	case "pods":
		d.add(namespace, name, "pods", "events")
	}
	if !kube.ClusterScoped(resource) {
		resource += "/" + namespace
	}
	d["objects"] = append(d["objects"], name.with(resource+"/", ""))
}

// add declares a pod or a container, as expressions call it.
func (d mayHave) add(namespace string, name mayBe, variables ...string) {
	for _, v := range variables {
		d[v] = append(d[v], name.with(timeline.Name(namespace, ""), ""))
	}
}

// containersOf are the names of the containers of the pods that an object is or makes,
// those that a patch gives it included.
func containersOf(cell plan.Cell, o unstructured.Unstructured) (names []string) {
	for _, c := range spec.Containers(o.Object) {
		names = append(names, c.Name)
	}
	for _, step := range cell.Steps {
		if of, merge, is := step.Action.Facts().Merge(); is && of.Resource == kube.Resource(o.GetKind()) && of.Name == o.GetName() {
			for _, c := range spec.Containers(merge) {
				names = append(names, c.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
