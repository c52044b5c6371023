package rest

import "testing"

func TestHasStorage(t *testing.T) {
	const driver = "kind: CSIDriver\nmetadata: {name: disk.example.com}\nspec: {storageCapacity: true}"
	const class = "kind: StorageClass\nmetadata: {name: disk}\nprovisioner: disk.example.com"
	capacity := func(class, amount string) string {
		return "kind: CSIStorageCapacity\nmetadata: {name: free}\nstorageClassName: " + class + "\ncapacity: " + amount
	}
	claim := func(asked, more string) string {
		return manifest("PersistentVolumeClaim", "data", "annotations: {volume.kubernetes.io/selected-node: a}", "spec: {storageClassName: disk, resources: {requests: {storage: "+asked+"}}"+more+"}")
	}
	small, large := capacity("disk", "1Gi"), claim("8Gi", "")
	missing := []string{"persistentvolumeclaims/default/data: it asks for 8Gi, and node a is selected"}
	judge(t, hasStorage, map[string]judged{
		"too small":              {[]string{driver, class, small, large}, missing},
		"none":                   {[]string{driver, class, large}, missing},
		"of another class":       {[]string{driver, class, capacity("other", "16Gi"), large}, missing},
		"enough":                 {manifests: []string{driver, class, small, claim("1Gi", "")}},
		"no node is selected":    {manifests: []string{driver, class, small, manifest("PersistentVolumeClaim", "data", "", "spec: {storageClassName: disk, resources: {requests: {storage: 8Gi}}}")}},
		"it has a volume":        {manifests: []string{driver, class, small, claim("8Gi", ", volumeName: pv")}},
		"the driver says none":   {manifests: []string{"kind: CSIDriver\nmetadata: {name: disk.example.com}", class, small, large}},
		"there is no such class": {manifests: []string{driver, small, large}},
	})
}
