package runtime

import (
	"cmp"
	"slices"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// The conditions of a filter are joined by "and". Those that are unset, and a
// filter that is nil, match all.

func matchesSandbox(b *sandbox, filter *cri.PodSandboxFilter) bool {
	if id := filter.GetId(); id != "" && id != b.id {
		return false
	}
	if state := filter.GetState(); state != nil && state.State != b.state {
		return false
	}
	return hasLabels(b.config.Labels, filter.GetLabelSelector())
}

func matchesSandboxStats(b *sandbox, filter *cri.PodSandboxStatsFilter) bool {
	return matchesSandbox(b, &cri.PodSandboxFilter{Id: filter.GetId(), LabelSelector: filter.GetLabelSelector()})
}

func matchesContainer(c *container, filter *cri.ContainerFilter) bool {
	if id := filter.GetId(); id != "" && id != c.id {
		return false
	}
	if id := filter.GetPodSandboxId(); id != "" && id != c.sandbox.id {
		return false
	}
	if state := filter.GetState(); state != nil && state.State != c.state {
		return false
	}
	return hasLabels(c.config.Labels, filter.GetLabelSelector())
}

// matchesContainerStats also leaves out what does not run: it uses nothing.
func matchesContainerStats(c *container, filter *cri.ContainerStatsFilter) bool {
	return matchesContainer(c, &cri.ContainerFilter{
		Id:            filter.GetId(),
		PodSandboxId:  filter.GetPodSandboxId(),
		State:         &cri.ContainerStateValue{State: cri.ContainerState_CONTAINER_RUNNING},
		LabelSelector: filter.GetLabelSelector(),
	})
}

func hasLabels(labels, selector map[string]string) bool {
	for name, want := range selector {
		if got, ok := labels[name]; !ok || got != want {
			return false
		}
	}
	return true
}

// selectSandboxes returns the sandboxes that match, oldest first. It is called
// with mu held.
func (r *Runtime) selectSandboxes(match func(*sandbox) bool) []*sandbox {
	var selected []*sandbox
	for _, b := range r.sandboxes {
		if match(b) {
			selected = append(selected, b)
		}
	}
	slices.SortFunc(selected, func(a, b *sandbox) int { return cmp.Compare(a.createdAt, b.createdAt) })
	return selected
}

// selectContainers returns the containers that match, oldest first. It is
// called with mu held.
func (r *Runtime) selectContainers(match func(*container) bool) []*container {
	var selected []*container
	for _, c := range r.containers {
		if match(c) {
			selected = append(selected, c)
		}
	}
	slices.SortFunc(selected, func(a, b *container) int { return cmp.Compare(a.createdAt, b.createdAt) })
	return selected
}
