package garden

import (
	"encoding/json"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/skewrig/skewrig/record"
)

// shoot is the Shoot of a cluster that has workers and was reconciled: as much
// of it as dependency-watchdog asks for.
func shoot() map[string]any {
	return map[string]any{
		"apiVersion": "core.gardener.cloud/v1beta1",
		"kind":       "Shoot",
		"metadata":   map[string]any{"name": "rig", "namespace": "garden-skewrig"},
		"spec": map[string]any{
			"provider":   map[string]any{"type": "skewrig", "workers": []any{map[string]any{"name": "pool", "minimum": 1, "maximum": 1, "machine": map[string]any{"type": "simulated"}}}},
			"kubernetes": map[string]any{"version": ""},
		},
		"status": map[string]any{
			"technicalID":   Namespace,
			"lastOperation": map[string]any{"type": "Reconcile", "state": "Succeeded", "progress": 100, "description": "", "lastUpdateTime": nil},
		},
	}
}

// Cluster is the Cluster that tells the seed of the shoot, with what is different
// in the Shoot.
func Cluster(difference map[string]any) (map[string]any, error) {
	merged, err := Merge(shoot(), difference)
	if err != nil {
		return nil, fmt.Errorf("making the shoot different: %w", err)
	}
	return map[string]any{
		"apiVersion": clusters.GroupVersion().String(),
		"kind":       "Cluster",
		"metadata":   map[string]any{"name": Namespace},
		"spec":       map[string]any{"shoot": merged, "seed": map[string]any{}, "cloudProfile": map[string]any{}},
	}, nil
}

// Merge is an object after a JSON merge patch (RFC 7386), which may be nil.
func Merge(object, patch map[string]any) (merged map[string]any, err error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	if patch != nil {
		change, err := json.Marshal(patch)
		if err != nil {
			return nil, err
		}
		if text, err = jsonpatch.MergePatch(text, change); err != nil {
			return nil, err
		}
	}
	return merged, json.Unmarshal(text, &merged)
}

// machine is the Machine that a node runs on.
func machine(node string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": machines.GroupVersion().String(),
		"kind":       "Machine",
		"metadata":   map[string]any{"name": "machine-" + node, "namespace": Namespace, "labels": map[string]any{"node": node}},
		"spec":       map[string]any{"class": map[string]any{"kind": "MachineClass", "name": "simulated"}},
		"status":     map[string]any{"currentStatus": map[string]any{"phase": "Running"}},
	}}
}

// deployment is a Deployment that is as ready as it wants to be.
func deployment(d record.Dependent) *appsv1.Deployment {
	labels := map[string]string{"app": d.Name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: d.Name, Namespace: Namespace},
		Spec: appsv1.DeploymentSpec{
			Replicas: &d.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: d.Name, Image: "registry.example/" + d.Name}}},
			},
		},
	}
}
