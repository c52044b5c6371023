package story

import "fmt"

// services are Services with pods, and what is done to both.
func services() (all []Story) {
	service := func(more string) map[string]any {
		return object("{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: http}], %s}}", more)
	}
	of := func(port int) string {
		return fmt.Sprintf(`{metadata: {labels: {app: web}}, spec: {terminationGracePeriodSeconds: 1, containers: [{name: app, image: "registry.k8s.io/pause:3.10", ports: [{name: http, containerPort: %d}]}]}}`, port)
	}
	deployment := object("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: %s}}", of(80))
	plain := service("type: ClusterIP")
	slices := Step{"delete": map[string]any{"each": "endpointslices/" + here}}
	moved := patch(ref(deployment), "{spec: {template: {spec: {containers: [{name: app, image: \"registry.k8s.io/pause:3.10\", ports: [{name: http, containerPort: 81}]}]}}}}")
	scaled := func(n int) Step { return patch(ref(deployment), fmt.Sprintf("{spec: {replicas: %d}}", n)) }
	add := func(name string, objects []map[string]any, acts ...Act) {
		all = append(all, Story{Name: name, Objects: objects, Acts: acts})
	}
	both := []map[string]any{plain, deployment}
	add("service-pods-scaled", both, act("scaled to 4", scaled(4)), act("scaled to 0", scaled(0)), act("scaled to 1", scaled(1)))
	add("service-port-moved", both, act("the port of the pods changed", moved))
	add("service-remade", both, act("deleted and made again", remove(ref(plain), ""), create(plain)))
	add("service-and-pods-remade", both, act("Service and Deployment deleted and made again", remove(ref(plain), ""), remove(ref(deployment), "Background"), create(both...)))
	add("service-slices-deleted", both, act("its EndpointSlices deleted", slices))
	add("service-slices-deleted-and-moved", both, act("its EndpointSlices deleted, and the port of the pods changed", slices, moved))
	add("service-reselected", both, act("another selector", patch(ref(plain), "{spec: {selector: {app: other}}}")), act("the selector back", patch(ref(plain), "{spec: {selector: {app: web}}}")))
	add("service-unselected", both, act("no selector", patch(ref(plain), "{spec: {selector: null}}")), act("the selector back", patch(ref(plain), "{spec: {selector: {app: web}}}")))
	add("service-headless", []map[string]any{service("clusterIP: None"), deployment}, act("scaled to 3", scaled(3)))
	add("two-services", []map[string]any{plain, with(plain, "{metadata: {name: other}}"), deployment}, act("one deleted", remove("services/"+here+"/other", "")), act("scaled to 3", scaled(3)))
	free := object("{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{name: http, port: 80}]}}")
	endpoints := object("{apiVersion: v1, kind: Endpoints, metadata: {name: web}, subsets: [{addresses: [{ip: 240.0.2.1}, {ip: 240.0.2.2}], ports: [{name: http, port: 80}]}]}")
	mirrored := []map[string]any{free, endpoints}
	add("endpoints-changed", mirrored, act("an address removed", patch(ref(endpoints), "{subsets: [{addresses: [{ip: 240.0.2.1}], ports: [{name: http, port: 80}]}]}")), act("emptied", patch(ref(endpoints), "{subsets: null}")))
	add("endpoints-deleted", mirrored, act("Endpoints deleted", remove(ref(endpoints), "")))
	add("endpoints-and-slices-deleted", mirrored, act("EndpointSlices and Endpoints deleted", slices, remove(ref(endpoints), "")))
	add("endpoints-and-service-deleted", mirrored, act("EndpointSlices, Endpoints and Service deleted", slices, remove(ref(endpoints), ""), remove(ref(free), "")))
	add("endpoints-remade", mirrored, act("Endpoints deleted and made again", remove(ref(endpoints), ""), create(endpoints)))
	return all
}
