package fit

import (
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

// ofRig is what steps do that only a rig can have done to it, by their kind.
var ofRig = map[string]string{
	"client": "runs a client of a release", "kubectl": "runs a kubectl of a release",
	"webhook": "plays a webhook, which the API server of a cluster can't reach", "conversion": "plays a webhook, which the API server of a cluster can't reach",
	"crd":       "defines resources, which are the whole cluster's",
	"staticPod": "writes a file on a node",
	"restart":   "restarts or stops components", "start": "restarts or stops components", "roll": "restarts or stops components",
	"stop": "restarts or stops components", "kill": "restarts or stops components", "reboot": "reboots a node",
	"scrape": "reads metrics, in which all others of the cluster leave traces", "log": "reads logs of components", "sockets": "reads the sockets of a component",
	"get": "reads a path of a component", "podsAPI": "asks the Pods API on a node",
	"stored": "reads or writes etcd", "store": "reads or writes etcd",
	"route": "cuts or changes links", "cut": "cuts or changes links", "slow": "cuts or changes links", "answer": "cuts or changes links", "lose": "cuts or changes links",
	"crash": "cuts or changes links", "stale": "cuts or changes links", "heal": "cuts or changes links",
	"clock": "sets clocks",
}

// onCluster are the kinds of steps that can be taken on an existing cluster, if what they change
// is the cell's own.
var onCluster = []string{"apply", "checks", "create", "delete", "file", "patch", "put", "serverSideApply", "wait"}

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

// told are the reasons as they are told.
func (f *found) told() (all []string) {
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
		switch does := step.Action.(type) {
		case action.Wait, action.Checks:
		case action.Apply:
			u.objects(&f, cell, step)
		case action.Written:
			if does.Ref.Name != "" {
				f.ref(step, does.Ref)
			}
			f.looks(step, does.Body)
			u.objects(&f, cell, step)
		case action.Patch:
			f.ref(step, does.Object)
			f.looks(step, does.Merge)
		case action.Delete:
			f.ref(step, does.Object)
		default:
			if u.Components && ofMade(step.Action) {
				f.static(step)
				continue
			}
			what, known := ofRig[step.Kind]
			if !known {
				what = "does what is not known here: " + step.Kind
			}
			f.add(step, "it %s", what)
		}
	}
	return f.told()
}

// ofMade reports whether a step does what can be done to the components of a cluster that was made for the cell.
func ofMade(step action.Action) bool {
	switch does := step.(type) {
	case action.Restart:
		return mayRestart(does)
	case action.Roll:
		return !slices.ContainsFunc(does.Restarts, func(r action.Restart) bool { return !mayRestart(r) })
	case action.Stop:
		return isWatched(does.Component) && does.Within == 0
	case action.Kill:
		return isWatched(string(does))
	case action.Scrape:
		return serves(does.Component)
	case action.Get:
		return serves(does.Component)
	case action.Log:
		return isKubelet(does.Component)
	case action.StaticPod:
		return true
	default:
		return false
	}
}

// mayRestart reports whether a component can be restarted as a step asks: with gates, a kubelet also with another
// configuration, and one of the control plane with flags, and told what to emulate.
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

// static refuses a static pod in a namespace that is not the cell's.
func (f *found) static(step plan.Step) {
	if does, is := step.Action.(action.StaticPod); is && does.Pod != nil {
		f.inNamespace(step, namespaceOf(does.Pod))
	}
}

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
	for _, object := range action.Created(step.Action) {
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
		add(record.ControllerManager, !t.ControllerManager && endsKubelet(step.Action))
		for _, object := range action.Created(step.Action) {
			o := unstructured.Unstructured{Object: object}
			add(record.ControllerManager, wantsNoManager(t, o))
			add(record.Scheduler, !t.Scheduler && wantsNoScheduler(t, o))
		}
	}
	return all
}

// endsKubelet reports whether a kubelet ends by a step, for good or not.
func endsKubelet(step action.Action) bool {
	switch does := step.(type) {
	case action.Stop:
		return isKubelet(does.Component)
	case action.Kill:
		return isKubelet(string(does))
	case action.Restart:
		return isKubelet(does.Component)
	case action.Roll:
		return slices.ContainsFunc(does.Restarts, func(r action.Restart) bool { return isKubelet(r.Component) })
	default:
		return false
	}
}

// Alone reports whether a cell has to have a cluster that was made for it alone: it changes more than what is in its
// namespaces, or reads what others leave traces in.
func Alone(cell plan.Cell) bool {
	if len(Absent(cell)) > 0 {
		return true
	}
	return slices.ContainsFunc(cell.Steps, func(step plan.Step) bool {
		switch step.Action.(type) {
		case action.Restart, action.Roll, action.Stop, action.Kill, action.Scrape, action.Log, action.Get, action.StaticPod:
			return true
		}
		return slices.ContainsFunc(action.Created(step.Action), func(object map[string]any) bool {
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
		for _, object := range action.Created(step.Action) {
			add(namespaceOf(object))
		}
		switch does := step.Action.(type) {
		case action.Written:
			add(does.Ref.Namespace)
			add(namespaceOf(does.Body))
		case action.Patch:
			add(does.Object.Namespace)
		case action.Delete:
			add(does.Object.Namespace)
		case action.StaticPod:
			add(namespaceOf(does.Pod))
		}
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
