package action

import (
	"context"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// StaticPod is a pod that a kubelet runs from a file, without an API server.
type StaticPod struct {
	// Node is the node's name.
	Node string `json:"node"`
	// Pod is the manifest. A file of that name that is there already is
	// replaced. The kubelet appends the node's name to the pod's.
	Pod map[string]any `json:"pod,omitempty"`
	// Remove is the name of a pod whose manifest is taken away, without the node's
	// name. Exactly one of Pod and Remove is set.
	Remove string `json:"remove,omitempty"`
}

func (s StaticPod) Check(f spec.Field) {
	if !f.Clean("") {
		return
	}
	if len(f.Present("pod", "remove")) != 1 {
		f.Report("", "give pod or remove: a static pod is started or removed")
		return
	}
	if !f.Has(".pod") {
		return
	}
	f.Object(".pod")
	if kind, is := s.Pod["kind"].(string); is && kind != "Pod" {
		f.Report(".pod.kind", "a kubelet runs only pods, not %s", strict.Quote(kind))
	}
	metadata, _ := s.Pod["metadata"].(map[string]any)
	_, has := metadata["uid"]
	f.Refuse(".pod.metadata.uid", has, "the kubelet makes the UID of a static pod")
}

func (s StaticPod) Change(r *spec.Rig) { r.Find(".node", spec.KubeletPrefix+s.Node) }

// Describe implements Action: which pod is run, and where.
func (s StaticPod) Describe() string {
	if s.Remove != "" {
		return OneLine("remove static pod " + s.Remove + " of " + s.Node)
	}
	return OneLine("run static " + describeObject(s.Pod) + " on " + s.Node)
}

func (s StaticPod) Run(_ context.Context, rig Rig) error {
	if s.Remove != "" {
		return rig.RemoveStaticPod(s.Node, s.Remove)
	}
	return rig.RunStaticPod(s.Node, s.Pod)
}

// Facts are those of a pod that is started or removed by a file.
func (s StaticPod) Facts() Facts {
	return Facts{Needs: NeedsStaticPods, Component: spec.KubeletPrefix + s.Node, Reach: ReachOwn, Static: s}
}
