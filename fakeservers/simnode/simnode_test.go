package simnode

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestABoundPodRuns(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.dawdle = 50 * time.Millisecond // for setStatus to see what comes before it is shown
	g.create(boundPod("a"))
	g.start()
	g.await("it is reported as ready", func() bool { return isReady(g.reported("a")) })
	p := g.pod("a")
	s := p.Status
	c := s.ContainerStatuses[0]
	if s.Phase != corev1.PodRunning || s.PodIP != g.runs("default/a/main")[0].IP.String() || s.HostIP != "127.0.0.9" || !c.Ready || c.RestartCount != 0 ||
		c.ContainerID != "skewrig://"+g.runs("default/a/main")[0].ID || c.Image != "docker.io/library/test:1" {
		t.Errorf("%+v", s)
	}
	node, err := g.client.CoreV1().Nodes().Get(t.Context(), "node-a", metav1.GetOptions{})
	if err != nil || node.Status.Addresses[0].Address != "127.0.0.9" {
		t.Errorf("the Node is %+v: %v", node, err)
	}
	g.await("it has a lease", func() bool {
		_, err := g.client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(t.Context(), "node-a", metav1.GetOptions{})
		return err == nil
	})
	for _, once := range []string{"RunPodSandbox", "CreateContainer", "StartContainer", "PullImage"} {
		if n := g.runtime.Calls()[once]; n != 1 {
			t.Errorf("%s was called %d times", once, n)
		}
	}
	if phase := g.versions("a")[0].Status.Phase; phase != corev1.PodPending {
		t.Errorf("it was first shown as %s", phase)
	}
}

const manifest = `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "static"},
"spec": {"containers": [{"name": "main", "image": "test:1", "args": ["linger"]}]}}`

func TestAStaticPodHasAMirror(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.manifest("static.yaml", manifest)
	g.manifest("junk", "no: pod")
	g.start()
	const name = "static-node-a"
	g.await("its mirror is ready", func() bool { return isReady(g.reported(name)) })
	mirror, p := g.reported(name), g.pod(name)
	if mirror.UID == p.UID || mirror.Annotations[configMirrorKey] != p.Annotations[configHashKey] || len(p.UID) != 32 ||
		mirror.OwnerReferences[0].Name != "node-a" || mirror.OwnerReferences[0].UID == "" || p.Annotations[configSourceKey] != "file" {
		t.Errorf("the mirror of %+v is %+v", p.ObjectMeta, mirror.ObjectMeta)
	}
	if p.Spec.NodeName != "node-a" || p.Namespace != "default" || p.Status.QOSClass != corev1.PodQOSBestEffort || len(g.pods) != 1 {
		t.Errorf("%+v", p)
	}

	g.change(name, func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Now()} })
	g.await("its mirror is made again", func() bool { m := g.reported(name); return m.UID != mirror.UID && isReady(m) })
	if runs := g.runs("default/static-node-a/main"); len(runs) != 1 || runs[0].State != "running" {
		t.Errorf("it did not go on running: %+v", runs)
	}

	mirror = g.reported(name)
	g.manifest("static.yaml", manifest[:len(manifest)-2]+`, "hostNetwork": true}}`)
	g.await("another takes its place", func() bool { m := g.reported(name); return m.UID != mirror.UID && isReady(m) && m.Spec.HostNetwork })
	q := g.pod(name)
	if q.UID == p.UID || q.Status.PodIP != "127.0.0.9" {
		t.Errorf("%+v", q)
	}
	ended := false
	for _, version := range g.versions(name) {
		c := version.Status.ContainerStatuses[0]
		ended = ended || version.UID == p.UID && c.State.Terminated != nil
		if version.UID == q.UID && c.State.Running != nil && !ended {
			t.Error("it ran before the first one had ended")
		}
	}

	if err := os.Remove(filepath.Join(g.cfg.StaticPods, "static.yaml")); err != nil {
		t.Fatal(err)
	}
	g.await("it is gone", func() bool {
		return g.pod(name).UID == "" && g.reported(name).UID == "" && len(g.runtime.Containers()) == 0
	})
}

// TestARestartShowsThingsAsTheyAre: kubernetes#100277 has kubelets show all pods as
// not ready at first.
func TestARestartShowsThingsAsTheyAre(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.manifest("static.yaml", manifest)
	g.create(boundPod("a"))
	g.start()
	g.await("both are ready", func() bool { return isReady(g.reported("a")) && isReady(g.reported("static-node-a")) })
	before := map[string]corev1.PodStatus{"a": g.pod("a").Status, "static-node-a": g.pod("static-node-a").Status}
	g.stop()

	g.away.Store(true)
	g.start()
	tries := g.looksOf()
	g.await("it has had the time to be rash", func() bool { return g.looksOf() > tries+5 })
	if g.isReady() || len(g.all) > 0 {
		t.Errorf("the API server has not said which pods there are, and these are shown: %v", g.all)
	}
	g.away.Store(false)
	g.await("all is known", g.isReady)
	if len(g.first) != 2 {
		t.Errorf("%d pods were shown at first", len(g.first))
	}
	for _, p := range g.first {
		if diff := cmp.Diff(before[p.Name], p.Status); diff != "" {
			t.Errorf("%s is not as it was before the restart (-before +after):\n%s", p.Name, diff)
		}
	}
}

// looksOf is how often the node has asked the runtime for its containers.
func (g *rig) looksOf() int { return g.runtime.Calls()["ListContainers"] }

func TestTheAPIServerIsAway(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.create(boundPod("a", "exit", "3"))
	g.start()
	g.await("it crashes", func() bool { return len(g.reported("a").Status.ContainerStatuses) > 0 })
	g.away.Store(true)
	count := g.pod("a").Status.ContainerStatuses[0].RestartCount
	restarted := func(p corev1.Pod) bool { return p.Status.ContainerStatuses[0].RestartCount > count+1 }
	g.await("it restarts, for those who look at the node", func() bool { return restarted(g.pod("a")) })
	if restarted(g.reported("a")) {
		t.Error("the API server is away, and knows of it")
	}
	g.away.Store(false)
	g.await("the API server hears of it", func() bool { return restarted(g.reported("a")) })
}

func TestAPodIsDeleted(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.create(boundPod("a"))
	g.start()
	g.await("it is ready", func() bool { return isReady(g.reported("a")) })
	ip := g.pod("a").Status.PodIP
	g.change("a", func(p *corev1.Pod) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &metav1.Time{Time: time.Now()}, new(int64(20))
	})
	g.away.Store(true)
	g.await("nothing of it is left", func() bool { return len(g.runtime.Containers()) == 0 })
	failed := len(g.client.Actions())
	g.await("the node fails to say so", func() bool { return len(g.client.Actions()) > failed })
	p := g.pod("a")
	if c := p.Status.ContainerStatuses; len(c) != 1 || c[0].State.Terminated == nil || c[0].State.Terminated.ExitCode != 0 || c[0].Ready ||
		p.Status.Phase != corev1.PodSucceeded || p.Status.PodIP != ip || p.DeletionTimestamp == nil {
		t.Errorf("it is shown as %+v", p)
	}
	g.away.Store(false)
	g.await("it is gone", func() bool { return g.reported("a").UID == "" && g.pod("a").UID == "" })
}

func TestAPodThatIsDeletedByForce(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.create(boundPod("a"))
	g.start()
	g.await("it is ready", func() bool { return isReady(g.reported("a")) })
	if err := g.client.CoreV1().Pods("default").Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	g.await("nothing of it is left", func() bool { return len(g.runtime.Containers()) == 0 && g.pod("a").UID == "" })
}

// TestAPodThatWasDeletedMeanwhile is one that is deleted while the node is not there.
func TestAPodThatWasDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.create(boundPod("a"))
	g.start()
	g.await("it is ready", func() bool { return isReady(g.reported("a")) })
	g.stop()
	if err := g.client.CoreV1().Pods("default").Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	g.start()
	g.await("nothing of it is left", func() bool { return len(g.runtime.Containers()) == 0 })
	if len(g.versions("a")) > 0 {
		t.Error("it was shown")
	}
}

// TestAPodThatIsEvicted stays as it is, also when the node is started again.
func TestAPodThatIsEvicted(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	greedy := boundPod("greedy", "fill")
	greedy.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceEphemeralStorage: resource.MustParse("1Mi")}
	g.create(greedy)
	g.create(boundPod("a", "fill"))
	g.start()
	failed := func(p corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed && p.Status.Reason == evicted }
	g.await("it is reported as evicted", func() bool { return failed(g.reported("greedy")) })
	g.await("the one without a limit is ready", func() bool { return isReady(g.reported("a")) })
	s := g.pod("greedy").Status
	if s.Message != "container main has 2052Ki of files, more than its limit of 1Mi" || s.ContainerStatuses[0].State.Terminated == nil {
		t.Errorf("%+v", s)
	}
	g.stop()
	g.start()
	g.await("it is shown", func() bool { return g.pod("greedy").UID != "" })
	looks := g.looksOf()
	g.await("it is looked at again", func() bool { return g.looksOf() > looks+5 })
	if !failed(g.pod("greedy")) || len(g.runs("default/greedy/main")) != 1 || !isReady(g.pod("a")) {
		t.Errorf("it did not stay: %+v", g.pod("greedy").Status)
	}
}

func TestRestartPolicies(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		policy corev1.RestartPolicy
		code   string
		want   corev1.PodPhase
		count  int32
	}{
		"always":                 {corev1.RestartPolicyAlways, "0", corev1.PodRunning, 1},
		"never, well":            {corev1.RestartPolicyNever, "0", corev1.PodSucceeded, 0},
		"never, failed":          {corev1.RestartPolicyNever, "4", corev1.PodFailed, 0},
		"on failure, well":       {corev1.RestartPolicyOnFailure, "0", corev1.PodSucceeded, 0},
		"on failure, once again": {corev1.RestartPolicyOnFailure, "4", corev1.PodRunning, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newRig(t)
			p := boundPod("a", "exit", tc.code)
			p.Spec.RestartPolicy = tc.policy
			g.create(p)
			g.start()
			g.await("it comes to what is expected", func() bool {
				s := g.reported("a").Status
				return s.Phase == tc.want && s.ContainerStatuses[0].RestartCount == tc.count
			})
			if terminal(tc.want) {
				looks := g.looksOf()
				g.await("it is looked at again", func() bool { return g.looksOf() > looks+5 })
				if s := g.pod("a").Status; s.Phase != tc.want || len(g.runs("default/a/main")) != 1 {
					t.Errorf("it did not stay: %+v", s)
				}
			}
		})
	}
}

func TestAStandaloneNode(t *testing.T) {
	t.Parallel()
	g := newStandalone(t)
	g.manifest("static.yaml", manifest)
	g.start()
	g.await("its pod is ready", func() bool { return g.isReady() && isReady(g.pod("static-node-a")) })
	if err := os.Remove(filepath.Join(g.cfg.StaticPods, "static.yaml")); err != nil {
		t.Fatal(err)
	}
	g.await("it is gone", func() bool { return g.pod("static-node-a").UID == "" && len(g.runtime.Containers()) == 0 })
	last := g.versions("static-node-a")
	if s := last[len(last)-1].Status; s.ContainerStatuses[0].State.Terminated == nil {
		t.Errorf("it was last shown as %+v", s)
	}
}

func TestAnUpdate(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.create(boundPod("a"))
	g.start()
	g.await("it is ready", func() bool { return isReady(g.reported("a")) })
	g.change("a", func(p *corev1.Pod) {
		p.Labels = map[string]string{"new": "label"}
		p.Status.Phase, p.Status.ContainerStatuses = corev1.PodUnknown, nil // somebody is wrong
	})
	g.await("the label is shown", func() bool { return g.pod("a").Labels["new"] == "label" })
	g.await("the status is set right", func() bool { return isReady(g.reported("a")) && g.reported("a").Status.Phase == corev1.PodRunning })
	if s := g.pod("a").Status; s.Phase != corev1.PodRunning || len(s.ContainerStatuses) != 1 {
		t.Errorf("%+v", s)
	}
	g.change("a", func(p *corev1.Pod) { p.Spec.Containers[0].Image = "test:22" })
	g.await("it runs the other image", func() bool {
		s := g.pod("a").Status.ContainerStatuses[0]
		return s.Ready && s.Image == "docker.io/library/test:22" && s.RestartCount == 1 && s.LastTerminationState.Terminated != nil
	})
}

func TestAnImageThatIsNotThere(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	p := boundPod("a")
	p.Spec.Containers[0].Image = "nowhere"
	g.create(p)
	g.start()
	g.await("it says why", func() bool {
		s := g.reported("a").Status.ContainerStatuses
		return len(s) == 1 && s[0].State.Waiting != nil && s[0].State.Waiting.Reason == "ErrImagePull"
	})
	g.change("a", func(p *corev1.Pod) { p.Spec.Containers[0].Image = "test:1" })
	g.await("it is ready", func() bool { return isReady(g.pod("a")) })
}

func TestInitContainersComeFirst(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	p := boundPod("a")
	p.Spec.InitContainers = []corev1.Container{
		{Name: "one", Image: "test:1", Args: []string{"exit", "0"}}, {Name: "two", Image: "test:1", Args: []string{"exit", "0"}},
	}
	g.create(p)
	g.start()
	g.await("it is ready", func() bool { return isReady(g.reported("a")) })
	one, two, main := g.pod("a").Status.InitContainerStatuses[0], g.pod("a").Status.InitContainerStatuses[1], g.pod("a").Status.ContainerStatuses[0]
	if !one.Ready || !two.Ready || two.State.Terminated.StartedAt.Before(&one.State.Terminated.FinishedAt) || main.State.Running.StartedAt.Before(&two.State.Terminated.FinishedAt) {
		t.Errorf("%+v %+v %+v", one, two, main)
	}
}

// TestWhatOthersSetStays: conditions that are not the node's are theirs.
func TestWhatOthersSetStays(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	p := boundPod("a")
	p.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/open"}}
	g.create(p)
	g.start()
	ready := func(p corev1.Pod) corev1.PodCondition { return conditionOf(p.Status, corev1.PodReady) }
	g.await("it waits", func() bool { return ready(g.reported("a")).Reason == "ReadinessGatesNotReady" })
	g.change("a", func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: "example.com/open", Status: corev1.ConditionTrue})
	})
	g.await("it is ready", func() bool { return isReady(g.reported("a")) })
	if !equality.Semantic.DeepEqual(g.reported("a").Status, g.pod("a").Status) || conditionOf(g.pod("a").Status, "example.com/open").Status == "" {
		t.Errorf("%+v", g.pod("a").Status)
	}
}

func TestPodsOfOtherNodes(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	other := boundPod("b")
	other.Spec.NodeName = "node-b"
	g.create(other)
	g.create(boundPod("a"))
	g.start()
	g.await("it is ready", func() bool { return isReady(g.reported("a")) })
	if g.pod("b").UID != types.UID("") {
		t.Error("it shows a pod of another node")
	}
}

func TestWhatIsMissing(t *testing.T) {
	t.Parallel()
	if _, err := Start(t.Context(), Config{Name: "node-a"}); err == nil {
		t.Error("it works without a container runtime")
	}
}
