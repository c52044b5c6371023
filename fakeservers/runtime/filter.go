package runtime

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
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
	return labels.SelectorFromSet(filter.GetLabelSelector()).Matches(labels.Set(b.config.Labels))
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
	return labels.SelectorFromSet(filter.GetLabelSelector()).Matches(labels.Set(c.config.Labels))
}

// runningOnly is the filter for stats: what does not run uses nothing.
func runningOnly(filter *cri.ContainerStatsFilter) *cri.ContainerFilter {
	return &cri.ContainerFilter{
		Id:            filter.GetId(),
		PodSandboxId:  filter.GetPodSandboxId(),
		State:         &cri.ContainerStateValue{State: cri.ContainerState_CONTAINER_RUNNING},
		LabelSelector: filter.GetLabelSelector(),
	}
}

// selectSandboxes returns the sandboxes that match, oldest first. It is called
// with mu held.
func (r *Runtime) selectSandboxes(filter *cri.PodSandboxFilter) []*sandbox {
	all := slices.SortedFunc(maps.Values(r.sandboxes), func(a, b *sandbox) int { return cmp.Compare(a.createdAt, b.createdAt) })
	return slices.DeleteFunc(all, func(b *sandbox) bool { return !matchesSandbox(b, filter) })
}

// selectContainers returns the containers that match, oldest first. It is
// called with mu held.
func (r *Runtime) selectContainers(filter *cri.ContainerFilter) []*container {
	all := slices.SortedFunc(maps.Values(r.containers), func(a, b *container) int { return cmp.Compare(a.createdAt, b.createdAt) })
	return slices.DeleteFunc(all, func(c *container) bool { return !matchesContainer(c, filter) })
}
