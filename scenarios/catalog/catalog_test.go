package catalog_test

import (
	"testing"

	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// TestWhatRealContainersMayShowOtherwise is no more than what has a reason.
func TestWhatRealContainersMayShowOtherwise(t *testing.T) {
	t.Parallel()
	differences, err := catalog.RealDifferences()
	if err != nil {
		t.Fatal(err)
	}
	const endless = "oracle:bounded-writes"
	for _, d := range []struct {
		what, said string
		fails      string // the check that one of the cells fails
		explained  bool
	}{
		{"pods/default/web: status.containerStatuses[app].containerID", `ended as "containerd://*"`, "", true},
		{"pods/default/web: spec.nodeName", `"node-b"`, "", false},
		{"container default/web/app", "exited with 128", "", true},
		{"container default/web/app", "exited with 137", "", false},
		{"container default/web/app", "exited with 137", endless, false},
		{"container default/web-*-*/app", "exited with 137", "", false},
		{"container default/web-*-*/app", "exited with 137", endless, true},
		{"replicasets/default/web-*", "was 28 objects", "", false},
		{"replicasets/default/web-*", "was 28 objects", endless, true},
		{"replicasets/default/web-*: spec.replicas", "2", endless, false},
		{"deployments/default/web: metadata.annotations.deployment.kubernetes.io/revision", `"28"`, "", false},
		{"deployments/default/web: metadata.annotations.deployment.kubernetes.io/revision", `"28"`, endless, true},
		{"statefulsets/default/db", "was 2 objects", endless, false},
	} {
		compare := spec.Compare{Explained: differences}
		fails := func(check string) bool { return check == d.fails }
		if got := compare.Explains(d.what, []string{d.said}, fails); (got != nil) != d.explained {
			t.Errorf("%s: %s, where %q fails, is explained by %+v", d.what, d.said, d.fails, got)
		}
	}
}
