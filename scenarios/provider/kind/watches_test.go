package kind

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/scenarios/provider"
)

func TestWatchesOfAnAPIServer(t *testing.T) {
	t.Parallel()
	metrics, err := provider.ParseMetrics([]byte(`# TYPE apiserver_longrunning_requests gauge
apiserver_longrunning_requests{component="apiserver",group="",resource="pods",scope="cluster",subresource="",verb="WATCH",version="v1"} 4
apiserver_longrunning_requests{component="apiserver",group="",resource="pods",scope="namespace",subresource="",verb="WATCH",version="v1"} 9
apiserver_longrunning_requests{component="apiserver",group="apps",resource="replicasets",scope="cluster",subresource="",verb="WATCH",version="v1"} 3
apiserver_longrunning_requests{component="apiserver",group="resource.k8s.io",resource="resourceclaims",scope="cluster",subresource="",verb="WATCH",version="v1beta1"} 2
apiserver_longrunning_requests{component="apiserver",group="",resource="pods",scope="cluster",subresource="log",verb="CONNECT",version="v1"} 1
`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"/v1/pods": 4, "apps/v1/replicasets": 3}
	if diff := cmp.Diff(want, watchesIn(metrics)); diff != "" {
		t.Errorf("watches (-want +got):\n%s", diff)
	}
}

func TestWatchesAreBack(t *testing.T) {
	t.Parallel()
	before := map[string]float64{"/v1/pods": 4, "apps/v1/replicasets": 3}
	for name, tc := range map[string]struct {
		now  map[string]float64
		back bool
	}{
		"all":                {map[string]float64{"/v1/pods": 4, "apps/v1/replicasets": 3}, true},
		"more":               {map[string]float64{"/v1/pods": 5, "apps/v1/replicasets": 3, "/v1/nodes": 1}, true},
		"fewer":              {map[string]float64{"/v1/pods": 4, "apps/v1/replicasets": 2}, false},
		"none of a resource": {map[string]float64{"/v1/pods": 4}, false},
		"none":               {nil, false},
	} {
		if got := areBack(before, tc.now); got != tc.back {
			t.Errorf("%s: back %v", name, got)
		}
	}
	if !areBack(nil, nil) {
		t.Error("what was not known is waited for")
	}
}
