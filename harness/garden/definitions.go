package garden

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	watchtools "k8s.io/client-go/tools/watch"
)

//go:embed definitions.yaml
var definitions []byte

var (
	clusters = schema.GroupVersionResource{Group: "extensions.gardener.cloud", Version: "v1alpha1", Resource: "clusters"}
	machines = schema.GroupVersionResource{Group: "machine.sapcloud.io", Version: "v1alpha1", Resource: "machines"}

	definition = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

// define makes the definitions of the seed's own resources, and returns when
// they are served.
func define(ctx context.Context, client dynamic.Interface) error {
	all := client.Resource(definition)
	for documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(definitions), len(definitions)); ; {
		var object map[string]any
		if err := documents.Decode(&object); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		made, err := all.Create(ctx, &unstructured.Unstructured{Object: object}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		if err := awaitServed(ctx, all, made); err != nil {
			return fmt.Errorf("waiting for %s to be served: %w", made.GetName(), err)
		}
	}
}

func awaitServed(ctx context.Context, all dynamic.ResourceInterface, made *unstructured.Unstructured) error {
	byName := fields.OneTermEqualSelector("metadata.name", made.GetName()).String()
	w, err := all.Watch(ctx, metav1.ListOptions{FieldSelector: byName}) // begins with what is there
	if err != nil {
		return err
	}
	_, err = watchtools.UntilWithoutRetry(ctx, w, func(e watch.Event) (bool, error) {
		object, is := e.Object.(*unstructured.Unstructured)
		return is && established(object), nil
	})
	return err
}

func established(definition *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(definition.Object, "status", "conditions")
	for _, c := range conditions {
		if c, is := c.(map[string]any); is && c["type"] == "Established" && c["status"] == "True" {
			return true
		}
	}
	return false
}
