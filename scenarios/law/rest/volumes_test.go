package rest

import (
	"strings"
	"testing"
)

func TestHasStorage(t *testing.T) {
	const driver = "kind: CSIDriver\nmetadata: {name: disk.example.com}\nspec: {storageCapacity: true}"
	const class = "kind: StorageClass\nmetadata: {name: disk}\nprovisioner: disk.example.com"
	capacity := func(class, amount string) string {
		return "kind: CSIStorageCapacity\nmetadata: {name: free}\nnodeTopology: {}\nstorageClassName: " + class + "\ncapacity: " + amount
	}
	claim := func(asked, more string) string {
		return manifest("PersistentVolumeClaim", "data", "annotations: {volume.kubernetes.io/selected-node: a}", "spec: {storageClassName: disk, resources: {requests: {storage: "+asked+"}}"+more+"}")
	}
	node := nodeNamed("a", "", "", "")
	small, large := capacity("disk", "1Gi"), claim("8Gi", "")
	missing := []string{"persistentvolumeclaims/default/data: it asks for 8Gi, and node a is selected"}
	judge(t, hasStorage, map[string]judged{
		"too small":              {[]string{node, driver, class, small, large}, missing},
		"none":                   {[]string{node, driver, class, large}, missing},
		"of another class":       {[]string{node, driver, class, capacity("other", "16Gi"), large}, missing},
		"of another node":        {[]string{node, driver, class, strings.Replace(capacity("disk", "8Gi"), "nodeTopology: {}", "nodeTopology: {matchLabels: {zone: b}}", 1), large}, missing},
		"too small at most":      {[]string{node, driver, class, capacity("disk", "8Gi") + "\nmaximumVolumeSize: 1Gi", large}, missing},
		"enough":                 {manifests: []string{node, driver, class, small, claim("1Gi", "")}},
		"no node is selected":    {manifests: []string{node, driver, class, small, manifest("PersistentVolumeClaim", "data", "", "spec: {storageClassName: disk, resources: {requests: {storage: 8Gi}}}")}},
		"it has a volume":        {manifests: []string{node, driver, class, small, claim("8Gi", ", volumeName: pv")}},
		"the driver says none":   {manifests: []string{node, "kind: CSIDriver\nmetadata: {name: disk.example.com}", class, small, large}},
		"there is no such class": {manifests: []string{node, driver, small, large}},
	})
}
