package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/kube"
	"github.com/skewrig/skewrig/scenarios/provider"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// objects writes API objects as an ordinary client does, and keeps what the API
// server answered.
type objects struct {
	cluster string // which the objects are in, as references name it
	client  dynamic.Interface
	mapper  meta.RESTMapper
}

func newObjects(config *rest.Config, cluster string) (*objects, error) {
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{}
	config.Wrap(func(t http.RoundTripper) http.RoundTripper { return hearing{t} })
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	found, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(found))
	return &objects{cluster: cluster, client: client, mapper: mapper}, nil
}

// write does a write, and returns what the API server answered.
func (o *objects) write(ctx context.Context, w action.Write) (answer record.APIAnswer, err error) {
	ctx, got := withExchange(ctx)
	defer func() { _, answer.Warning = got.answer() }()
	answer, err = o.send(ctx, w)
	return unserved(cmp.Or(w.Ref, spec.ObjectRef{Cluster: o.cluster, Resource: "unknown", Name: (&unstructured.Unstructured{Object: w.Body}).GetName()}), answer, err)
}

// unserved turns the error of a resource that the API server does not serve into the answer of one that asks for it.
func unserved(ref spec.ObjectRef, answer record.APIAnswer, err error) (record.APIAnswer, error) {
	if !meta.IsNoMatchError(err) {
		return answer, err
	}
	return record.APIAnswer{Object: ref.String(), Code: http.StatusNotFound, Reason: string(metav1.StatusReasonNotFound), Message: err.Error()}, nil
}

func (o *objects) send(ctx context.Context, w action.Write) (record.APIAnswer, error) {
	switch w.Verb {
	case action.Creates:
		return o.create(ctx, w)
	case action.Applies:
		return o.apply(ctx, w)
	case action.Puts:
		return o.put(ctx, w)
	default:
		return o.patch(ctx, w)
	}
}

// create posts an object exactly as it is given, or something of another object.
func (o *objects) create(ctx context.Context, w action.Write) (record.APIAnswer, error) {
	object := &unstructured.Unstructured{Object: w.Body}
	options := metav1.CreateOptions{DryRun: dryRun(w), FieldManager: w.Manager, FieldValidation: string(w.FieldValidation)}
	if w.Subresource != "" {
		resource, err := o.find(&w.Ref)
		if err != nil {
			return record.APIAnswer{}, err
		}
		created, err := o.resource(resource, w.Ref).Create(ctx, object, options, w.Subresource)
		return o.answer(w.Ref, http.StatusCreated, created, err)
	}
	resource, ref, err := o.of(object)
	if err != nil {
		return record.APIAnswer{}, err
	}
	created, err := o.resource(resource, ref).Create(ctx, object, options)
	return o.answer(ref, http.StatusCreated, created, err)
}

// owned is an object in which each owner reference whose uid is the name of an object, resource/namespace/name, has the UID of
// that object.
func (o *objects) owned(ctx context.Context, names provider.Names, body map[string]any) (map[string]any, error) {
	references, is, _ := unstructured.NestedSlice(body, "metadata", "ownerReferences")
	if !is {
		return body, nil
	}
	for n, owner := range references {
		fields, _ := owner.(map[string]any)
		uid, _ := fields["uid"].(string)
		if !strings.Contains(uid, "/") {
			continue // no UID has one
		}
		ref, err := spec.ParseObjectRef(uid)
		if err != nil {
			return nil, fmt.Errorf("metadata.ownerReferences[%d].uid: %w", n, err)
		}
		of, err := o.read(ctx, names.Ref(ref))
		if err != nil {
			return nil, err
		}
		if of == nil {
			return nil, fmt.Errorf("metadata.ownerReferences[%d].uid: there is no %s", n, ref)
		}
		fields["uid"] = string(of.Meta().UID)
	}
	body = runtime.DeepCopyJSON(body)
	return body, unstructured.SetNestedSlice(body, references, "metadata", "ownerReferences")
}

// of is which resource an object is of, and what it is called.
func (o *objects) of(object *unstructured.Unstructured) (resource schema.GroupVersionResource, ref spec.ObjectRef, err error) {
	mapping, err := o.mapper.RESTMapping(object.GroupVersionKind().GroupKind(), object.GroupVersionKind().Version)
	if err != nil {
		return resource, ref, fmt.Errorf("finding the resource of %s %s: %w", object.GroupVersionKind(), object.GetName(), err)
	}
	ref = spec.ObjectRef{Cluster: o.cluster, Resource: mapping.Resource.Resource, Name: object.GetName()}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		ref.Namespace = cmp.Or(object.GetNamespace(), metav1.NamespaceDefault)
	}
	return mapping.Resource, ref, nil
}

// dryRun is how a request says that nothing is to be stored.
func dryRun(w action.Write) []string {
	if w.DryRun {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// subresources are what a request names after the object.
func subresources(w action.Write) []string {
	if w.Subresource == "" {
		return nil
	}
	return []string{w.Subresource}
}

// apply says what a field manager wants of an object.
func (o *objects) apply(ctx context.Context, w action.Write) (record.APIAnswer, error) {
	object := &unstructured.Unstructured{Object: w.Body}
	resource, ref, err := o.of(object)
	if err != nil {
		return record.APIAnswer{}, err
	}
	body, err := json.Marshal(w.Body)
	if err != nil {
		return record.APIAnswer{}, err
	}
	options := metav1.PatchOptions{
		DryRun: dryRun(w), Force: new(w.Force), FieldManager: cmp.Or(w.Manager, userAgent), FieldValidation: string(w.FieldValidation),
	}
	applied, err := o.resource(resource, ref).Patch(ctx, ref.Name, types.ApplyPatchType, body, options)
	return o.answer(ref, http.StatusOK, applied, err)
}

// userAgent is what a rig's own clients call themselves.
const userAgent = "skewrig"

// put reads an object, merges into it, and writes all of it back.
func (o *objects) put(ctx context.Context, w action.Write) (record.APIAnswer, error) {
	resource, err := o.find(&w.Ref)
	if err != nil {
		return record.APIAnswer{}, err
	}
	read, err := o.resource(resource, w.Ref).Get(ctx, w.Ref.Name, metav1.GetOptions{}, subresources(w)...)
	if err != nil {
		return o.answer(w.Ref, http.StatusOK, nil, err)
	}
	merged, err := merge(read, w.Body)
	if err != nil {
		return record.APIAnswer{}, err
	}
	options := metav1.UpdateOptions{DryRun: dryRun(w), FieldManager: w.Manager, FieldValidation: string(w.FieldValidation)}
	put, err := o.resource(resource, w.Ref).Update(ctx, merged, options, subresources(w)...)
	return o.answer(w.Ref, http.StatusOK, put, err)
}

// merge is an object after a JSON merge patch.
func merge(object *unstructured.Unstructured, patch map[string]any) (*unstructured.Unstructured, error) {
	if len(patch) == 0 {
		return object, nil
	}
	before, err := object.MarshalJSON()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	after, err := jsonpatch.MergePatch(before, text)
	if err != nil {
		return nil, err
	}
	merged := new(unstructured.Unstructured)
	return merged, merged.UnmarshalJSON(after)
}

// served returns when the API server serves what a CustomResourceDefinition defines.
func (o *objects) served(ctx context.Context, definition map[string]any) error {
	versions, _, _ := unstructured.NestedSlice(definition, "spec", "versions")
	if !slices.ContainsFunc(versions, func(v any) bool { fields, _ := v.(map[string]any); return fields["served"] == true }) {
		return nil
	}
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

func (o *objects) patch(ctx context.Context, w action.Write) (record.APIAnswer, error) {
	resource, err := o.find(&w.Ref)
	if err != nil {
		return record.APIAnswer{}, err
	}
	body, err := json.Marshal(w.Body)
	if err != nil {
		return record.APIAnswer{}, err
	}
	options := metav1.PatchOptions{DryRun: dryRun(w), FieldManager: w.Manager, FieldValidation: string(w.FieldValidation)}
	client := o.resource(resource, w.Ref)
	if kube.IsOfStatus(w.Body) && w.Subresource == "" {
		patched, err := client.Patch(ctx, w.Ref.Name, types.MergePatchType, body, options, "status")
		if !apierrors.IsNotFound(err) { // the resource has this subresource
			return o.answer(w.Ref, http.StatusOK, patched, err)
		}
	}
	patched, err := client.Patch(ctx, w.Ref.Name, types.MergePatchType, body, options, subresources(w)...)
	return o.answer(w.Ref, http.StatusOK, patched, err)
}

// delete deletes an object. The answer has no object: what an API server returns depends on what is left to do.
func (o *objects) delete(ctx context.Context, ref spec.ObjectRef, propagation metav1.DeletionPropagation) (record.APIAnswer, error) {
	resource, err := o.find(&ref)
	if err != nil {
		return unserved(ref, record.APIAnswer{}, err)
	}
	var options metav1.DeleteOptions
	if propagation != "" {
		options.PropagationPolicy = &propagation
	}
	ctx, got := withExchange(ctx)
	switch client := o.resource(resource, ref); {
	case ref.Name != spec.Everything:
		err = client.Delete(ctx, ref.Name, options)
	case ref.Namespace == "":
		return record.APIAnswer{}, fmt.Errorf("%s are in no namespace: not all of them are deleted", ref.Resource)
	default:
		err = client.DeleteCollection(ctx, options, metav1.ListOptions{})
	}
	code, warnings := got.answer()
	answer, err := o.answer(ref, code, nil, err)
	answer.Warning = warnings
	return answer, err
}

// find returns the resource of an object. A reference can't know of a custom resource that it has
// no namespace: then it is taken away.
func (o *objects) find(ref *spec.ObjectRef) (resource schema.GroupVersionResource, err error) {
	kind, err := o.mapper.KindFor(schema.GroupVersionResource{Resource: ref.Resource})
	if err != nil {
		return resource, fmt.Errorf("finding the resource %q: %w", ref.Resource, err)
	}
	mapping, err := o.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return resource, fmt.Errorf("finding the resource of %s: %w", kind, err)
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		ref.Namespace = ""
	}
	return mapping.Resource, nil
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
	a := record.APIAnswer{Object: ref.String(), Code: code}
	if err == nil && object != nil {
		a.Response = object.Object
	}
	if err == nil {
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
