package story

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
)

// faults are what owners do while requests of a controller or of the scheduler are refused, or what it sees is late.
func faults() (all []Story) {
	type fault struct {
		name string
		step Step
		of   []string // the workloads whose controllers ask for it, or see it
	}
	var kinds []fault
	refuse := func(from, verb, resource string, nth int) {
		fields := map[string]any{"from": from, "verb": verb, "resource": resource, "status": 500}
		name := fmt.Sprintf("%s-%s-refused", verb, resource)
		if nth > 0 {
			fields["nth"] = nth
			name += fmt.Sprintf("-%d", nth)
		}
		kinds = append(kinds, fault{name, Step{"answer": fields}, users[resource]})
	}
	for _, resource := range []string{"pods", "replicasets", "controllerrevisions", "jobs/status", "deployments/status", "replicasets/status", "statefulsets/status", "endpointslices"} {
		for _, verb := range []string{"create", "update", "patch", "delete"} {
			if slices.Contains(writes[resource], verb) {
				refuse(record.ControllerManager, verb, resource, 0)
				refuse(record.ControllerManager, verb, resource, 1)
			}
		}
	}
	late := func(from, resource, name string) {
		kinds = append(kinds, fault{name, Step{"stale": map[string]any{"from": from, "resource": resource}}, users[resource]})
	}
	for _, resource := range []string{"pods", "replicasets", "jobs", "statefulsets", "services", "endpointslices"} {
		late(record.ControllerManager, resource, resource+"-late")
	}
	refuse(record.Scheduler, "create", "pods/binding", 0)
	refuse(record.Scheduler, "create", "pods/binding", 1)
	late(record.Scheduler, "pods", "pods-late-to-the-scheduler")
	deeds := append(owners(), services()...)
	for _, k := range kinds {
		for _, s := range deeds {
			if s.Alone || !slices.ContainsFunc(k.of, func(workload string) bool { return strings.HasPrefix(s.Name, workload+"-") }) || strings.HasSuffix(s.Name, "-label") {
				continue
			}
			s.Name += "-while-" + k.name
			s.Acts = slices.Clone(s.Acts)
			step := k.step
			s.Acts[0].Fault = &step
			all = append(all, s)
		}
	}
	return all
}

// writes are the verbs with which controllers write a resource.
var writes = map[string][]string{
	"pods": {"create", "patch", "delete"}, "replicasets": {"create", "update", "delete"}, "controllerrevisions": {"create", "update", "delete"},
	"jobs/status": {"update", "patch"}, "deployments/status": {"update"}, "replicasets/status": {"update"}, "statefulsets/status": {"update"}, "endpointslices": {"create", "update", "delete"},
}

// users are the workloads whose controllers write or watch a resource.
var users = map[string][]string{
	"pods": {"deployment", "replicaset", "statefulset", "statefulset-parallel", "daemonset", "job", "job-indexed"}, "replicasets": {"deployment", "recreate", "replicaset"},
	"controllerrevisions": {"statefulset", "statefulset-parallel", "daemonset"}, "jobs": {"job", "job-indexed"}, "jobs/status": {"job", "job-indexed"},
	"pods/binding":       {"deployment", "statefulset", "job"},
	"deployments/status": {"deployment", "recreate"}, "replicasets/status": {"replicaset", "deployment"}, "statefulsets": {"statefulset", "statefulset-parallel"},
	"statefulsets/status": {"statefulset", "statefulset-parallel"}, "endpointslices": {"service", "endpoints"}, "services": {"service", "endpoints"},
}
