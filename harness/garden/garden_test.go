package garden

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/record"
)

func TestWhatIsOfTheSeedSaysSo(t *testing.T) {
	t.Parallel()
	var h record.History
	r := Recorder(&h)
	r.Append("cluster", "kube-apiserver", record.ComponentStopped{})
	r.Append("cluster", cluster.DependencyWatchdog, record.ComponentStopped{})
	r.Append("watch", "deployments/shoot/a", record.ObjectObserved{Resource: "deployments", Object: []byte("{}")})
	r.Append("link", "dependency-watchdog->kube-apiserver", record.ComponentStopped{})
	var subjects []string
	for _, e := range h.Events() {
		subjects = append(subjects, e.Subject)
	}
	want := []string{"seed/kube-apiserver", "dependency-watchdog", "seed/deployments/shoot/a", "dependency-watchdog->seed/kube-apiserver"}
	if diff := cmp.Diff(want, subjects); diff != "" {
		t.Errorf("subjects (-want +got):\n%s", diff)
	}
	if seen, ok := record.As[record.ObjectObserved](h.Events()[2]); !ok || seen.Cluster != Seed {
		t.Errorf("the object is of %q", seen.Cluster)
	}
}

func TestAShootThatIsDifferent(t *testing.T) {
	t.Parallel()
	plain, err := Cluster(nil)
	if err != nil {
		t.Fatal(err)
	}
	different, err := Cluster(map[string]any{
		"spec":   map[string]any{"provider": map[string]any{"workers": []any{}}},
		"status": map[string]any{"lastOperation": nil},
	})
	if err != nil {
		t.Fatal(err)
	}
	at := func(object map[string]any, path ...string) any {
		var value any = object
		for _, field := range path {
			value = value.(map[string]any)[field] //nolint:forcetypeassert // it is one of ours
		}
		return value
	}
	if workers := at(plain, "spec", "shoot", "spec", "provider", "workers"); len(workers.([]any)) != 1 { //nolint:forcetypeassert // as above
		t.Errorf("workers are %v", workers)
	}
	if workers := at(different, "spec", "shoot", "spec", "provider", "workers"); len(workers.([]any)) != 0 { //nolint:forcetypeassert // as above
		t.Errorf("workers are %v", workers)
	}
	if kind, operation := at(different, "spec", "shoot", "kind"), at(different, "spec", "shoot", "status", "lastOperation"); kind != "Shoot" || operation != nil {
		t.Errorf("a %v whose last operation was %v", kind, operation)
	}
}
