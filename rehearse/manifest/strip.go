package manifest

import (
	"slices"
	"strings"
)

// metadataOf returns the metadata of an object, or nil.
func metadataOf(object map[string]any) map[string]any { return field(object, "metadata") }

// field returns an object below fields of an object, or nil, which is an object without fields.
func field(object map[string]any, path ...string) map[string]any {
	for _, name := range path {
		object, _ = object[name].(map[string]any)
	}
	return object
}

// isDump reports whether a server printed an object: it has what only a server sets.
func isDump(object map[string]any) bool {
	metadata := metadataOf(object)
	return text(metadata, "uid") != "" || text(metadata, "resourceVersion") != "" || text(metadata, "creationTimestamp") != ""
}

// ofServer are the fields of metadata that a server sets. Owners are named by a uid, which an object has once.
var ofServer = []string{
	"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
	"selfLink", "managedFields", "ownerReferences", "clusterName",
}

// strip removes what a server, a controller or kubectl sets.
func strip(object map[string]any) {
	dump := isDump(object)
	delete(object, "status")
	metadata := metadataOf(object)
	for _, name := range ofServer {
		delete(metadata, name)
	}
	removeKeys(metadata, "annotations", func(key string) bool { return slices.Contains(ofTools, key) })
	if strip := strippers[groupKind(object)]; strip != nil {
		strip(object, dump)
	}
}

// ofTools are annotations that are about an earlier state of an object.
var ofTools = []string{
	"kubectl.kubernetes.io/last-applied-configuration",
	"deployment.kubernetes.io/revision", "deployment.kubernetes.io/revision-history",
	"deployment.kubernetes.io/desired-replicas", "deployment.kubernetes.io/max-replicas",
	"deprecated.daemonset.template.generation",
}

// removeKeys removes entries of a map by their keys, and then the map if it is empty.
func removeKeys(object map[string]any, name string, wrong func(key string) bool) {
	entries := field(object, name)
	before := len(entries)
	for key := range entries {
		if wrong(key) {
			delete(entries, key)
		}
	}
	if before > 0 && len(entries) == 0 {
		delete(object, name)
	}
}

// strippers remove what is particular to a kind.
var strippers = map[string]func(object map[string]any, dump bool){
	"Pod":                   stripPod,
	"Service":               stripService,
	"PersistentVolumeClaim": stripClaim,
	"PersistentVolume":      stripVolume,
	"Job.batch":             stripJob,
	"Namespace":             stripNamespace,
}

// stripPod removes what the scheduler and admission add: the node and the credentials.
func stripPod(pod map[string]any, dump bool) {
	if !dump {
		return
	}
	spec := field(pod, "spec")
	delete(spec, "nodeName")
	delete(spec, "ephemeralContainers") // no pod can be created with one
	removeItems(spec, "volumes", isAPIAccess)
	for _, containers := range []string{"initContainers", "containers"} {
		list, _ := spec[containers].([]any)
		for _, container := range list {
			if container, is := container.(map[string]any); is {
				removeItems(container, "volumeMounts", isAPIAccess)
			}
		}
	}
}

// isAPIAccess reports whether a volume or a mount is the one with a service account's token that admission adds.
func isAPIAccess(volume map[string]any) bool {
	return strings.HasPrefix(text(volume, "name"), "kube-api-access-")
}

// removeItems removes items of a list, and then the list if it is empty.
func removeItems(object map[string]any, name string, wrong func(item map[string]any) bool) {
	list, is := object[name].([]any)
	if !is || len(list) == 0 {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(list), func(item any) bool {
		entry, is := item.(map[string]any)
		return is && wrong(entry)
	})
	if object[name] = kept; len(kept) == 0 {
		delete(object, name)
	}
}

// stripService removes addresses, which are those of a cluster, and the ports of nodes that a server chose.
func stripService(service map[string]any, dump bool) {
	spec := field(service, "spec")
	if text(spec, "clusterIP") != "None" {
		delete(spec, "clusterIP")
		delete(spec, "clusterIPs")
	}
	if !dump {
		return
	}
	delete(spec, "healthCheckNodePort")
	ports, _ := spec["ports"].([]any)
	for _, port := range ports {
		if port, is := port.(map[string]any); is {
			delete(port, "nodePort")
		}
	}
}

// stripClaim removes the volume that the claim is bound to.
func stripClaim(claim map[string]any, dump bool) {
	if dump {
		delete(field(claim, "spec"), "volumeName")
	}
	removeKeys(metadataOf(claim), "annotations", ofBinding)
}

// ofBinding reports whether an annotation is one of the controllers of volumes. A storage class was an annotation once.
func ofBinding(key string) bool {
	prefix, name, _ := strings.Cut(key, "/")
	switch prefix {
	case "pv.kubernetes.io", "volume.kubernetes.io", "volume.beta.kubernetes.io":
		return name != "storage-class"
	}
	return false
}

// stripVolume removes the identity of the claim, but not its name.
func stripVolume(volume map[string]any, _ bool) {
	claim := field(volume, "spec", "claimRef")
	delete(claim, "uid")
	delete(claim, "resourceVersion")
	removeKeys(metadataOf(volume), "annotations", ofBinding)
}

// stripJob removes the selector that a server generates from the job's uid.
func stripJob(job map[string]any, _ bool) {
	spec := field(job, "spec")
	if spec["manualSelector"] == true {
		return
	}
	generated := field(spec, "selector", "matchLabels")
	template := field(spec, "template", "metadata")
	if !hasUID(generated) && !hasUID(field(template, "labels")) {
		return
	}
	delete(spec, "selector")
	removeKeys(template, "labels", ofJob)
	removeKeys(metadataOf(job), "labels", ofJob)
}

const (
	jobUID    = "batch.kubernetes.io/controller-uid"
	oldJobUID = "controller-uid"
)

func hasUID(labels map[string]any) bool { return labels[jobUID] != nil || labels[oldJobUID] != nil }

func ofJob(label string) bool {
	return slices.Contains([]string{jobUID, oldJobUID, "batch.kubernetes.io/job-name", "job-name"}, label)
}

func stripNamespace(namespace map[string]any, _ bool) {
	spec := field(namespace, "spec")
	delete(spec, "finalizers")
	if len(spec) == 0 {
		delete(namespace, "spec")
	}
}
