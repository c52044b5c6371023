package story

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// devices are claims of devices that a driver publishes. No driver runs: pods are scheduled, and their containers wait.
func devices() (all []Story) {
	return slices.Concat(wholeDevices(), sharedDevices(), taintedDevices(), extendedResources(), requests(), changedDevices())
}

// ofDevices is a story of devices. Classes, drivers and slices are named after its namespace, since they are in none.
func ofDevices(name string, documents []string, acts ...Act) Story {
	return Story{Name: name, Objects: objects(strings.Join(documents, "\n---\n")), Acts: acts}
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
	second := act("a newer class made", create(objects(class("newer"))...))
	return []Story{
		ofDevices("extended-resource", []string{class("gpu"), two(), asks}),
		ofDevices("extended-resource-of-two-classes", []string{class("gpu"), two()}, second, act("the newer class deleted", remove(newer, "")), made),
		ofDevices("extended-resource-moved", []string{class("gpu"), two()}, second, act("the resource taken off a class", patch(newer, "{spec: {extendedResourceName: null}}")), made),
	}
}

// requests are pods with claims whose requests have each form.
func requests() (all []Story) {
	const attributes = "attributes: {model: {string: a}, size: {int: 3}, fast: {bool: true}, release: {version: 1.2.3}, " + here + ".example.com/full: {string: b}}, capacity: {memory: {value: 8Gi}}"
	published := deviceSlice("a", here, "node-a", 1, fmt.Sprintf("devices: [{name: dev-0, %s}, {name: dev-1, %s}, {name: dev-2}]", attributes, attributes))
	// Each of so many pods asks the same.
	add := func(name string, pods int, asks ...string) {
		documents := []string{deviceClass("gpu", ""), published}
		for _, name := range []string{"one", "two", "three"}[:pods] {
			documents = append(documents, claim(name, asks...), claimer(name))
		}
		all = append(all, ofDevices(name, documents,
			act("a pod and its claim deleted", remove("pods/"+here+"/one", ""), remove("resourceclaims/"+here+"/one", "")),
			act("both made again", create(objects(claim("one", asks...))...), create(objects(claimer("one"))...))))
	}
	const own = `device.attributes["` + here + `.example.com"]`
	selectors := map[string]string{
		"text": own + `.model == "a"`, "number": own + ".size >= 3", "truth": own + ".fast", "version": own + `.release.isGreaterThan(semver("1.2.0"))`, "full": own + `.full == "b"`,
		"amount": `device.capacity["` + here + `.example.com"].memory.compareTo(quantity("4Gi")) > 0`,
	}
	for _, name := range slices.Sorted(maps.Keys(selectors)) { // the third device has no attributes
		add("selector-"+name, 2, request("r", "gpu", fmt.Sprintf(", selectors: [{cel: {expression: 'has(%s.model) && %s'}}]", own, selectors[name])))
	}
	first := func(class string) string {
		return fmt.Sprintf("{name: r, firstAvailable: [{name: none, deviceClassName: gpu.%s.example.com, selectors: [{cel: {expression: 'false'}}]}, {name: some, deviceClassName: %s.%s.example.com}]}", here, class, here)
	}
	add("two-of-a-class", 1, request("r", "gpu", ", count: 2"))
	add("three-of-a-class", 2, request("r", "gpu", ", allocationMode: ExactCount, count: 3"))
	add("all-of-a-class", 1, request("r", "gpu", ", allocationMode: All"))
	add("all-of-a-class-twice", 2, request("r", "gpu", ", allocationMode: All"))
	add("two-requests", 1, request("a", "gpu", ""), request("b", "gpu", ""))
	add("first-available", 3, first("gpu"))
	matching := func(constraint string) string {
		return strings.Replace(claim("one", request("a", "gpu", ""), request("b", "gpu", "")), "requests:", constraint+", requests:", 1)
	}
	for name, constraint := range map[string]string{
		"match": "constraints: [{matchAttribute: " + here + ".example.com/model}]", "match-some": "constraints: [{requests: [a], matchAttribute: " + here + ".example.com/model}]",
		"match-twice": "constraints: [{matchAttribute: " + here + ".example.com/model}, {matchAttribute: " + here + ".example.com/size}]",
	} {
		all = append(all, ofDevices("constraint-"+name, []string{deviceClass("gpu", ""), published, matching(constraint), claimer("one")}))
	}
	return byName(all)
}

// changedDevices are slices, classes and claims that change while pods have devices, or wait for them.
func changedDevices() (all []Story) {
	add := func(name string, documents []string, acts ...Act) {
		all = append(all, ofDevices(name, documents, acts...))
	}
	class, slice := deviceClass("gpu", ""), "resourceslices/"+here+"-a"
	three := claimers(request("r", "gpu", ""), "one", "two", "three")
	and := func(documents ...string) []string { return append(documents, three...) }
	published := act("the slice published", create(objects(two())...))
	add("slice-comes-late", and(class), published)
	add("class-comes-late", and(two()), act("the class made", create(objects(class)...)))
	add("class-is-deleted", and(class, two()), act("the class deleted", remove("deviceclasses/gpu."+here+".example.com", "")), act("a pod deleted", remove("pods/"+here+"/one", "")), act("the class made again", create(objects(class)...)))
	add("slice-is-deleted", and(class, two()), act("the slice deleted", remove(slice, "")), act("a pod deleted", remove("pods/"+here+"/one", "")), published)
	add("names-of-attributes", []string{class, deviceSlice("a", here, "node-a", 1, "devices: [{name: dev-0, attributes: {a.example.com/b: {bool: true}}}, {name: dev-1, attributes: {a/b/c: {bool: true}}}]")})
	add("names-of-capacities", []string{class, deviceSlice("a", here, "node-a", 1, "devices: [{name: dev-0, capacity: {a.example.com/b: {value: 1}}}, {name: dev-1, capacity: {a/b/c: {value: 1}}}]")})
	add("slice-shrinks", and(class, two()), act("a device removed", patch(slice, "{spec: {pool: {generation: 2}, devices: [{name: dev-1}]}}")), act("put back", patch(slice, "{spec: {pool: {generation: 3}, devices: [{name: dev-0}, {name: dev-1}]}}")))
	half := func(name, device string) string {
		return deviceSlice(name, here, "pool", 2, "devices: [{name: "+device+"}]")
	}
	add("pool-is-complete-late", and(class, half("a", "dev-0")), act("the other slice published", create(objects(half("b", "dev-1"))...)))
	add("pool-has-another-generation", and(class, half("a", "dev-0"), half("b", "dev-1")),
		act("one slice has a newer generation", patch(slice, "{spec: {pool: {generation: 2}}}")), act("the other one, too", patch("resourceslices/"+here+"-b", "{spec: {pool: {generation: 2}}}")))
	everywhere := strings.Replace(two(), "nodeName: node-a", "allNodes: true", 1)
	chosen := strings.Replace(two(), "nodeName: node-a", "nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [node-b]}]}]}", 1)
	for name, where := range map[string]string{"all-nodes": everywhere, "a-selector": chosen} {
		add("slice-of-"+name, and(class, where), act("a pod and its claim deleted", remove("pods/"+here+"/one", ""), remove("resourceclaims/"+here+"/one", "")))
	}
	shared := strings.NewReplacer("name: two}", "name: other}", "resourceClaimName: two", "resourceClaimName: one").Replace(claimer("two"))
	add("claim-of-two-pods", []string{class, two(), claim("one", request("r", "gpu", "")), claimer("one"), shared}, act("a pod deleted", remove("pods/"+here+"/one", "")), act("the other pod deleted", remove("pods/"+here+"/other", "")))
	add("claim-comes-late", []string{class, two(), claimer("one")}, act("the claim made", create(objects(claim("one", request("r", "gpu", "")))...)))
	add("claim-is-deleted-first", and(class, two()), act("a claim deleted", remove("resourceclaims/"+here+"/one", "")), act("its pod deleted", remove("pods/"+here+"/one", "")))
	for _, effect := range []string{"NoSchedule", "NoExecute", "None"} {
		taint := fmt.Sprintf("{name: dev-0, taints: [{key: example.com/broken, effect: %s}]}", effect)
		add("all-tainted-"+strings.ToLower(effect), and(class, deviceSlice("a", here, "node-a", 1, "devices: ["+taint+"]")), act("the taint removed", patch(slice, "{spec: {pool: {generation: 2}, devices: [{name: dev-0}]}}")))
	}
	return byName(all)
}

// taintRules are rules that taint devices which pods have, in each version of their API: one of them is served, if its gate is on.
func taintRules() (all []Story) {
	for _, version := range []string{"v1alpha3", "v1beta2"} {
		rule := func(name, effect string) string {
			return fmt.Sprintf("{apiVersion: resource.k8s.io/%s, kind: DeviceTaintRule, metadata: {name: %s-%s}, spec: {deviceSelector: {driver: %s.example.com, device: dev-0}, taint: {key: example.com/broken, effect: %s}}}", version, here, name, here, effect)
		}
		all = append(all, ofDevices("taint-rule-"+version, append([]string{deviceClass("gpu", ""), two()}, claimers(request("r", "gpu", ""), "one", "two", "three")...),
			act("a rule NoSchedule made", create(objects(rule("first", "NoSchedule"))...)),
			act("the slice changed", patch("resourceslices/"+here+"-a", "{spec: {pool: {generation: 2}, devices: [{name: dev-0}, {name: dev-1}, {name: dev-2}]}}")),
			act("a rule NoExecute made", create(objects(rule("second", "NoExecute"))...)),
			act("the rules deleted", remove("devicetaintrules/"+here+"-first", ""), remove("devicetaintrules/"+here+"-second", ""))))
	}
	return all
}
