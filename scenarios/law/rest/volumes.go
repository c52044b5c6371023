package rest

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

// selectedNode is the annotation by which a scheduler asks for a volume that a node can have. Package volume of component-helpers has
// it too, and reaches client-go.
const selectedNode = "volume.kubernetes.io/selected-node"

var hasStorage = Law{
	Breach:     "a node is selected for it, and no storage there is large enough",
	Class:      "wrong field or answer",
	Components: []string{record.Scheduler},
	Statement:  "A pod is put on a node whose storage is large enough for its claims, if the driver publishes its capacity.",
	Source:     "kubernetes/website, docs/concepts/storage/storage-capacity.md",
	judge: func(s *State, report reporter) {
		for _, v := range s.all("persistentvolumeclaims") {
			of := timeline.As[corev1.PersistentVolumeClaim](v)
			node := s.get("nodes", "", of.Annotations[selectedNode])
			if node == nil || of.Spec.VolumeName != "" || of.Spec.StorageClassName == nil || !s.publishesCapacity(*of.Spec.StorageClassName) {
				continue
			}
			asked := of.Spec.Resources.Requests[corev1.ResourceStorage]
			enough := false
			for _, c := range s.all("csistoragecapacities") {
				has := timeline.As[storagev1.CSIStorageCapacity](c)
				most := cmp.Or(has.MaximumVolumeSize, has.Capacity)
				there := has.StorageClassName == *of.Spec.StorageClassName && has.NodeTopology != nil && selects(has.NodeTopology, node.Meta().Labels)
				enough = enough || there && most != nil && most.Cmp(asked) >= 0
			}
			if !enough {
				report(v, "it asks for %s, and node %s is selected", asked.String(), node.Name)
			}
		}
	},
}

// publishesCapacity reports whether the driver of a StorageClass says how much storage there is.
func (s *State) publishesCapacity(class string) bool {
	of := s.get("storageclasses", "", class)
	if of == nil {
		return false
	}
	driver := s.get("csidrivers", "", timeline.As[storagev1.StorageClass](of).Provisioner)
	if driver == nil {
		return false
	}
	return isTrue(timeline.As[storagev1.CSIDriver](driver).Spec.StorageCapacity)
}
