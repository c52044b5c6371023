package timeline

import (
	"encoding/json"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/skewrig/skewrig/record"
)

// Version is a state of an API object. What is not of the form that Kubernetes gives
// it is as if it were not there.
type Version struct {
	Moment
	// Key is resource/namespace/name, after the name of the rig if that is another one
	// than the cell's own.
	Key             string
	Cluster         string
	Resource        string
	Namespace, Name string
	// Server is the API server that showed it so.
	Server string
	// Change is "added", "modified", "deleted" or "unserved", or "written" for the manifest of a
	// static pod.
	Change string
	// Writers are the field managers that are known to have changed it.
	Writers []record.Writer
	*Raw

	typed []any // as each type that it was asked for as
}

// written is the change of a static pod's manifest.
const written = "written"

// NewVersion is a state of an object that was not observed, by its key.
func NewVersion(key string, text json.RawMessage) *Version {
	resource, rest, _ := strings.Cut(key, "/")
	namespace, name, _ := strings.Cut(rest, "/")
	return &Version{Key: key, Resource: resource, Namespace: namespace, Name: name, Raw: NewRaw(text)}
}

// Gone reports whether the API server does not show the object any more: it is deleted, or its resource is not served.
func (v *Version) Gone() bool { return v.Change == record.Deleted || v.Unserved() }

// Unserved reports whether the API server does not serve the object's resource any more. The object is not deleted.
func (v *Version) Unserved() bool { return v.Change == record.Unserved }

// Static reports whether this is what a kubelet was given as a static pod.
func (v *Version) Static() bool { return v.Change == written }

// Mirror reports whether an object only shows a static pod.
func (v *Version) Mirror() bool { return v.Meta().Annotations[corev1.MirrorPodAnnotationKey] != "" }

// As decodes an object as a type, once. What is of another form stays empty.
func As[T any](v *Version) *T {
	for _, typed := range v.typed {
		if known, is := typed.(*T); is {
			return known
		}
	}
	typed := new(T)
	_ = json.Unmarshal(v.Text(), typed)
	v.typed = append(v.typed, typed)
	return typed
}

// Workload is what objects have in common: those that pods are made from, and all
// others as far as they have it.
type Workload struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Replicas        int32                   `json:"replicas"`
		Template        *corev1.PodTemplateSpec `json:"template"`
		MinReadySeconds int32                   `json:"minReadySeconds"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration int64              `json:"observedGeneration"`
		Phase              string             `json:"phase"`
		Conditions         []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

// Pod is the object as a pod.
func (v *Version) Pod() *corev1.Pod { return As[corev1.Pod](v) }

// ContainerStatuses are those of all containers of a pod: the init containers first.
func (v *Version) ContainerStatuses() []corev1.ContainerStatus {
	return slices.Concat(v.Pod().Status.InitContainerStatuses, v.Pod().Status.ContainerStatuses)
}

// Workload is the object as one that pods are made from.
func (v *Version) Workload() *Workload { return As[Workload](v) }

// IsBehind reports whether the status is about another spec than the object has, as its observedGeneration says.
func (v *Version) IsBehind() bool {
	status, _ := v.Fields()["status"].(map[string]any)
	_, says := status["observedGeneration"]
	w := v.Workload()
	return says && w.Generation != w.Status.ObservedGeneration
}

// Condition is the object's condition of a type; one without a status if there is none.
func (v *Version) Condition(name string) (found metav1.Condition) {
	for _, c := range v.Workload().Status.Conditions {
		if c.Type == name {
			return c
		}
	}
	return found
}

// Meta is the object's metadata.
func (v *Version) Meta() *metav1.ObjectMeta {
	if v.Resource == "pods" {
		return &v.Pod().ObjectMeta
	}
	return &v.Workload().ObjectMeta
}

// PodSpec is the spec of the pod that an object is, or makes others of. It is nil if
// it is neither.
func (v *Version) PodSpec() *corev1.PodSpec {
	if v.Resource == "pods" {
		return &v.Pod().Spec
	}
	if template := v.Workload().Spec.Template; template != nil {
		return &template.Spec
	}
	return nil
}

// addObject takes an object into account.
func (t *Timeline) addObject(e Entry) {
	switch p := e.Payload.(type) {
	case record.ObjectObserved:
		t.observed(e, p)
	case record.StaticPodWritten:
		v := NewVersion("pods/"+e.Subject, p.Pod)
		v.Moment, v.Change = e.Moment, written
		v.Pod().Spec.NodeName = p.Node
		t.keep(v)
	}
}

func (t *Timeline) keep(v *Version) {
	t.Versions, t.states[v.Key] = append(t.Versions, v), append(t.states[v.Key], v)
}

func (t *Timeline) observed(e Entry, seen record.ObjectObserved) {
	own := seen.Cluster == ""
	if own && seen.Resource == "events" {
		t.happened(seen, e.Moment)
		return
	}
	server := t.observing
	if !own {
		server = record.APIServer
	}
	v := &Version{
		Moment: e.Moment, Key: e.Subject, Cluster: seen.Cluster, Resource: seen.Resource, Namespace: seen.Namespace, Name: seen.Name,
		Server: server, Change: seen.Change, Writers: seen.Writers, Raw: NewRaw(seen.Object),
	}
	t.keep(v)
	if v.Gone() {
		delete(t.Objects, v.Key)
	} else {
		t.Objects[v.Key], t.History[v.Key] = v, append(t.History[v.Key], v)
	}
	switch {
	case own && v.Resource == "pods":
		name := Name(v.Namespace, v.Name)
		if t.Pods[name] = v; v.Gone() {
			delete(t.Pods, name)
		} else {
			t.Known[name] = true
		}
	case own && v.Resource == "nodes":
		t.node(v)
	case !own && v.Resource == "deployments":
		t.dependent(v)
	}
}

// Before is the last state of an object that was seen before a place in the history.
// It is nil if there was none.
func (t *Timeline) Before(key string, place int) *Version {
	for _, v := range slices.Backward(t.states[key]) {
		if v.Place < place && !v.Static() {
			return v
		}
	}
	return nil
}

// Made is the step that made a state of an object: the one whose request was answered
// with it, however late it was seen, or else the one that was being taken when it was
// seen. It is nil before the first one. That another API server shows a state again is
// no request's doing.
func (t *Timeline) Made(v *Version) *Step {
	taken, answer := t.StepAt(v.Place), t.AnswerOf(v)
	if answer == nil {
		return taken
	}
	if asked := t.StepAt(answer.Place); taken != nil && asked != nil && asked.From.Place < taken.From.Place {
		return asked
	}
	return taken
}

// AnswerOf is the answer to the request that made a state of an object. It is nil if that
// is not known, or if the state was seen before.
func (t *Timeline) AnswerOf(v *Version) *Answer {
	number := v.Meta().ResourceVersion
	isOf := func(meta *metav1.ObjectMeta) bool { return number != "" && meta.ResourceVersion == number }
	for _, before := range t.states[v.Key] {
		if before == v {
			break
		}
		if isOf(before.Meta()) {
			return nil
		}
	}
	i := slices.IndexFunc(t.Answers, func(a *Answer) bool { return a.Object == v.Key && isOf(a.Response.Meta()) })
	if i < 0 {
		return nil
	}
	return t.Answers[i]
}

// States are the states of an object, from the first to the last, also of one that is gone.
func (t *Timeline) States(key string) []*Version { return t.states[key] }

// Node is what the API server says of a node.
type Node struct {
	// Ready is the status of its condition of that name: True, False or Unknown.
	Ready string `json:"ready"`
	Zone  string `json:"zone"`
	// Changes are the values that Ready has had.
	Changes []ReadyChange `json:"changes"`
	// Events are those about the node, also those from before it was seen.
	Events []*PodEvent `json:"events"`
}

// ReadyChange is a new value of a node's condition Ready.
type ReadyChange struct {
	Ready string `json:"ready"`
	// At is when it was seen, in seconds since the record began.
	At float64 `json:"at"`
}

func (t *Timeline) node(v *Version) {
	if v.Gone() {
		delete(t.Nodes, v.Name)
		return
	}
	n := t.Nodes[v.Name]
	if n == nil {
		n = &Node{Changes: []ReadyChange{}, Events: append([]*PodEvent{}, t.nodeEvents[v.Name]...)}
		t.Nodes[v.Name] = n
	}
	var node corev1.Node
	_ = json.Unmarshal(v.Text(), &node) // it is not kept: there may be thousands
	n.Zone = node.Labels[corev1.LabelTopologyZone]
	for _, c := range node.Status.Conditions {
		if status := string(c.Status); c.Type == corev1.NodeReady && status != n.Ready {
			n.Ready = status
			n.Changes = append(n.Changes, ReadyChange{Ready: status, At: t.Seconds(v.Time)})
		}
	}
}

// Dependent is a Deployment on the seed that dependency-watchdog may scale.
type Dependent struct {
	Replicas    int32             `json:"replicas"`
	Annotations map[string]string `json:"annotations"`
	// Scaled are the numbers of replicas that it has had.
	Scaled []Scale `json:"scaled"`
}

// Scale is a new number of replicas.
type Scale struct {
	Replicas int32 `json:"replicas"`
	// At is when it was seen, in seconds since the record began.
	At float64 `json:"at"`
}

func (t *Timeline) dependent(v *Version) {
	if v.Gone() {
		delete(t.Dependents, v.Name)
		return
	}
	d := t.Dependents[v.Name]
	if d == nil {
		d = &Dependent{Replicas: -1}
		t.Dependents[v.Name] = d
	}
	deployment := As[appsv1.Deployment](v)
	if d.Annotations = deployment.Annotations; d.Annotations == nil {
		d.Annotations = map[string]string{}
	}
	replicas := int32(0)
	if deployment.Spec.Replicas != nil {
		replicas = *deployment.Spec.Replicas
	}
	if d.Replicas != replicas {
		d.Replicas = replicas
		d.Scaled = append(d.Scaled, Scale{Replicas: replicas, At: t.Seconds(v.Time)})
	}
}
