package rest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCountsQuota(t *testing.T) {
	t.Parallel()
	quota := func(hard, statusHard, used string) string {
		return "kind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {" + hard + "}}\nstatus: {hard: {" + statusHard + "}, used: {" + used + "}}"
	}
	same := func(hard, used string) string { return quota(hard, hard, used) }
	const web = `
kind: Pod
metadata: {name: web}
spec:
  overhead: {cpu: 10m}
  initContainers: [{name: init, resources: {requests: {memory: 1Gi}}}]
  containers: [{name: app, resources: {requests: {cpu: 90m, memory: 512Mi}}}]
`
	const ended = "kind: Pod\nmetadata: {name: ended}\nspec: {containers: [{name: app, resources: {requests: {cpu: '5'}}}]}\nstatus: {phase: Failed}"
	const other = "kind: Pod\nmetadata: {name: web, namespace: other}\nspec: {containers: [{name: app}]}"
	const going = "kind: Pod\nmetadata: {name: going, deletionTimestamp: 2026-01-01T11:59:00Z}\nspec: {containers: [{name: app}]}"
	const resized = `
kind: Pod
metadata: {name: resized}
spec: {containers: [{name: app, resources: {requests: {cpu: '1'}}}]}
status: {containerStatuses: [{name: app, allocatedResources: {cpu: '2'}}]}
`
	const set = "kind: Deployment\nmetadata: {name: web}"
	for name, test := range map[string]struct {
		manifests []string
		written   string
		want      []string
	}{
		"all is right": {manifests: []string{
			same("pods: 9, count/pods: 9, requests.cpu: 1, memory: 2Gi, count/deployments.apps: 1, services: 0", "pods: 1, count/pods: 2, requests.cpu: 100m, memory: 1Gi, count/deployments.apps: 1, services: 0"),
			web, ended, other, set,
		}},
		"all is wrong": {
			manifests: []string{
				same("pods: 9, count/pods: 9, requests.cpu: 1, memory: 2Gi, count/deployments.apps: 1, services: 0", "pods: 2, count/pods: 1, requests.cpu: 90m, memory: 512Mi, services: 1"),
				web, ended, other, set,
			},
			want: []string{"resourcequotas/default/q: status.used has no count/deployments.apps, where 1 are used; status.used says 1 of count/pods, where 2 are used; " +
				"status.used says 512Mi of memory, where 1Gi are used; status.used says 2 of pods, where 1 are used; status.used says 90m of requests.cpu, where 100m are used; " +
				"status.used says 1 of services, where 0 are used"},
		},
		"another group, and unknown names": {manifests: []string{same("count/deployments.example.com: 1, requests.nvidia.com/gpu: 1, limits.cpu: 1, services.nodeports: 1", ""), set}},
		"it limits another number": {
			manifests: []string{quota("pods: 9, services: 1", "pods: 8", "pods: 3"), web},
			want:      []string{"resourcequotas/default/q: status.hard is {pods=8}, and spec.hard {pods=9, services=1}"},
		},
		"the same number, written otherwise": {manifests: []string{quota("pods: '1000'", "pods: 1k", "pods: 1"), web}},
		"with a scope":                       {manifests: []string{"kind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {pods: 1}, scopes: [BestEffort]}", web}},
		"while a pod goes":                   {manifests: []string{same("pods: 9", "pods: 5"), web, going}},
		"while the namespace goes":           {manifests: []string{same("pods: 9", "pods: 5"), "kind: Namespace\nmetadata: {name: default, deletionTimestamp: 2026-01-01T11:59:00Z}"}},
		"while a pod is resized":             {manifests: []string{same("cpu: 9", "cpu: 5"), resized}},
		"a pod with resources of its own":    {manifests: []string{same("cpu: 9", "cpu: 5"), "kind: Pod\nmetadata: {name: web}\nspec: {resources: {requests: {cpu: 1}}}"}},
		"a pod that may have been resized":   {manifests: []string{same("cpu: 9", "cpu: 5"), web}, written: "pods/default/web"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stateOf(t, test.manifests...)
			s.Written[test.written] = true
			if diff := cmp.Diff(test.want, breachesOf(s, countsQuota)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
