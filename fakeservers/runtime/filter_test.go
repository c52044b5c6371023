package runtime

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestContainerFilters(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	a, b := g.pod(t, "a"), g.pod(t, "b")
	created := g.create(t, a, containerConfig("created", "exit", "0"))
	running := g.start(t, a, containerConfig("running", "obey", "0"))
	exited := g.start(t, b, containerConfig("exited", "exit", "0"))
	g.exited(t, exited)
	other := g.start(t, b, containerConfig("other", "exit", "0"))
	g.exited(t, other)
	inState := func(s cri.ContainerState) *cri.ContainerStateValue { return &cri.ContainerStateValue{State: s} }
	named := func(name string) map[string]string {
		return map[string]string{"io.kubernetes.container.name": name}
	}

	for name, tc := range map[string]struct {
		filter *cri.ContainerFilter
		want   []string
	}{
		"none":             {nil, []string{created, running, exited, other}},
		"empty":            {&cri.ContainerFilter{}, []string{created, running, exited, other}},
		"id":               {&cri.ContainerFilter{Id: running}, []string{running}},
		"unknown id":       {&cri.ContainerFilter{Id: running[:10]}, nil},
		"sandbox":          {&cri.ContainerFilter{PodSandboxId: b}, []string{exited, other}},
		"created":          {&cri.ContainerFilter{State: inState(cri.ContainerState_CONTAINER_CREATED)}, []string{created}},
		"running":          {&cri.ContainerFilter{State: inState(cri.ContainerState_CONTAINER_RUNNING)}, []string{running}},
		"exited":           {&cri.ContainerFilter{State: inState(cri.ContainerState_CONTAINER_EXITED)}, []string{exited, other}},
		"label":            {&cri.ContainerFilter{LabelSelector: named("other")}, []string{other}},
		"label's value":    {&cri.ContainerFilter{LabelSelector: named("absent")}, nil},
		"label not there":  {&cri.ContainerFilter{LabelSelector: map[string]string{"x": ""}}, nil},
		"all that apply":   {&cri.ContainerFilter{PodSandboxId: b, LabelSelector: named("other")}, []string{other}},
		"one that doesn't": {&cri.ContainerFilter{PodSandboxId: a, LabelSelector: named("other")}, nil},
	} {
		resp, err := g.ListContainers(t.Context(), &cri.ListContainersRequest{Filter: tc.filter})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range resp.Containers {
			got = append(got, c.Id)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("by %s (-want +got):\n%s", name, diff)
		}
	}
}

func TestSandboxFilters(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	a, b := g.pod(t, "a"), g.pod(t, "b")
	if _, err := g.StopPodSandbox(t.Context(), &cri.StopPodSandboxRequest{PodSandboxId: b}); err != nil {
		t.Fatal(err)
	}
	uid := func(pod string) map[string]string { return map[string]string{"io.kubernetes.pod.uid": "uid-" + pod} }

	for name, tc := range map[string]struct {
		filter *cri.PodSandboxFilter
		want   []string
	}{
		"none":       {nil, []string{a, b}},
		"id":         {&cri.PodSandboxFilter{Id: b}, []string{b}},
		"unknown id": {&cri.PodSandboxFilter{Id: "unknown"}, nil},
		"ready":      {&cri.PodSandboxFilter{State: &cri.PodSandboxStateValue{}}, []string{a}},
		"not ready":  {&cri.PodSandboxFilter{State: &cri.PodSandboxStateValue{State: cri.PodSandboxState_SANDBOX_NOTREADY}}, []string{b}},
		"label":      {&cri.PodSandboxFilter{LabelSelector: uid("b")}, []string{b}},
		"both":       {&cri.PodSandboxFilter{Id: a, LabelSelector: uid("b")}, nil},
	} {
		resp, err := g.ListPodSandbox(t.Context(), &cri.ListPodSandboxRequest{Filter: tc.filter})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range resp.Items {
			got = append(got, b.Id)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("by %s (-want +got):\n%s", name, diff)
		}
	}
}

func TestListedItemsAreComplete(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	pod := g.pod(t, "web")
	id := g.create(t, pod, containerConfig("app", "exit", "0"))
	containers, err := g.ListContainers(t.Context(), &cri.ListContainersRequest{})
	if err != nil {
		t.Fatal(err)
	}
	c, want := containers.Containers[0], g.status(t, id)
	got := []any{c.Metadata.Name, c.PodSandboxId, c.Image.Image, c.ImageId, c.ImageRef, c.CreatedAt, c.Labels, c.Annotations}
	if diff := cmp.Diff([]any{"app", pod, want.Image.Image, want.ImageId, want.ImageRef, want.CreatedAt, want.Labels, want.Annotations}, got); diff != "" {
		t.Errorf("container (-status +list):\n%s", diff)
	}
	sandboxes, err := g.ListPodSandbox(t.Context(), &cri.ListPodSandboxRequest{})
	if err != nil {
		t.Fatal(err)
	}
	status, err := g.PodSandboxStatus(t.Context(), &cri.PodSandboxStatusRequest{PodSandboxId: pod})
	if err != nil {
		t.Fatal(err)
	}
	b, s := sandboxes.Items[0], status.Status
	if diff := cmp.Diff([]any{s.Id, s.Metadata.Uid, s.CreatedAt, s.Labels, s.Annotations},
		[]any{b.Id, b.Metadata.Uid, b.CreatedAt, b.Labels, b.Annotations}); diff != "" {
		t.Errorf("sandbox (-status +list):\n%s", diff)
	}
}
