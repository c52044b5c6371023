package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/law/rest"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Objects are at rest if none was written for still. That is looked at every so often.
const (
	still = 3 * time.Second
	often = time.Second / 4
)

// touched annotates an object.
var touched = map[string]any{"metadata": map[string]any{"annotations": map[string]any{"skewrig.dev/touched": "true"}}}

// Settle waits until all is at rest, for action.Rig.
func (r *run) Settle(ctx context.Context, settle action.Settle) error {
	began, started := r.machine.Now(), time.Now()
	stillness := rest.Stillness{Began: started, Scheduler: r.cell.Topology.Scheduler}
	looked := 0
	var settled record.Settled
	for {
		if err := r.Wait(ctx, "", often); err != nil {
			return err
		}
		if err := r.session.Settle(ctx); err != nil {
			return err
		}
		events := r.history.Events()
		for ; looked < len(events); looked++ {
			stillness.Add(events[looked])
		}
		settled.Restless = stillness.Restless(time.Now(), still)
		if len(settled.Restless) == 0 && time.Since(started) >= still {
			break
		}
		if r.machine.Now()-began > time.Duration(settle.Within) {
			break
		}
	}
	if settle.Touch {
		if err := r.touch(ctx, &settled); err != nil {
			return err
		}
	}
	r.history.Append("engine", r.current.Name, settled)
	return nil
}

// touch has the API server say of each object that was recorded what it is, and annotates it as a dry run. Of each node it asks
// what its kubelet may read.
func (r *run) touch(ctx context.Context, settled *record.Settled) error {
	o, err := r.asked("")
	if err != nil {
		return err
	}
	there := timeline.Of(r.history.Events()).Objects
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(there)), func(key string) bool { return there[key].Cluster != "" })
	for _, key := range keys {
		v := there[key]
		ref := r.session.Names().Ref(spec.ObjectRef{Resource: v.Resource, Namespace: v.Namespace, Name: v.Name})
		read, err := o.read(ctx, ref)
		if err != nil {
			return fmt.Errorf("reading %s: %w", key, err)
		}
		// Another API server than the one that is watched may be of another release. Where names have a suffix, a record has them
		// without it, and not all of a node is recorded everywhere.
		compared := len(r.cell.Topology.Servers()) == 1 && r.session.Names().Suffix == "" && v.Resource != "nodes"
		if compared && read != nil && read.Meta().ResourceVersion == v.Meta().ResourceVersion { // it was not written in between
			if fields := differing("", v.Fields(), read.Fields()); len(fields) > 0 {
				settled.Differing = append(settled.Differing, record.Differing{Object: key, Fields: fields})
			}
		}
		write := action.Write{Verb: action.Patches, Ref: ref, Body: touched, WriteOptions: action.WriteOptions{DryRun: true}}
		answer, err := o.write(ctx, write)
		if err != nil {
			return fmt.Errorf("touching %s: %w", key, err)
		}
		settled.Touched++
		if answer.Code >= 400 && answer.Code != http.StatusNotFound && answer.Code != http.StatusConflict {
			settled.Refused = append(settled.Refused, record.Refusal{Object: key, Code: answer.Code, Message: answer.Message})
		}
	}
	settled.Readable, err = r.readable(ctx, o, there, keys)
	return err
}

// read is an object as the API server returns it; nil if it does not.
func (o *objects) read(ctx context.Context, ref spec.ObjectRef) (*timeline.Version, error) {
	resource, err := o.find(&ref)
	if meta.IsNoMatchError(err) {
		return nil, nil //nolint:nilnil // its kind is not served any more
	}
	if err != nil {
		return nil, err
	}
	read, err := o.resource(resource, ref).Get(ctx, ref.Name, metav1.GetOptions{})
	if refused := apierrors.APIStatus(nil); errors.As(err, &refused) {
		return nil, nil //nolint:nilnil // it is gone, or can't be read
	}
	if err != nil {
		return nil, err
	}
	unstructured.RemoveNestedField(read.Object, "metadata", "managedFields") // as in the record
	text, err := read.MarshalJSON()
	return timeline.NewVersion(ref.String(), text), err
}

// differing are the paths below a place at which two objects are not the same.
func differing(at string, a, b any) (paths []string) {
	if reflect.DeepEqual(a, b) {
		return nil
	}
	one, isMap := a.(map[string]any)
	other, both := b.(map[string]any)
	if !isMap || !both {
		return []string{at}
	}
	names := maps.Clone(one)
	maps.Copy(names, other)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		paths = append(paths, differing(strings.TrimPrefix(at+"."+name, "."), one[name], other[name])...)
	}
	return paths
}

// readable are the Secrets and ConfigMaps that the kubelet of each node may read, by a SubjectAccessReview. They are nil if that
// can't be asked.
func (r *run) readable(ctx context.Context, o *objects, there map[string]*timeline.Version, keys []string) (map[string][]string, error) {
	names := r.session.Names()
	all := make(map[string][]string)
	for _, key := range keys {
		if v := there[key]; v.Resource == "nodes" {
			all[v.Name] = []string{}
		}
	}
	for _, key := range keys {
		v := there[key]
		if v.Resource != "secrets" && v.Resource != "configmaps" {
			continue
		}
		ref := names.Ref(spec.ObjectRef{Resource: v.Resource, Namespace: v.Namespace, Name: v.Name})
		for _, node := range slices.Sorted(maps.Keys(all)) {
			allowed, known, err := o.mayRead(ctx, names.Ref(spec.ObjectRef{Resource: "nodes", Name: node}).Name, ref)
			if err != nil || !known {
				return nil, err
			}
			if allowed {
				all[node] = append(all[node], key)
			}
		}
	}
	return all, nil
}

// mayRead reports whether the kubelet of a node may read an object, and whether the API server says so.
func (o *objects) mayRead(ctx context.Context, node string, ref spec.ObjectRef) (allowed, known bool, err error) {
	answer, err := o.write(ctx, action.Write{Verb: action.Creates, Body: map[string]any{
		"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": map[string]any{
			"user": "system:node:" + node, "groups": []any{"system:nodes", "system:authenticated"},
			"resourceAttributes": map[string]any{"verb": "get", "resource": ref.Resource, "namespace": ref.Namespace, "name": ref.Name},
		},
	}})
	if err != nil || answer.Code >= 400 {
		return false, false, err
	}
	response, _ := answer.Response.(map[string]any)
	allowed, _, _ = unstructured.NestedBool(response, "status", "allowed")
	return allowed, true, nil
}
