package rest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKeepsLimits(t *testing.T) {
	t.Parallel()
	limits := func(item string) string {
		return fmt.Sprintf("kind: LimitRange\nmetadata: {name: l, creationTimestamp: 2026-01-01T11:00:00Z}\nspec: {limits: [{%s}]}", item)
	}
	made := func(kind, at, spec string) string {
		return fmt.Sprintf("kind: %s\nmetadata: {name: web, creationTimestamp: 2026-01-01T%sZ}\nspec: {%s}", kind, at, spec)
	}
	const between = "type: Container, min: {cpu: 100m}, max: {cpu: '1'}"
	const small = "containers: [{name: app, resources: {requests: {cpu: 50m}, limits: {cpu: '1'}}}]"
	const huge = "containers: [{name: app, resources: {requests: {memory: 7Ei}, limits: {memory: 7Ei}}}]" // more than an int64 has of thousandths
	for name, test := range map[string]struct {
		limits, of string
		written    string
		want       []string
	}{
		"within": {limits: between, of: made("Pod", "11:01:00", "containers: [{name: app, resources: {requests: {cpu: 0.1}, limits: {cpu: 1000m}}}]")},
		"too small": {
			limits: between, of: made("Pod", "11:01:00", small),
			want: []string{"pods/default/web: by limitranges/default/l, container app has a request of 50m cpu, and the minimum is 100m"},
		},
		"before the limits":                    {limits: between, of: made("Pod", "10:59:59", small)},
		"at the same time as the limits":       {limits: between, of: made("Pod", "11:00:01", small)},
		"a pod that a client changed":          {limits: between, of: made("Pod", "11:01:00", small), written: "pods/default/web"},
		"limits that a client changed":         {limits: between, of: made("Pod", "11:01:00", small), written: "limitranges/default/l"},
		"limits of claims are not those of it": {limits: "type: PersistentVolumeClaim, min: {cpu: '2'}", of: made("Pod", "11:01:00", small)},
		"an init container without a limit": {
			limits: between, of: made("Pod", "11:01:00", "initContainers: [{name: init, resources: {requests: {cpu: '2'}}}]"),
			want: []string{"pods/default/web: by limitranges/default/l, container init has no limit of cpu, and the maximum is 1; " +
				"container init has a request of 2 cpu, and the maximum is 1"},
		},
		"nearly 64 bits": {
			limits: "type: Container, max: {memory: 1Gi}", of: made("Pod", "11:01:00", huge),
			want: []string{"pods/default/web: by limitranges/default/l, container app has a request of 7Ei memory, and the maximum is 1Gi; " +
				"container app has a limit of 7Ei memory, and the maximum is 1Gi"},
		},
		"a whole pod": {
			limits: "type: Pod, max: {cpu: 150m}",
			of: made("Pod", "11:01:00", "overhead: {cpu: '1'}, containers: [{name: a, resources: {requests: {cpu: 100m}, limits: {cpu: 100m}}}, "+
				"{name: b, resources: {limits: {cpu: 100m}}}]"),
			want: []string{"pods/default/web: by limitranges/default/l, the pod has a limit of 200m cpu, and the maximum is 150m"},
		},
		"a pod with resources of its own": {
			limits: "type: Pod, max: {cpu: 150m, hugepages-2Mi: 2Mi}",
			of:     made("Pod", "11:01:00", "resources: {requests: {cpu: 100m}, limits: {cpu: 150m}}, containers: [{name: a}]"),
		},
		"a claim": {
			limits: "type: PersistentVolumeClaim, min: {storage: 1Gi}, max: {storage: 2Gi}", of: made("PersistentVolumeClaim", "11:01:00", "resources: {requests: {storage: 3Gi}}"),
			want: []string{"persistentvolumeclaims/default/web: by limitranges/default/l, the claim has a request of 3Gi storage, and the maximum is 2Gi"},
		},
		"a claim within": {limits: "type: PersistentVolumeClaim, max: {storage: 2Gi}", of: made("PersistentVolumeClaim", "11:01:00", "resources: {requests: {storage: 2Gi}}")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stateOf(t, limits(test.limits), test.of)
			s.Written[test.written] = true
			if diff := cmp.Diff(test.want, breachesOf(s, keepsLimits)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
