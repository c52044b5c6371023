package rehearse

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/skewrig/skewrig/scenarios/kube"
	"github.com/skewrig/skewrig/scenarios/law"
)

// Owner is the field manager that applies what owners want.
const Owner = "skewrig-owner"

// RequestsOf are what owners ask for in a round, counted from 1: the manifest is applied again, the object gets a label, a workload
// is scaled and restarted, a Job is suspended, resumed, deleted and made again. Requests after the first AtOnce follow when those
// before have had their effect.
func RequestsOf(manifest map[string]any, round int) []law.Request {
	at := fmt.Sprint(round)
	all := []law.Request{
		{Verb: law.Applies, Body: manifest},
		{Verb: law.Patches, Body: below(at, "metadata", "labels", "skewrig.dev/round")},
	}
	object := unstructured.Unstructured{Object: manifest}
	if kube.ByName(object.GetKind()).IsScalable() {
		replicas, found, _ := unstructured.NestedInt64(manifest, "spec", "replicas")
		if !found {
			replicas = 1
		}
		all = append(all, law.Request{Verb: law.Patches, Body: below(replicas+1, "spec", "replicas")}, law.Request{Verb: law.Patches, Body: below(replicas, "spec", "replicas")})
	}
	if where := kube.PodTemplate(manifest); len(where) > 0 && restarts[object.GetKind()] {
		path := append(append([]string{}, where...), "metadata", "annotations", "kubectl.kubernetes.io/restartedAt")
		all = append(all, law.Request{Verb: law.Patches, Body: below("round "+at, path...)})
	}
	if object.GetKind() == "Job" {
		suspended, _, _ := unstructured.NestedBool(manifest, "spec", "suspend")
		all = append(all, law.Request{Verb: law.Patches, Body: below(!suspended, "spec", "suspend")}, law.Request{Verb: law.Patches, Body: below(suspended, "spec", "suspend")},
			law.Request{Verb: law.Deletes}, law.Request{Verb: law.Applies, Body: manifest})
	}
	return all
}

// AtOnce is how many requests of a round follow each other at once.
const AtOnce = 2

// restarts are the kinds that kubectl rollout restart takes.
var restarts = map[string]bool{"Deployment": true, "DaemonSet": true, "StatefulSet": true}

// below is a value at a path.
func below(value any, path ...string) map[string]any {
	for i := len(path) - 1; i > 0; i-- {
		value = map[string]any{path[i]: value}
	}
	return map[string]any{path[0]: value}
}

// NameRequest says a request in words: "apply", "patch of spec.replicas".
func NameRequest(r law.Request) string {
	var path []string
	for m := r.Body; r.Verb == law.Patches && len(m) == 1; {
		for name, v := range m {
			path = append(path, name)
			m, _ = v.(map[string]any)
		}
	}
	if len(path) == 0 {
		return string(r.Verb)
	}
	return string(r.Verb) + " of " + strings.Join(path, ".")
}
