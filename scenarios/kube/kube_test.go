package kube_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes/scheme"

	"github.com/skewrig/skewrig/scenarios/kube"
)

// notObjects are kinds that clients know and that are no objects of their own.
var notObjects = strings.Fields(`APIGroup APIVersions DeploymentRollback PodStatusResult RangeAllocation ReplicationControllerDummy Scale
	SerializedReference Status WatchEvent`)

// TestKindsAreOfKubernetes: the table has all kinds that a client knows, and no others.
func TestKindsAreOfKubernetes(t *testing.T) {
	t.Parallel()
	known := map[string]bool{"APIService": true, "CustomResourceDefinition": true} // which have clients of their own
	for kind := range scheme.Scheme.AllKnownTypes() {
		known[kind.Kind] = true
	}
	for kind := range scheme.Scheme.AllKnownTypes() {
		if strings.HasSuffix(kind.Kind, "List") || strings.HasSuffix(kind.Kind, "Options") || kind.Version == "__internal" {
			continue
		}
		if kube.ByName(kind.Kind).Name == "" && !slices.Contains(notObjects, kind.Kind) {
			t.Errorf("%s has no row", kind)
		}
	}
	all := kube.Kinds()
	if !slices.IsSortedFunc(all, func(a, b kube.Kind) int { return cmp.Compare(a.Name, b.Name) }) {
		t.Error("the kinds are not in order")
	}
	for i, k := range all {
		if !known[k.Name] {
			t.Errorf("%s is no kind of Kubernetes", k.Name)
		}
		if i > 0 && all[i-1].Name == k.Name {
			t.Errorf("%s has two rows", k.Name)
		}
		if k.Type != nil && k.Type.Name() != k.Name {
			t.Errorf("%s has the type of %s", k.Name, k.Type.Name())
		}
		if made := kube.ByResource(k.Makes); k.HasPods() && made.Name != "Pod" && !made.HasPods() {
			t.Errorf("%s makes %s, of which nothing makes pods", k.Name, k.Makes)
		}
		if k.PerTemplate != "" && kube.ByResource(k.PerTemplate).Name == "" {
			t.Errorf("%s has %s for its templates, which is no resource", k.Name, k.PerTemplate)
		}
	}
}

// TestResources: plurals are not all made by an s.
func TestResources(t *testing.T) {
	t.Parallel()
	for kind, resource := range map[string]string{
		"Pod": "pods", "Ingress": "ingresses", "NetworkPolicy": "networkpolicies", "Endpoints": "endpoints",
		"ComponentStatus": "componentstatuses", "PriorityClass": "priorityclasses", "Runner": "runners",
	} {
		if got := kube.Resource(kind); got != resource && kind != "ComponentStatus" {
			t.Errorf("%s has resource %s, want %s", kind, got, resource)
		}
		if k := kube.ByResource(resource); k.Name != kind && kind != "Runner" {
			t.Errorf("%s is of kind %q, want %s", resource, k.Name, kind)
		}
	}
	for resource, want := range map[string]bool{"nodes": true, "clusters": true, "pods": false, "runners": false} {
		if got := kube.ClusterScoped(resource); got != want {
			t.Errorf("ClusterScoped(%s) is %t", resource, got)
		}
	}
}

// TestPodSpecs: where objects have pods.
func TestPodSpecs(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	pod := object{"containers": []any{}}
	template := object{"spec": pod}
	for _, c := range []struct {
		of   object
		path []string
		has  bool
	}{
		{object{"kind": "Pod", "spec": pod}, nil, true},
		{object{"kind": "PodTemplate", "template": template}, []string{"template"}, true},
		{object{"kind": "Deployment", "spec": object{"template": template}}, []string{"spec", "template"}, true},
		{object{"kind": "Runner", "spec": object{"template": template}}, []string{"spec", "template"}, true},
		{object{"kind": "CronJob", "spec": object{"jobTemplate": object{"spec": object{"template": template}}}}, []string{"spec", "jobTemplate", "spec", "template"}, true},
		{object{"spec": object{"template": template}}, []string{"spec", "template"}, true},
		{object{"spec": pod}, nil, true},
		{object{"kind": "Service", "spec": object{"ports": []any{}}}, nil, false},
		{object{"metadata": object{}}, nil, false},
	} {
		if path := kube.PodTemplate(c.of); !slices.Equal(path, c.path) {
			t.Errorf("%v has its template at %v, want %v", c.of, path, c.path)
		}
		if has := kube.PodSpec(c.of) != nil; has != c.has {
			t.Errorf("%v has a pod: %t", c.of, has)
		}
	}
}
