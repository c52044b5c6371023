package simnode

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
)

// evicted is the reason of a pod that its node has ended. The status keeps it from
// then on, also while containers are yet to end, and that is how a node knows.
const evicted = "Evicted"

func (v view) evicted() bool { return v.previous.Reason == evicted }

// outgrown says which container has more files than its limit of ephemeral storage
// allows, or nothing. A kubelet looks at logs and volumes, too.
func (v view) outgrown() string {
	for _, c := range slices.Concat(v.pod.Spec.InitContainers, v.pod.Spec.Containers) {
		last, _ := v.newest(c.Name)
		limit := c.Resources.Limits.StorageEphemeral()
		used := resource.NewQuantity(int64(last.layer), resource.BinarySI) //nolint:gosec // no layer is that large
		if !limit.IsZero() && used.Cmp(*limit) > 0 {
			return fmt.Sprintf("container %s has %s of files, more than its limit of %s", c.Name, used, limit)
		}
	}
	return ""
}
