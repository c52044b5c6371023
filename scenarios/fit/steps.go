package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/skewrig/skewrig/harness/program"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/kube"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// others are what steps do that only a rig can have done to it, by what they need.
var others = map[action.Ability]string{
	action.NeedsClients:       "runs a client of a release",
	action.NeedsKubectl:       "runs a kubectl of a release",
	action.NeedsWebhooks:      "plays a webhook, which the API server of a cluster can't reach",
	action.NeedsDefinitions:   "defines resources, which are the whole cluster's",
	action.NeedsStaticPods:    "writes a file on a node",
	action.NeedsRestarts:      restarts,
	action.NeedsStops:         restarts,
	action.NeedsTimedStops:    restarts,
	action.NeedsReboots:       "reboots a node",
	action.NeedsMetrics:       "reads metrics, in which all others of the cluster leave traces",
	action.NeedsLogs:          "reads logs of components",
	action.NeedsPaths:         "reads a path of a component",
	action.NeedsSockets:       "reads the sockets of a component",
	action.NeedsPodsAPI:       "asks the Pods API on a node",
	action.NeedsEtcd:          "reads or writes etcd",
	action.NeedsRoutes:        links,
	action.NeedsLinks:         links,
	action.NeedsRuntimeConfig: links,
	action.NeedsClocks:        "sets clocks",
}

const (
	restarts = "restarts or stops components"
	links    = "cuts or changes links"
)

// found are reasons, with the numbers of the steps that they are in.
type found struct {
	reasons []string
	steps   map[string][]string
}

func (f *found) add(step plan.Step, format string, args ...any) {
	reason := fmt.Sprintf(format, args...)
	if f.steps[reason] == nil {
		f.reasons = append(f.reasons, reason)
	}
	if number := fmt.Sprint(step.Number); !slices.Contains(f.steps[reason], number) {
		f.steps[reason] = append(f.steps[reason], number)
	}
}

// withSteps returns the reasons, each with the numbers of its steps.
func (f *found) withSteps() (all []string) {
	for _, reason := range f.reasons {
		noun := "step "
		if len(f.steps[reason]) > 1 {
			noun = "steps "
		}
		all = append(all, reason+" ("+noun+strings.Join(f.steps[reason], ", ")+")")
	}
	return all
}

// steps are the reasons that are in what the steps of a cell do.
func (u Use) steps(cell plan.Cell) []string {
	f := found{steps: make(map[string][]string)}
	for _, step := range cell.Steps {
		facts := step.Action.Facts()
		switch {
		case facts.Needs == action.NeedsNothing:
		case facts.Needs == action.NeedsObjects:
			u.requests(&f, cell, step, facts)
		case u.Components && ofMade(facts):
			if facts.Static.Pod != nil {
				f.inNamespace(step, namespaceOf(facts.Static.Pod))
			}
		default:
			f.add(step, "it %s", cmp.Or(others[facts.Needs], "does what is not known here: "+step.Kind))
		}
	}
	return f.withSteps()
}

// requests looks at what a step asks an API server.
func (u Use) requests(f *found, cell plan.Cell, step plan.Step, facts action.Facts) {
	if w := facts.Writes; w != nil {
		if w.Ref.Name != "" {
			f.ref(step, w.Ref)
		}
		f.looks(step, w.Body)
	}
	if facts.Deletes.Name != "" {
		f.ref(step, facts.Deletes)
	}
	u.objects(f, cell, step)
}

// ofMade reports whether a step does what can be done to the components of a cluster that was made for the cell.
func ofMade(facts action.Facts) bool {
	switch facts.Needs {
	case action.NeedsRestarts:
		return !slices.ContainsFunc(facts.Restarts, func(r action.Restart) bool { return !mayRestart(r) })
	case action.NeedsStops:
		return isWatched(facts.Component)
	case action.NeedsMetrics, action.NeedsPaths:
		return serves(facts.Component)
	case action.NeedsLogs:
		return isKubelet(facts.Component)
	case action.NeedsStaticPods:
		return true
	default:
		return false
	}
}

// mayRestart reports whether a component can be restarted as a step asks: each component with gates, a kubelet also
// with another configuration, and a component of the control plane also with flags and an emulated version.
func mayRestart(r action.Restart) bool {
	if isKubelet(r.Component) {
		return isDropIn(r.Settings)
	}
	return isWatched(r.Component) && len(r.Config) == 0
}

// isWatched reports whether a component is one that can be stopped, and of which is known when it ends.
func isWatched(component string) bool {
	return isKubelet(component) || program.HasRole(spec.Program(component), program.Server, program.Controller)
}

// serves reports whether what a component serves can be had.
func serves(component string) bool {
	return isKubelet(component) || spec.Program(component) == spec.APIServer
}

func isKubelet(component string) bool { return strings.HasPrefix(component, spec.KubeletPrefix) }

func namespaceOf(object map[string]any) string {
	return (&unstructured.Unstructured{Object: object}).GetNamespace()
}

// ref refuses an object outside of the cell's namespaces.
func (f *found) ref(step plan.Step, ref spec.ObjectRef) {
	if ref.Cluster != "" || ref.Namespace == "" || kube.ClusterScoped(ref.Resource) {
		f.add(step, "it changes %s, which is not in a namespace of its own", ref)
		return
	}
	f.inNamespace(step, ref.Namespace)
}

func (f *found) inNamespace(step plan.Step, namespace string) {
	if strings.HasPrefix(namespace, "kube-") {
		f.add(step, "it writes in namespace %s, which is the cluster's", namespace)
	}
}

func (f *found) looks(step plan.Step, part map[string]any) {
	if action.LooksAround(part) {
		f.add(step, "it has a scheduler look at pods of other namespaces, or at nodes that are not its own")
	}
}

// allows reports whether objects of a kind affect only what is the cell's.
func (u Use) allows(kind string) bool {
	extent := kube.ByName(kind).Extent
	return extent >= kube.Namespaced || u.Components && extent == kube.SideEffects
}

// objects looks at what a step creates.
func (u Use) objects(f *found, cell plan.Cell, step plan.Step) {
	for _, object := range step.Action.Facts().Creates {
		o := unstructured.Unstructured{Object: object}
		if !u.allows(o.GetKind()) {
			f.add(step, "it creates %s %s, which may reach outside of its namespace", o.GetKind(), o.GetName())
			continue
		}
		f.inNamespace(step, o.GetNamespace())
		f.looks(step, object)
		f.outside(step, o)
		u.workload(f, cell, step, o)
		if pod := kube.PodSpec(o.Object); pod != nil && u.Containers && !u.Components {
			f.played(step, o.GetKind()+" "+o.GetName(), pod)
		}
	}
}

// outside looks for what an object has made elsewhere.
func (f *found) outside(step plan.Step, o unstructured.Unstructured) {
	if kind, _, _ := unstructured.NestedString(o.Object, "spec", "type"); o.GetKind() == "Service" && kind != "" && kind != "ClusterIP" {
		f.add(step, "it creates Service %s of type %s, which reaches outside of its namespace", o.GetName(), kind)
	}
	if _, has, _ := unstructured.NestedSlice(o.Object, "spec", "volumeClaimTemplates"); has {
		f.add(step, "it creates StatefulSet %s with volumes, which are the cluster's", o.GetName())
	}
}

// workload looks at where pods are to run, and who is to make them.
func (u Use) workload(f *found, cell plan.Cell, step plan.Step, o unstructured.Unstructured) {
	if u.Components {
		return // all nodes are the cell's, and what is to be absent is
	}
	what := o.GetKind() + " " + o.GetName()
	if wantsNoManager(cell.Topology, o) {
		f.add(step, "it wants no controller manager, and a cluster has one that makes pods of %s", what)
	}
	pod := chosen(o)
	if pod == nil {
		return
	}
	if wantsNoScheduler(cell.Topology, o) {
		f.add(step, "it wants %s to stay without a node, and a cluster has a scheduler", what)
	}
	if _, chooses, _ := unstructured.NestedMap(pod, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"); chooses {
		f.add(step, "%s chooses among nodes, so that it can't be kept to those that the cell uses", what)
	}
}

// played looks for what a pod can't have whose containers are played, on nodes that others use too.
func (f *found) played(step plan.Step, what string, pod map[string]any) {
	if pod["hostNetwork"] == true {
		f.add(step, "it has servers of %s listen on a node's own addresses, where others reach them", what)
	}
	for _, field := range []string{"containers", "initContainers"} {
		containers, _ := pod[field].([]any)
		for _, c := range containers {
			if of, _ := c.(map[string]any); of["terminationMessagePolicy"] == string(corev1.TerminationMessageFallbackToLogsOnError) {
				f.add(step, "a container of %s leaves the end of its output as a message, and its output has what it records", what)
			}
		}
	}
}

// wantsNoManager reports whether an object is one of which no pods are to be made.
func wantsNoManager(t record.Topology, o unstructured.Unstructured) bool {
	return kube.PodSpec(o.Object) != nil && o.GetKind() != "Pod" && !t.ControllerManager
}

// wantsNoScheduler reports whether the pods of an object are to stay without a node.
func wantsNoScheduler(t record.Topology, o unstructured.Unstructured) bool {
	return chosen(o) != nil && (!t.Scheduler || len(t.Nodes) == 0)
}

// chosen is the spec of the pods of an object for which a scheduler chooses nodes; nil if it has none.
func chosen(o unstructured.Unstructured) map[string]any {
	pod := kube.PodSpec(o.Object)
	if name, _ := pod["nodeName"].(string); name != "" || o.GetKind() == "PodTemplate" {
		return nil
	}
	return pod
}

// Absent are the components of a control plane that a cell wants to be absent: they would do something that is in its
// record. A controller manager marks a node, and the pods on it, as not ready while its kubelet is away, or says so itself
// as it starts.
func Absent(cell plan.Cell) (all []string) {
	add := func(component string, is bool) {
		if is && !slices.Contains(all, component) {
			all = append(all, component)
		}
	}
	t := cell.Topology
	for _, step := range cell.Steps {
		facts := step.Action.Facts()
		add(record.ControllerManager, !t.ControllerManager && slices.ContainsFunc(facts.Ends, isKubelet))
		for _, object := range facts.Creates {
			o := unstructured.Unstructured{Object: object}
			add(record.ControllerManager, wantsNoManager(t, o))
			add(record.Scheduler, !t.Scheduler && wantsNoScheduler(t, o))
		}
	}
	return all
}

// Alone reports whether a cell has to have a cluster that was made for it alone: it changes more than what is in its
// namespaces, or reads what others leave traces in.
func Alone(cell plan.Cell) bool {
	if len(Absent(cell)) > 0 {
		return true
	}
	return slices.ContainsFunc(cell.Steps, func(step plan.Step) bool {
		facts := step.Action.Facts()
		return facts.Needs > action.NeedsObjects || slices.ContainsFunc(facts.Creates, func(object map[string]any) bool {
			kind, _ := object["kind"].(string)
			return kube.ByName(kind).Extent == kube.SideEffects
		})
	})
}

// Namespaces are those of a cell, by the scenario's names, in the order in which it names them.
// default is always one.
func Namespaces(cell plan.Cell) []string {
	all := []string{metav1.NamespaceDefault}
	add := func(name string) {
		if name != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	for _, step := range cell.Steps {
		facts := step.Action.Facts()
		for _, object := range facts.Creates {
			add(namespaceOf(object))
		}
		if facts.Writes != nil {
			add(facts.Writes.Ref.Namespace)
			add(namespaceOf(facts.Writes.Body))
		}
		add(facts.Deletes.Namespace)
		add(namespaceOf(facts.Static.Pod))
	}
	return all
}

// SuffixLength is how long what is put behind the name of a namespace is, in characters (scenarios/engine, names).
const SuffixLength = 22

// maxNamespace is how long the name of a namespace may be: it is a DNS label (RFC 1123).
const maxNamespace = 63

func namespaces(cell plan.Cell) (reasons []string) {
	for _, name := range Namespaces(cell) {
		if len(name) > maxNamespace-SuffixLength {
			reasons = append(reasons, fmt.Sprintf("the name of namespace %s is longer than %d characters, so that none of its own can be named after it", name, maxNamespace-SuffixLength))
		}
	}
	return reasons
}
