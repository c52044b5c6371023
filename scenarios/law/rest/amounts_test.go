package rest

import "testing"

func TestHasAmounts(t *testing.T) {
	limited := func(list string) string {
		return manifest("Pod", "web", "", "spec: {containers: [{name: app, resources: {"+list+"}}]}")
	}
	judge(t, hasAmounts, map[string]judged{
		"something":                  {manifests: []string{limited("limits: {cpu: 1}, requests: {memory: 1Gi}")}},
		"nothing":                    {manifests: []string{limited("limits: {cpu: 0}")}},
		"less than nothing":          {[]string{limited("limits: {cpu: -1}")}, []string{"pods/default/web: .spec.containers[].resources.limits[cpu] is -1"}},
		"a little less":              {[]string{limited("requests: {cpu: -1m, memory: 1Gi}")}, []string{"pods/default/web: .spec.containers[].resources.requests[cpu] is -1m"}},
		"two of them":                {[]string{limited("requests: {cpu: -1m, memory: -1Gi}")}, []string{"pods/default/web: .spec.containers[].resources.requests[cpu] is -1m", "pods/default/web: .spec.containers[].resources.requests[memory] is -1Gi"}},
		"in a template":              {[]string{workload("Deployment", "web", "", "template: {spec: {overhead: {cpu: -1}, resources: {limits: {cpu: -1}}}}", "")}, []string{"deployments/default/web: .spec.template.spec.resources.limits[cpu] is -1"}},
		"in a revision":              {manifests: []string{manifest("ControllerRevision", "web", "", "data: {spec: {resources: {limits: {cpu: -1}}}}")}},
		"in a quota":                 {[]string{manifest("ResourceQuota", "web", "", "spec: {hard: {pods: -1}}\nstatus: {used: {pods: 0}}")}, []string{"resourcequotas/default/web: .spec.hard[pods] is -1"}},
		"in use":                     {[]string{manifest("ResourceQuota", "web", "", "spec: {hard: {pods: 1}}\nstatus: {used: {pods: -1}}")}, []string{"resourcequotas/default/web: .status.used[pods] is -1"}},
		"in limits":                  {[]string{manifest("LimitRange", "web", "", "spec: {limits: [{type: Pod, min: {cpu: -1}, max: {cpu: 1}}]}")}, []string{"limitranges/default/web: .spec.limits[].min[cpu] is -1"}},
		"on a node":                  {[]string{nodeNamed("a", "", "", "example.com/gpu: -1")}, []string{"nodes/a: .status.allocatable[example.com/gpu] is -1"}},
		"in another field":           {manifests: []string{limited("restarts: {cpu: -1}")}},
		"no amount":                  {manifests: []string{manifest("ConfigMap", "web", "annotations: {limits: '-1'}", "data: {limits: '-1', max: '{cpu: -1}'}")}},
		"in a resource of a client":  {manifests: []string{manifest("Widget", "web", "", "spec: {max: {angle: 90}, min: {angle: -90}}")}},
		"in the schema of a client":  {manifests: []string{manifest("CustomResourceDefinition", "widgets.example.com", "", "spec: {schema: {default: {replicas: -1}}}")}},
		"a device, which has a type": {manifests: []string{manifest("ResourceSlice", "a", "", "spec: {devices: [{capacity: {memory: {value: 1Gi}}}]}")}},
	})
}
