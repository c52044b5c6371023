package typedclient

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ofTemplate is what a client tells of a pod template, with less of it.
const ofTemplate = `{"template": "io.k8s.api.core.v1.PodTemplateSpec", "schemas": {
	"io.k8s.api.core.v1.PodTemplateSpec": {"type": "object", "description": "not kept", "properties": {
		"metadata": {"default": {}, "$ref": "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"},
		"ports": {"type": "array", "x-kubernetes-patch-merge-key": "port", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"],
			"items": {"default": {}, "$ref": "k8s.io/api/core/v1.Port"}},
		"limits": {"type": "object", "additionalProperties": {"$ref": "k8s.io/apimachinery/pkg/api/resource.Quantity"}}
	}},
	"k8s.io/api/core/v1.Port": {"type": "object", "required": ["port"], "x-kubernetes-map-type": "atomic", "properties": {
		"port": {"type": "integer", "format": "int32", "default": 0},
		"protocol": {"type": "string", "default": "TCP", "enum": ["TCP", "UDP"]},
		"target": {"default": {}, "$ref": "k8s.io/apimachinery/pkg/util/intstr.IntOrString"}
	}},
	"io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": {"type": "object", "properties": {"name": {"type": "string"}, "uid": {"type": "string"}}},
	"k8s.io/apimachinery/pkg/api/resource.Quantity": {"oneOf": [{"type": "string"}, {"type": "number"}]},
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString": {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]}
}}`

func TestPodTemplate(t *testing.T) {
	t.Parallel()
	got, err := PodTemplate(t.Context(), os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	err = json.Unmarshal([]byte(`{"type": "object", "properties": {
		"metadata": {"type": "object", "properties": {"name": {"type": "string"}}},
		"ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"],
			"items": {"type": "object", "required": ["port"], "x-kubernetes-map-type": "atomic", "properties": {
				"port": {"type": "integer", "format": "int32"},
				"protocol": {"type": "string", "default": "TCP"},
				"target": {"x-kubernetes-int-or-string": true}
			}}},
		"limits": {"type": "object", "additionalProperties": {"x-kubernetes-int-or-string": true}}
	}}`), &want)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the schema (-want +got):\n%s", diff)
	}
}
