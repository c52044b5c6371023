package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// objects writes API objects as an ordinary client does, and keeps what the API
// server answered.
type objects struct {
	cluster  string // which the objects are in, as references name it
	client   dynamic.Interface
	mapper   meta.RESTMapper
	warnings *warnings
}

func newObjects(config *rest.Config, cluster string) (*objects, error) {
	w := new(warnings)
	config.WarningHandler = w
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	found, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(found))
	return &objects{cluster: cluster, client: client, mapper: mapper, warnings: w}, nil
}

// create posts an object exactly as it is given.
func (o *objects) create(ctx context.Context, manifest map[string]any) (record.APIAnswer, error) {
	object := &unstructured.Unstructured{Object: manifest}
	mapping, err := o.mapper.RESTMapping(object.GroupVersionKind().GroupKind(), object.GroupVersionKind().Version)
	if err != nil {
		return record.APIAnswer{}, fmt.Errorf("finding the resource of %s %s: %w", object.GroupVersionKind(), object.GetName(), err)
	}
	ref := spec.ObjectRef{Cluster: o.cluster, Resource: mapping.Resource.Resource, Name: object.GetName()}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		ref.Namespace = cmp.Or(object.GetNamespace(), metav1.NamespaceDefault)
	}
	created, err := o.resource(mapping.Resource, ref).Create(ctx, object, metav1.CreateOptions{})
	return o.answer(ref, http.StatusCreated, created, err)
}

// served returns when the API server serves what a CustomResourceDefinition defines.
func (o *objects) served(ctx context.Context, definition map[string]any) error {
	group, _, _ := unstructured.NestedString(definition, "spec", "group")
	kind, _, _ := unstructured.NestedString(definition, "spec", "names", "kind")
	err := wait.PollUntilContextTimeout(ctx, servedPoll, servedLimit, true, func(context.Context) (bool, error) {
		meta.MaybeResetRESTMapper(o.mapper)
		_, err := o.mapper.RESTMapping(schema.GroupKind{Group: group, Kind: kind})
		return err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("the API server does not serve %s of %s: %w", kind, group, err)
	}
	return nil
}

// servedLimit is how long a new kind may take to be served, and servedPoll how often to
// look.
const servedLimit, servedPoll = 30 * time.Second, 50 * time.Millisecond

func (o *objects) patch(ctx context.Context, ref spec.ObjectRef, merge map[string]any) (record.APIAnswer, error) {
	resource, err := o.find(ref)
	if err != nil {
		return record.APIAnswer{}, err
	}
	body, err := json.Marshal(merge)
	if err != nil {
		return record.APIAnswer{}, err
	}
	if _, ofStatus := merge["status"]; ofStatus && len(merge) == 1 {
		patched, err := o.resource(resource, ref).Patch(ctx, ref.Name, types.MergePatchType, body, metav1.PatchOptions{}, "status")
		if !apierrors.IsNotFound(err) { // the resource has this subresource
			return o.answer(ref, http.StatusOK, patched, err)
		}
	}
	patched, err := o.resource(resource, ref).Patch(ctx, ref.Name, types.MergePatchType, body, metav1.PatchOptions{})
	return o.answer(ref, http.StatusOK, patched, err)
}

func (o *objects) delete(ctx context.Context, ref spec.ObjectRef) error {
	resource, err := o.find(ref)
	if err != nil {
		return err
	}
	return o.resource(resource, ref).Delete(ctx, ref.Name, metav1.DeleteOptions{})
}

func (o *objects) find(ref spec.ObjectRef) (schema.GroupVersionResource, error) {
	resource, err := o.mapper.ResourceFor(schema.GroupVersionResource{Resource: ref.Resource})
	if err != nil {
		return resource, fmt.Errorf("finding the resource %q: %w", ref.Resource, err)
	}
	return resource, nil
}

func (o *objects) resource(resource schema.GroupVersionResource, ref spec.ObjectRef) dynamic.ResourceInterface {
	if ref.Namespace == "" {
		return o.client.Resource(resource)
	}
	return o.client.Resource(resource).Namespace(ref.Namespace)
}

// answer turns a response into what is recorded. A refusal by the API server is
// an answer; that there was no answer is an error.
func (o *objects) answer(ref spec.ObjectRef, code int, object *unstructured.Unstructured, err error) (record.APIAnswer, error) {
	a := record.APIAnswer{Object: ref.String(), Code: code, Warning: o.warnings.take()}
	if err == nil {
		a.Response = object.Object
		return a, nil
	}
	var refusal apierrors.APIStatus
	if !errors.As(err, &refusal) {
		return a, err
	}
	status := refusal.Status()
	a.Code, a.Reason, a.Message = int(status.Code), string(status.Reason), status.Message
	if status.Details != nil {
		for _, c := range status.Details.Causes {
			a.Causes = append(a.Causes, record.APICause{Reason: string(c.Type), Field: c.Field, Message: c.Message})
		}
	}
	return a, nil
}

// warnings collects the warnings of responses.
type warnings struct {
	mu   sync.Mutex
	text []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _ string, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, text)
}

func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.text
	w.text = nil
	return text
}
