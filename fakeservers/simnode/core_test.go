package simnode

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// noon is when the tables below take place.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// core is a view to begin with: a pod with an init container, and the runtime has
// nothing of it.
func core(changes ...func(*view)) view {
	v := view{
		pod: &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default", UID: "uid", Generation: 4},
			Spec: corev1.PodSpec{
				InitContainers: []corev1.Container{{Name: "init", Image: "test"}},
				Containers:     []corev1.Container{{Name: "main", Image: "test"}, {Name: "side", Image: "test"}},
			},
		},
		runtime: "skewrig", host: netip.MustParseAddr("127.0.0.9"), now: noon,
	}
	for _, change := range changes {
		change(&v)
	}
	return v
}

// sandbox has the pod have a further sandbox.
func sandbox(state cri.PodSandboxState) func(*view) {
	return func(v *view) {
		n := len(v.seen.sandboxes)
		v.seen.sandboxes = slices.Insert(v.seen.sandboxes, 0, &cri.PodSandboxStatus{
			Id: fmt.Sprint("box", n), State: state, CreatedAt: noon.Add(-time.Hour).UnixNano(),
			Metadata: &cri.PodSandboxMetadata{Attempt: uint32(n)}, Network: &cri.PodSandboxNetworkStatus{Ip: "127.78.0.2"},
		})
	}
}

const (
	box    = cri.PodSandboxState_SANDBOX_READY
	lost   = cri.PodSandboxState_SANDBOX_NOTREADY
	made   = cri.ContainerState_CONTAINER_CREATED
	up     = cri.ContainerState_CONTAINER_RUNNING
	exited = cri.ContainerState_CONTAINER_EXITED
)

// has has the pod have a further attempt at a container, in its newest sandbox. It
// was started a minute ago, and ended after half of it.
func has(name string, state cri.ContainerState, code int32) func(*view) {
	return func(v *view) {
		n := len(v.attempts(name))
		c := container{&cri.ContainerStatus{
			Id: fmt.Sprint(name, n), Metadata: &cri.ContainerMetadata{Name: name, Attempt: uint32(n)}, State: state,
			Image: &cri.ImageSpec{Image: "registry/test:1"}, ImageRef: "registry/test@sha256:0a",
			Annotations: map[string]string{hashKey: hash(corev1.Container{Name: name, Image: "test"})},
		}, v.seen.sandboxes[0].Id, 0}
		if state != made {
			c.StartedAt = noon.Add(-time.Minute).UnixNano()
		}
		if state == exited {
			c.FinishedAt, c.ExitCode = noon.Add(-30*time.Second).UnixNano(), code
		}
		v.seen.containers = slices.Insert(v.seen.containers, 0, c)
	}
}

// ended has the last attempt end some time ago, after a second.
func ended(ago time.Duration) func(*view) {
	return func(v *view) {
		c := v.seen.containers[0]
		c.FinishedAt = noon.Add(-ago).UnixNano()
		c.StartedAt = noon.Add(-ago - time.Second).UnixNano()
	}
}

func deleted(v *view) {
	v.pod.DeletionTimestamp, v.pod.DeletionGracePeriodSeconds = &metav1.Time{Time: noon}, new(int64(5))
}
func gone(v *view) { v.gone = true }
func policy(p corev1.RestartPolicy) func(*view) {
	return func(v *view) { v.pod.Spec.RestartPolicy = p }
}
func was(p corev1.PodPhase) func(*view) { return func(v *view) { v.previous.Phase = p } }
func otherImage(v *view)                { v.pod.Spec.Containers[0].Image = "other" }
func refused(name string, wait time.Duration) func(*view) {
	return func(v *view) {
		v.failures = map[string]failure{name: {&refusal{"ErrImagePull", errors.New("no such image")}, backoff{until: noon.Add(wait)}}}
	}
}

// sidecarred makes the init container a sidecar.
func sidecarred(v *view) {
	v.pod.Spec.InitContainers[0].RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
}

func (a action) String() string {
	words := []string{string(a.verb), a.container, a.id}
	if a.verb == runSandbox || a.verb == runContainer {
		words = append(words, fmt.Sprint("#", a.attempt))
	}
	if a.verb == stopContainer {
		words = append(words, a.grace.String())
	}
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " ")
}

func said(actions []action) string {
	var all []string
	for _, a := range actions {
		all = append(all, a.String())
	}
	return strings.Join(all, ", ")
}

// TestNext plays the life of a pod, one moment a case.
func TestNext(t *testing.T) {
	t.Parallel()
	never := policy(corev1.RestartPolicyNever)
	initDone := has("init", exited, 0)
	for name, tc := range map[string]struct {
		view view
		want string
	}{
		"a new pod":                     {core(), "run sandbox #0"},
		"no sandbox, for now":           {core(refused("", time.Second)), ""},
		"no sandbox, again":             {core(refused("", 0)), "run sandbox #0"},
		"a sandbox":                     {core(sandbox(box)), "run container init box0 #0"},
		"created":                       {core(sandbox(box), has("init", made, 0)), "start container init init0"},
		"it initializes":                {core(sandbox(box), has("init", up, 0)), ""},
		"it has initialized":            {core(sandbox(box), initDone), "run container main box0 #0"},
		"the init container failed":     {core(sandbox(box), has("init", exited, 1)), "run container init box0 #1"},
		"a moment ago":                  {core(sandbox(box), has("init", exited, 1), ended(time.Second/2)), ""},
		"one after the other":           {core(sandbox(box), initDone, has("main", up, 0)), "run container side box0 #0"},
		"one can't be run":              {core(sandbox(box), initDone, refused("main", time.Second)), "run container side box0 #0"},
		"all is well":                   {core(sandbox(box), initDone, has("main", up, 0), has("side", up, 0)), ""},
		"one ended":                     {core(sandbox(box), initDone, has("main", exited, 0), has("side", up, 0)), "run container main box0 #1"},
		"for the third time, 3 s ago":   {core(sandbox(box), initDone, has("side", up, 0), has("main", exited, 1), has("main", exited, 1), has("main", exited, 1), ended(3*time.Second)), "remove container main main0"},
		"for the third time, 4 s ago":   {core(sandbox(box), initDone, has("side", up, 0), has("main", exited, 1), has("main", exited, 1), has("main", exited, 1), ended(4*time.Second)), "run container main box0 #3"},
		"it ended well, on failure":     {core(policy(corev1.RestartPolicyOnFailure), sandbox(box), initDone, has("main", exited, 0), has("side", up, 0)), ""},
		"it failed, on failure":         {core(policy(corev1.RestartPolicyOnFailure), sandbox(box), initDone, has("main", exited, 1), has("side", up, 0)), "run container main box0 #1"},
		"it failed, never":              {core(never, sandbox(box), initDone, has("main", exited, 1), has("side", up, 0)), ""},
		"another image":                 {core(otherImage, sandbox(box), initDone, has("main", up, 0), has("side", up, 0)), "stop container main main0 30s"},
		"another image, stopped":        {core(otherImage, never, sandbox(box), initDone, has("main", exited, 0), ended(0), has("side", up, 0)), "run container main box0 #1"},
		"the sandbox is lost":           {core(sandbox(lost), initDone, has("main", exited, 137), has("side", exited, 137)), "run sandbox #1"},
		"the next sandbox":              {core(sandbox(lost), initDone, has("main", exited, 137), sandbox(box)), "run container init box1 #1"},
		"it is lost, and all had ended": {core(never, sandbox(lost), initDone, has("main", exited, 0), has("side", exited, 0)), ""},
		"a sidecar starts first":        {core(sidecarred, sandbox(box)), "run container init box0 #0"},
		"and then the others":           {core(sidecarred, sandbox(box), has("init", up, 0)), "run container main box0 #0"},
		"deleted":                       {core(deleted, sandbox(box), initDone, has("main", up, 0), has("side", up, 0)), "stop container side side0 5s, stop container main main0 5s"},
		"deleted, with a sidecar":       {core(deleted, sidecarred, sandbox(box), has("init", up, 0), has("main", up, 0)), "stop container main main0 5s"},
		"only the sidecar is left":      {core(deleted, sidecarred, sandbox(box), has("init", up, 0), has("main", exited, 0)), "stop container init init0 5s"},
		"deleted, and all has ended":    {core(deleted, sandbox(lost), sandbox(box), initDone, has("main", exited, 0)), "remove sandbox box1, remove sandbox box0"},
		"deleted, and nothing is left":  {core(deleted), ""},
		"gone":                          {core(gone, sandbox(box), initDone, has("main", up, 0)), "stop container main main0 30s"},
		"it has succeeded":              {core(never, was(corev1.PodSucceeded), sandbox(box), initDone, has("main", exited, 0), has("side", exited, 0)), "stop sandbox box0"},
		"and rests":                     {core(never, was(corev1.PodSucceeded), sandbox(lost), initDone, has("main", exited, 0), has("side", exited, 0)), ""},
		"somebody had it fail":          {core(was(corev1.PodFailed), sandbox(box), initDone, has("main", up, 0)), "stop container main main0 30s"},
		"failed, and never run":         {core(was(corev1.PodFailed)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := said(next(tc.view)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// brief is what the tables say of a status: the phase, what is true, and how each
// container is.
func brief(s corev1.PodStatus) string {
	words := []string{string(s.Phase)}
	for _, c := range s.Conditions {
		if c.Status == corev1.ConditionTrue && c.Type != corev1.PodScheduled {
			words = append(words, string(c.Type))
		}
	}
	for _, c := range slices.Concat(s.InitContainerStatuses, s.ContainerStatuses) {
		state := "running"
		if w := c.State.Waiting; w != nil {
			state = w.Reason
		}
		if e := c.State.Terminated; e != nil {
			state = fmt.Sprint("exit ", e.ExitCode)
		}
		if e := c.LastTerminationState.Terminated; e != nil {
			state += fmt.Sprint(" after exit ", e.ExitCode)
		}
		if c.RestartCount > 0 {
			state += fmt.Sprint(" #", c.RestartCount)
		}
		if c.Ready {
			state += ", ready"
		}
		words = append(words, fmt.Sprintf("%s(%s)", c.Name, state))
	}
	return strings.Join(words, " ")
}

func TestStatus(t *testing.T) {
	t.Parallel()
	never := policy(corev1.RestartPolicyNever)
	initDone := has("init", exited, 0)
	const started = "PodReadyToStartContainers Initialized"
	known := func(v *view) {
		v.previous = status(core(sandbox(box), initDone, has("main", up, 0), has("side", exited, 0)))
	}
	for name, tc := range map[string]struct {
		view view
		want string
	}{
		"a new pod":           {core(), "Pending init(PodInitializing) main(PodInitializing) side(PodInitializing)"},
		"no image":            {core(sandbox(box), refused("init", time.Second)), "Pending PodReadyToStartContainers init(ErrImagePull) main(PodInitializing) side(PodInitializing)"},
		"it initializes":      {core(sandbox(box), has("init", up, 0)), "Pending PodReadyToStartContainers init(running) main(PodInitializing) side(PodInitializing)"},
		"it fails to":         {core(never, sandbox(box), has("init", exited, 1)), "Failed PodReadyToStartContainers init(exit 1) main(PodInitializing) side(PodInitializing)"},
		"once again":          {core(sandbox(box), has("init", exited, 1)), "Pending PodReadyToStartContainers init(exit 1) main(PodInitializing) side(PodInitializing)"},
		"it has initialized":  {core(sandbox(box), initDone), "Pending " + started + " init(exit 0, ready) main(ContainerCreating) side(ContainerCreating)"},
		"half":                {core(sandbox(box), initDone, has("main", up, 0)), "Pending " + started + " init(exit 0, ready) main(running, ready) side(ContainerCreating)"},
		"all is well":         {core(sandbox(box), initDone, has("main", up, 0), has("side", up, 0)), "Running " + started + " Ready ContainersReady init(exit 0, ready) main(running, ready) side(running, ready)"},
		"one ended":           {core(sandbox(box), initDone, has("main", exited, 1), has("side", up, 0)), "Running " + started + " init(exit 0, ready) main(exit 1) side(running, ready)"},
		"all ended, for now":  {core(sandbox(box), initDone, has("main", exited, 1), has("side", exited, 0)), "Running " + started + " init(exit 0, ready) main(exit 1) side(exit 0)"},
		"it runs again":       {core(sandbox(box), initDone, has("main", exited, 3), has("main", up, 0), has("side", up, 0)), "Running " + started + " Ready ContainersReady init(exit 0, ready) main(running after exit 3 #1, ready) side(running, ready)"},
		"it loops":            {core(sandbox(box), initDone, has("side", up, 0), has("main", exited, 3), has("main", exited, 4), ended(time.Second)), "Running " + started + " init(exit 0, ready) main(CrashLoopBackOff after exit 4 #1) side(running, ready)"},
		"it succeeded":        {core(never, sandbox(box), initDone, has("main", exited, 0), has("side", exited, 0)), "Succeeded " + started + " init(exit 0, ready) main(exit 0) side(exit 0)"},
		"it failed":           {core(never, sandbox(box), initDone, has("main", exited, 0), has("side", exited, 2)), "Failed " + started + " init(exit 0, ready) main(exit 0) side(exit 2)"},
		"one is left":         {core(never, sandbox(box), initDone, has("main", exited, 1), has("side", up, 2)), "Running " + started + " init(exit 0, ready) main(exit 1) side(running, ready)"},
		"the sandbox is lost": {core(sandbox(lost), initDone, has("main", exited, 137), has("side", exited, 137)), "Running Initialized init(exit 0, ready) main(exit 137) side(exit 137)"},
		"a sidecar":           {core(never, sidecarred, sandbox(box), has("init", up, 0), has("main", exited, 0), has("side", exited, 0)), "Succeeded " + started + " init(running, ready) main(exit 0) side(exit 0)"},
		"deleted":             {core(deleted, sandbox(box), initDone, has("main", exited, 0), has("side", up, 0)), "Running " + started + " init(exit 0, ready) main(exit 0) side(running, ready)"},
		"and down":            {core(deleted, sandbox(box), initDone, has("main", exited, 0), has("side", exited, 0)), "Succeeded " + started + " init(exit 0, ready) main(exit 0) side(exit 0)"},
		"and removed":         {core(known, deleted), "Failed Initialized init(exit 0, ready) main(exit 137) side(exit 0)"},
		"the runtime forgot":  {core(known), "Pending init(PodInitializing) main(PodInitializing) side(PodInitializing)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := brief(status(tc.view)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// wrote gives a container a limit of 1Mi, and files.
func wrote(name string, bytes uint64) func(*view) {
	return func(v *view) {
		for _, containers := range [][]corev1.Container{v.pod.Spec.InitContainers, v.pod.Spec.Containers} {
			for i := range containers {
				if containers[i].Name == name {
					containers[i].Resources.Limits = corev1.ResourceList{corev1.ResourceEphemeralStorage: resource.MustParse("1Mi")}
				}
			}
		}
		for i := range v.seen.containers {
			if v.seen.containers[i].Metadata.Name == name {
				v.seen.containers[i].layer = bytes
			}
		}
	}
}

// TestEvictions: a container that has outgrown its limit is the end of its pod.
func TestEvictions(t *testing.T) {
	t.Parallel()
	initDone := has("init", exited, 0)
	// before has a pod that was evicted then, and the runtime has nothing of it yet.
	before := func(v *view) {
		v.previous = status(core(sandbox(box), initDone, has("main", up, 0), has("side", up, 0), wrote("main", 4<<20)))
	}
	const (
		stayed  = "Running PodReadyToStartContainers Initialized Ready ContainersReady init(exit 0, ready) main(running, ready) side(running, ready)"
		too     = " Evicted: container main has 4Mi of files, more than its limit of 1Mi"
		stopAll = "stop container side side0 1s, stop container main main0 1s"
	)
	for name, tc := range map[string]struct {
		view   view
		status string
		next   string
	}{
		"at its limit":     {core(sandbox(box), initDone, has("main", up, 0), has("side", up, 0), wrote("main", 1<<20)), stayed, ""},
		"one has no limit": {core(sandbox(box), initDone, has("main", up, 0), has("side", up, 0), wrote("none", 4<<20)), stayed, ""},
		"over its limit":   {core(sandbox(box), initDone, has("main", up, 0), has("side", up, 0), wrote("main", 4<<20)), stayed + too, stopAll},
		"while it initializes": {
			core(sandbox(box), has("init", up, 0), wrote("init", 2<<20)),
			"Pending PodReadyToStartContainers init(running) main(PodInitializing) side(PodInitializing) Evicted: container init has 2Mi of files, more than its limit of 1Mi",
			"stop container init init0 1s",
		},
		"one has ended": {
			core(before, sandbox(box), initDone, has("main", exited, 137), has("side", up, 0)),
			"Running PodReadyToStartContainers Initialized init(exit 0, ready) main(exit 137) side(running, ready)" + too,
			"stop container side side0 1s",
		},
		"all have ended": {
			core(before, sandbox(box), initDone, has("main", exited, 0), has("side", exited, 0)),
			"Failed PodReadyToStartContainers Initialized init(exit 0, ready) main(exit 0) side(exit 0)" + too,
			"stop sandbox box0",
		},
		"and the sandbox": {
			core(before, sandbox(lost), initDone, has("main", exited, 0), has("side", exited, 0)),
			"Failed Initialized init(exit 0, ready) main(exit 0) side(exit 0)" + too, "",
		},
		"deleted": {
			core(before, deleted, sandbox(lost), initDone, has("main", exited, 0), has("side", exited, 0)),
			"Failed Initialized init(exit 0, ready) main(exit 0) side(exit 0)" + too, "remove sandbox box0",
		},
		"it was on its way out": {
			core(deleted, sandbox(box), initDone, has("main", up, 0), has("side", up, 0), wrote("main", 4<<20)), stayed,
			"stop container side side0 5s, stop container main main0 5s",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := tc.view
			v.previous = status(v)
			got := brief(v.previous)
			if v.previous.Reason != "" {
				got += " " + v.previous.Reason + ": " + v.previous.Message
			}
			if got != tc.status {
				t.Errorf("got  %s\nwant %s", got, tc.status)
			}
			if got := said(next(v)); got != tc.next {
				t.Errorf("got  %s\nwant %s", got, tc.next)
			}
		})
	}
}

// TestTimesOfTransitions: a condition that stays as it is keeps its time.
func TestTimesOfTransitions(t *testing.T) {
	t.Parallel()
	v := core(sandbox(box), has("init", exited, 0), has("main", up, 0))
	v.previous = status(v)
	v.now = noon.Add(time.Hour)
	if diff := cmp.Diff(v.previous, status(v)); diff != "" {
		t.Errorf("nothing has happened (-before +after):\n%s", diff)
	}
	has("side", up, 0)(&v)
	got := make(map[corev1.PodConditionType]time.Duration)
	for _, c := range status(v).Conditions {
		got[c.Type] = c.LastTransitionTime.Sub(noon)
	}
	want := map[corev1.PodConditionType]time.Duration{
		corev1.PodReadyToStartContainers: 0, corev1.PodInitialized: 0, corev1.PodScheduled: 0,
		corev1.PodReady: time.Hour, corev1.ContainersReady: time.Hour,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s := status(v); !s.StartTime.Equal(&metav1.Time{Time: noon.Add(-time.Hour)}) || s.ObservedGeneration != 4 || s.QOSClass != corev1.PodQOSBestEffort {
		t.Errorf("%+v", s)
	}
}

// TestTheRestartCountOfWhatWasForgotten goes on where it was.
func TestTheRestartCountOfWhatWasForgotten(t *testing.T) {
	t.Parallel()
	v := core()
	v.previous = status(core(sandbox(box), has("init", exited, 0), has("main", exited, 1), has("main", up, 0)))
	if got := v.attempt("main"); got != 2 {
		t.Errorf("got %d", got)
	}
	if got := v.attempt("side"); got != 0 {
		t.Errorf("got %d", got)
	}
}

func TestManifests(t *testing.T) {
	t.Parallel()
	parse := func(text, path, node string) *corev1.Pod {
		p, err := parseManifest([]byte(text), path, node)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := parse(manifest, "a.yaml", "Node-A")
	if p.Name != "static-node-a" || p.Spec.RestartPolicy != corev1.RestartPolicyAlways || p.Spec.Containers[0].ImagePullPolicy != corev1.PullIfNotPresent {
		t.Errorf("%+v", p)
	}
	if same := parse("\n"+manifest, "a.yaml", "Node-A"); same.UID != p.UID {
		t.Error("it says the same, and is another pod")
	}
	for _, other := range []*corev1.Pod{
		parse(manifest, "b.yaml", "Node-A"), parse(manifest, "a.yaml", "Node-B"), parse(strings.Replace(manifest, "test:1", "test:2", 1), "a.yaml", "Node-A"),
	} {
		if other.UID == p.UID {
			t.Errorf("%s is that of %+v, too", p.UID, other)
		}
	}
	for _, text := range []string{"", "{", "kind: Pod", `{"kind": "Service", "metadata": {"name": "a"}}`} {
		if p, err := parseManifest([]byte(text), "a.yaml", "node-a"); err == nil {
			t.Errorf("%q is %+v", text, p)
		}
	}
}
