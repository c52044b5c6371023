package story

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// devices are claims of devices that a driver publishes. No driver runs: pods are scheduled, and their containers wait.
func devices() (all []Story) {
	for _, some := range [][]Story{wholeDevices(), sharedDevices(), taintedDevices(), extendedResources()} {
		all = append(all, some...)
	}
	return all
}

// ofDevices is a story of devices, alone in its scenario: classes and slices have no namespace, and a scheduler sees all.
func ofDevices(name string, documents []string, acts ...Act) Story {
	return Story{Name: name, Objects: objects(strings.Join(documents, "\n---\n")), Acts: acts, Alone: true}
}

// deviceClass has the devices of the driver that is named after the story. More is what else its spec has.
func deviceClass(name, more string) string {
	return fmt.Sprintf("{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: %s.%s.example.com}, spec: {selectors: [{cel: {expression: 'device.driver == \"%s.example.com\"'}}]%s}}", name, here, here, more)
}

// deviceSlice is a slice of a pool of so many slices, on node-a. Has is what it publishes.
func deviceSlice(name, driver, pool string, slices int, has string) string {
	return fmt.Sprintf("{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: %s-%s}, spec: {driver: %s.example.com, nodeName: node-a, pool: {name: %s, generation: 1, resourceSliceCount: %d}, %s}}", here, name, driver, pool, slices, has)
}

// two is a slice with two devices.
func two() string {
	return deviceSlice("a", here, "node-a", 1, "devices: [{name: dev-0}, {name: dev-1}]")
}

// request asks for a device of a class.
func request(name, class, more string) string {
	return fmt.Sprintf("{name: %s, exactly: {deviceClassName: %s.%s.example.com%s}}", name, class, here, more)
}

func claim(name string, requests ...string) string {
	return fmt.Sprintf("{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: %s}, spec: {devices: {requests: [%s]}}}", name, strings.Join(requests, ", "))
}

// claimer is a pod with a claim of its name.
func claimer(name string) string {
	return fmt.Sprintf("{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {terminationGracePeriodSeconds: 1, resourceClaims: [{name: %s, resourceClaimName: %s}], containers: [{name: app, image: \"registry.k8s.io/pause:3.10\"}]}}", name, name, name)
}

// claimers are pods with a claim each, which all make the same request.
func claimers(asks string, names ...string) (documents []string) {
	for _, name := range names {
		documents = append(documents, claim(name, asks))
	}
	for _, name := range names {
		documents = append(documents, claimer(name))
	}
	return documents
}

func wholeDevices() []Story {
	return []Story{
		ofDevices("one-each", append([]string{deviceClass("gpu", ""), two()}, claimers(request("r", "gpu", ""), "one", "two", "three")...),
			act("a pod and its claim deleted", remove("pods/"+here+"/one", ""), remove("resourceclaims/"+here+"/one", "")),
			act("slice grown", patch("resourceslices/"+here+"-a", "{spec: {pool: {generation: 2}, devices: [{name: dev-0}, {name: dev-1}, {name: dev-2}]}}")),
		),
		ofDevices("configured-by-classes", []string{
			deviceClass("gpu", fmt.Sprintf(", config: [{opaque: {driver: %s.example.com, parameters: {from: gpu}}}]", here)),
			deviceClass("net", fmt.Sprintf(", config: [{opaque: {driver: %s.example.com, parameters: {from: net}}}]", here)),
			two(), claim("both", request("first", "gpu", ""), request("second", "net", "")), claimer("both"),
		}),
		ofDevices("claim-of-template", []string{
			deviceClass("gpu", ""), two(),
			fmt.Sprintf("{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: each}, spec: {spec: {devices: {requests: [%s]}}}}", request("r", "gpu", "")),
			"{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {terminationGracePeriodSeconds: 1, resourceClaims: [{name: dev, resourceClaimTemplateName: each}], containers: [{name: app, image: \"registry.k8s.io/pause:3.10\", resources: {claims: [{name: dev}]}}]}}}}",
		}, act("scaled to 1", patch("deployments/"+here+"/web", "{spec: {replicas: 1}}")), act("scaled to 2", patch("deployments/"+here+"/web", "{spec: {replicas: 2}}"))),
	}
}

// sharedDevices have capacity or counters in common.
func sharedDevices() (all []Story) {
	capacity := deviceSlice("a", here, "node-a", 1, "devices: [{name: dev-0, allowMultipleAllocations: true, capacity: {memory: {value: 8Gi, requestPolicy: {default: 1Gi, validRange: {min: 1Gi}}}}}]")
	capacities := map[string]string{"short": "memory", "full": here + ".example.com/memory"}
	for _, name := range slices.Sorted(maps.Keys(capacities)) {
		asks := func(amount string) string {
			return request("r", "gpu", fmt.Sprintf(", capacity: {requests: {%s: %s}}", capacities[name], amount))
		}
		all = append(all, ofDevices("capacity-by-"+name+"-name", []string{
			deviceClass("gpu", ""), capacity, claim("one", asks("2Gi")), claim("two", asks("5Gi")), claim("three", asks("5Gi")), claimer("one"), claimer("two"), claimer("three"),
		}))
	}
	counters := func(name, driver, value string) string {
		return deviceSlice(name, driver, "pool", 2, fmt.Sprintf("sharedCounters: [{name: c, counters: {memory: {value: %s}}}]", value))
	}
	uses := func(name, value, more string) string {
		return fmt.Sprintf("{name: %s, consumesCounters: [{counterSet: c, counters: {memory: {value: %s}}}]%s}", name, value, more)
	}
	parts := func(name, driver string, devices ...string) string {
		return deviceSlice(name, driver, "pool", 2, fmt.Sprintf("devices: [%s]", strings.Join(devices, ", ")))
	}
	const shared = ", allowMultipleAllocations: true, capacity: {memory: {value: 4Gi}}"
	half := request("r", "gpu", ", capacity: {requests: {memory: 4Gi}}")
	other := fmt.Sprintf("{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: other.%s.example.com}, spec: {selectors: [{cel: {expression: 'device.driver == \"%s-other.example.com\"'}}]}}", here, here)
	return append(all,
		ofDevices("partitions", append([]string{deviceClass("gpu", ""), counters("c", here, "8Gi"), parts("d", here, uses("whole", "8Gi", ""), uses("half-0", "4Gi", ""), uses("half-1", "4Gi", ""))},
			claimers(request("r", "gpu", ""), "one", "two", "three")...)),
		ofDevices("partitions-shared", []string{
			deviceClass("gpu", ""), counters("c", here, "8Gi"), parts("d", here, uses("half-0", "8Gi", shared), uses("half-1", "8Gi", shared)), claim("one", half), claim("two", half), claimer("one"),
		}, act("another pod made", create(objects(claimer("two"))...))),
		ofDevices("two-drivers-one-pool", []string{
			deviceClass("gpu", ""), other,
			counters("c", here, "8Gi"), parts("d", here, uses("dev-0", "8Gi", ""), uses("dev-1", "8Gi", "")),
			counters("oc", here+"-other", "16Gi"), parts("od", here+"-other", uses("dev-0", "8Gi", ""), uses("dev-1", "8Gi", "")),
			claim("one", request("r", "gpu", "")), claim("two", request("r", "gpu", "")), claim("three", request("r", "other", "")), claim("four", request("r", "other", "")),
			claimer("one"), claimer("three"), claimer("four"), claimer("two"),
		}))
}

// taintedDevices are devices whose taint comes while pods have them, with each kind of toleration.
func taintedDevices() (all []Story) {
	tolerations := map[string]string{
		"no-toleration": "", "toleration-of-all-effects": ", tolerations: [{key: example.com/broken, operator: Exists}]",
		"toleration-of-the-effect": ", tolerations: [{key: example.com/broken, operator: Exists, effect: NoExecute}]", "toleration-of-everything": ", tolerations: [{operator: Exists}]",
	}
	for _, name := range slices.Sorted(maps.Keys(tolerations)) {
		taint := patch("resourceslices/"+here+"-a", "{spec: {pool: {generation: 2}, devices: [{name: dev-0, taints: [{key: example.com/broken, value: \"yes\", effect: NoExecute}]}, {name: dev-1}]}}")
		all = append(all, ofDevices("tainted-"+name, append([]string{deviceClass("gpu", ""), two()}, claimers(request("r", "gpu", tolerations[name]), "one")...), act("a device tainted NoExecute", taint)))
	}
	return all
}

// extendedResources are devices that pods ask for as resources, by the name that a class gives them.
func extendedResources() []Story {
	class := func(name string) string { return deviceClass(name, ", extendedResourceName: example.com/"+here) }
	asks := fmt.Sprintf("{apiVersion: v1, kind: Pod, metadata: {name: asks}, spec: {terminationGracePeriodSeconds: 1, containers: [{name: app, image: \"registry.k8s.io/pause:3.10\", resources: {limits: {example.com/%s: 1}}}]}}", here)
	made := act("a pod made", create(objects(asks)...))
	newer := "deviceclasses/newer." + here + ".example.com"
	return []Story{
		ofDevices("extended-resource", []string{class("gpu"), two(), asks}),
		ofDevices("extended-resource-of-two-classes", []string{class("gpu"), class("newer"), two()}, act("the newer class deleted", remove(newer, "")), made),
		ofDevices("extended-resource-moved", []string{class("gpu"), class("newer"), two()}, act("the resource taken off a class", patch(newer, "{spec: {extendedResourceName: null}}")), made),
	}
}
