package existing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/existing"
	"github.com/skewrig/skewrig/harness/existing/facts"
	"github.com/skewrig/skewrig/harness/release"
)

// TestComponentOf: a component says in its metrics what it is, or nothing is known.
func TestComponentOf(t *testing.T) {
	t.Parallel()
	const gates = `kubernetes_feature_enabled{name="A",stage="ALPHA"} 0
kubernetes_feature_enabled{name="B",stage="BETA"} 1
`
	text := `# TYPE kubernetes_build_info gauge
kubernetes_build_info{git_commit="0123",git_version="v1.90.1",major="1"} 1
` + gates
	got, err := existing.ComponentOf("kube-scheduler", []byte(text))
	want := facts.Component{Name: "kube-scheduler", Version: "v1.90.1", Gates: facts.Gates{Set: release.Gates{"A": false, "B": true}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n-want +got:\n%s", err, diff)
	}
	for _, text := range []string{gates, "kubernetes_build_info{"} {
		if _, err := existing.ComponentOf("kube-scheduler", []byte(text)); err == nil {
			t.Errorf("%q is no error", text)
		}
	}
}
