package story

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// parts are subresources that a client writes with values of its own.
func parts() (all []Story) {
	return slices.Concat(bindings(), scales(), statuses(), definitions())
}

// bindings are pods that a client binds to a node, with metadata that the pod gets.
func bindings() (all []Story) {
	pod := with(object("{apiVersion: v1, kind: Pod, metadata: {name: late}, spec: %s}", podSpec), "{spec: {schedulerName: example.com/none}}")
	metadata := map[string]string{
		"plain": "labels: {tier: back}, annotations: {note: kept}", "bad-label": "labels: {tier: \"not valid!\"}", "bad-label-name": "labels: {\"not valid!\": back}",
		"bad-annotation-name": "annotations: {\"not valid!\": back}", "large-annotation": "annotations: {note: " + strings.Repeat("x", 300<<10) + "}",
		"own-annotation": "annotations: {kubernetes.io/config.mirror: x}", "empty": "labels: {\"\": \"\"}",
	}
	for _, name := range slices.Sorted(maps.Keys(metadata)) {
		binding := object("{apiVersion: v1, kind: Binding, metadata: {name: late, %s}, target: {apiVersion: v1, kind: Node, name: node-a}}", metadata[name])
		all = append(all, Story{Name: "binding-" + name, Objects: []map[string]any{pod}, Acts: []Act{
			act("bound", Step{"create": map[string]any{"subresource": "pods/binding", "object": binding}}),
			labeled(ref(pod)),
		}})
	}
	return all
}

// scales are workloads that are scaled by their subresource.
func scales() (all []Story) {
	for _, w := range workloads() {
		if !slices.Contains(w.can, "scale") {
			continue
		}
		scale := func(replicas int) Step {
			return Step{"put": map[string]any{"object": ref(w.o), "subresource": "scale", "merge": map[string]any{"spec": map[string]any{"replicas": replicas}}}}
		}
		all = append(all, Story{Name: w.name + "-scale", Objects: []map[string]any{w.o}, Acts: []Act{
			act("scaled to 4 by its scale", scale(4)), act("scaled to -1 by its scale", scale(-1)), act("scaled to 0 by its scale", scale(0)), act("scaled to 1 by its scale", scale(1)),
		}})
	}
	return all
}

// amounts are quantities at and beyond what their types hold.
var amounts = map[string]string{
	"int64": "9223372036854775807", "beyond-int64": "9223372036854775808", "exa": "16Ei", "exponent": "1e30", "fraction": "1500m", "zero": "0",
	"negative": "-1Gi", "negative-fraction": "-9.5Gi", "below-int64": "-9223372036854775809",
}

// statuses are those of claims, nodes and workloads that a client writes.
func statuses() (all []Story) {
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		q := amounts[name]
		volume := object("{apiVersion: v1, kind: PersistentVolume, metadata: {name: %s}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: \"\", claimRef: {namespace: %s, name: data}, hostPath: {path: /tmp/%s}}}", here, here, here)
		claim := object("{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], storageClassName: \"\", volumeName: %s, resources: {requests: {storage: 1Gi}}}}", here)
		all = append(all, Story{Name: "bound-claim-" + name, Objects: []map[string]any{volume, claim}, Acts: []Act{
			act("its capacity written", patch(ref(claim), fmt.Sprintf("{status: {capacity: {storage: %q}}}", q))),
			act("its allocated resources written", patch(ref(claim), fmt.Sprintf("{status: {allocatedResources: {storage: %q}}}", q))),
			labeled(ref(claim)),
		}})
	}
	for _, w := range workloads() {
		all = append(all, Story{Name: w.name + "-status", Objects: []map[string]any{w.o}, Acts: []Act{
			act("its status emptied", patch(ref(w.o), "{status: null}")), labeled(ref(w.o)),
		}})
	}
	return all
}

// definitions are kinds of other shapes, with an object of each.
func definitions() (all []Story) {
	const versions = "versions: [{name: v1, served: true, storage: true, %s}]"
	schema := func(properties string) string {
		return "schema: {openAPIV3Schema: {type: object, " + properties + "}}"
	}
	const spec = "properties: {spec: {type: object, properties: {size: {type: integer}, url: {type: string, maxLength: 64}}}}"
	const both = "properties: {spec: {type: object, properties: {size: {type: integer}}}, status: {type: object, properties: {size: {type: integer}}}}"
	shapes := map[string]string{
		"status-without-schema": "subresources: {status: {}}, " + schema(spec), "status": "subresources: {status: {}}, " + schema(both),
		"no-properties": "subresources: {status: {}}, " + schema("x-kubernetes-preserve-unknown-fields: true"), "plain": schema(both),
		"scale":         "subresources: {status: {}, scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}, " + schema(both),
		"defaults":      "subresources: {status: {}}, " + schema("properties: {spec: {type: object, default: {}, properties: {size: {type: integer, default: 3}}}, status: {type: object, default: {size: 1}, properties: {size: {type: integer}}}}"),
		"nullable":      "subresources: {status: {}}, " + schema("properties: {spec: {type: object, nullable: true, properties: {size: {type: integer}}}, status: {type: object, nullable: true, properties: {size: {type: integer}}}}"),
		"int-or-string": "subresources: {status: {}}, " + schema("properties: {spec: {type: object, properties: {size: {x-kubernetes-int-or-string: true}}}}"),
		"rules":         "subresources: {status: {}}, " + schema("x-kubernetes-validations: [{rule: 'self.metadata.name.size() > 0'}, {rule: '!has(self.spec) || self.spec == oldSelf.spec || true', optionalOldSelf: false}], "+spec),
		"list-of-maps":  "subresources: {status: {}}, " + schema("properties: {spec: {type: object, properties: {size: {type: integer}, all: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string}}}}}}}"),
		"columns":       "subresources: {status: {}}, additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .status.size}], selectableFields: [{jsonPath: .spec.url}], " + schema(spec),
		"embedded":      "subresources: {status: {}}, " + schema("properties: {spec: {type: object, properties: {size: {type: integer}, of: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}}"),
	}
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		plural, group := here+"things", here+".example.com"
		definition := object("{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: %s.%s}, spec: {group: %s, scope: Namespaced, names: {plural: %s, singular: %sthing, kind: Thing-%s, listKind: Thing-%sList}, %s}}",
			plural, group, group, plural, here, here, here, fmt.Sprintf(versions, shapes[name]))
		thing := object("{apiVersion: %s/v1, kind: Thing-%s, metadata: {name: one}, spec: {size: 1}}", group, here)
		of := plural + "/" + here + "/one"
		put := func(words, merge, part string) Act {
			fields := map[string]any{"object": of, "merge": objects(merge)[0]}
			if part != "" {
				fields["subresource"] = part
			}
			return act(words, Step{"put": fields})
		}
		acts := []Act{
			act("one made", create(thing)), put("its status put", "{status: {size: 2}}", "status"), put("its status emptied", "{status: null}", "status"),
			put("its spec changed", "{spec: {size: 5}}", ""), put("its spec emptied", "{spec: null}", ""),
			act("applied", Step{"serverSideApply": map[string]any{"object": thing, "manager": "owner", "force": true}}),
			put("its status and its metadata put", "{metadata: {labels: {touched: by-owner}}, status: {size: \"text\"}}", "status"),
		}
		if strings.HasPrefix(name, "scale") {
			acts = append(acts, put("scaled", "{spec: {replicas: 4}}", "scale"))
		}
		all = append(all, Story{Name: "definition-" + name, Objects: []map[string]any{definition}, Acts: append(acts, act("all deleted", remove("customresourcedefinitions/"+plural+"."+group, "")))})
	}
	return all
}
