package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/rehearse/manifest"
	"github.com/skewrig/skewrig/scenarios/ask"
	"github.com/skewrig/skewrig/scenarios/kube"
	"github.com/skewrig/skewrig/scenarios/law"
)

// observed are the resources of the objects whose writes are counted. The data of Secrets is in no record.
func (cfg Config) observed() []string {
	all := map[string]bool{"jobs": true}
	for _, o := range cfg.Objects {
		object := unstructured.Unstructured{Object: o.Object}
		if _, resource, is := kube.Definition(o.Object); is {
			all[resource] = true
		}
		if k := kube.ByName(object.GetKind()); k.IsRecordable() && k.Resource != "secrets" {
			all[k.Resource] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// atOnce is how many objects are written at the same time.
const atOnce = 8

// store stores all objects: those of one kind that follow each other at the same time.
func (s *side) store(ctx context.Context, seen *rehearse.StageSeen) error {
	if err := s.makeNamespaces(ctx); err != nil {
		return err
	}
	if err := s.labelNodes(ctx); err != nil {
		return err
	}
	objects := s.accepted()
	if err := s.mockMissing(ctx); err != nil {
		return err
	}
	seen.Warnings = make(map[string][]string)
	for len(objects) > 0 {
		if s.defines(objects[0].Object) || rehearse.IsWebhooks(objects[0].Object) {
			if err := s.startOperators(ctx); err != nil { // which these are for
				return err
			}
		}
		n := 1
		for n < len(objects) && kindOf(objects[n]) == kindOf(objects[0]) {
			n++
		}
		if err := s.storeAll(ctx, objects[:n], seen); err != nil {
			return err
		}
		objects = objects[n:]
	}
	return errors.Join(s.startOperators(ctx), s.cluster.Observe(ctx))
}

func kindOf(o manifest.Object) string {
	return fmt.Sprint(o.Object["apiVersion"], " ", o.Object["kind"])
}

// ownNamespaces are those that each cluster has.
var ownNamespaces = []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, "kube-node-lease"}

// makeNamespaces makes the namespaces that objects are in, as helm install --create-namespace does. Those that are objects get
// the rest later.
func (s *side) makeNamespaces(ctx context.Context) error {
	has, wanted := make(map[string]bool), make(map[string]bool)
	for _, o := range s.Objects {
		r := rehearse.RefOf(o)
		if r.Kind == "Namespace" {
			has[r.Name] = true
		}
		wanted[r.Namespace] = r.Namespace != ""
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if !wanted[name] || slices.Contains(ownNamespaces, name) {
			continue
		}
		if err := s.cluster.EnsureNamespace(ctx, name); err != nil {
			return err
		}
		if has[name] {
			continue
		}
		s.stored.Mocked = append(s.stored.Mocked, "namespace "+name+", which is not in the input")
	}
	return nil
}

// all are the objects as they were read.
func (s *side) all() (all []map[string]any) {
	for _, o := range s.Objects {
		all = append(all, o.Object)
	}
	return all
}

// labelNodes gives the nodes the labels that pods select nodes by.
func (s *side) labelNodes(ctx context.Context) error {
	for n, labels := range rehearse.NodeLabels(s.all(), len(nodeNames)) {
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": labels}})
		if err != nil {
			return err
		}
		if _, err := s.cluster.Client().CoreV1().Nodes().Patch(ctx, nodeNames[n], types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return err
		}
		if n == 0 && len(labels) > 0 {
			s.stored.Mocked = append(s.stored.Mocked, "labels of nodes: "+strings.Join(slices.Sorted(maps.Keys(labels)), ", "))
		}
	}
	return nil
}

// mockMissing stores what pods refer to and the objects do not have.
func (s *side) mockMissing(ctx context.Context) error {
	for _, object := range rehearse.Missing(s.all()) {
		item, err := s.create(ctx, manifest.Object{Object: object})
		if err != nil {
			return fmt.Errorf("storing a mock of %s: %w", item.Ref, err)
		}
		s.stored.Mocked = append(s.stored.Mocked, item.String()+", which is not in the input")
	}
	return nil
}

// accepted are the objects as they are stored, without webhooks that nothing serves.
func (s *side) accepted() (all []manifest.Object) {
	inert := make(map[string][]rehearse.Ref)
	for _, o := range s.Objects {
		reachable, left := rehearse.Reachable(o.Object, s.endpoints)
		_, _, defines := kube.Definition(o.Object)
		switch {
		case left != "" && defines:
			s.stored.Mocked = append(s.stored.Mocked, rehearse.RefOf(o).String()+": "+left)
		case left != "":
			inert[left] = append(inert[left], rehearse.RefOf(o))
		}
		if o.Object = reachable; reachable != nil {
			all = append(all, o)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(inert)) {
		s.stored.Inert = append(s.stored.Inert, rehearse.Inert{Why: why, Objects: inert[why]})
	}
	return all
}

// storeAll stores objects at the same time. Their order stays.
func (s *side) storeAll(ctx context.Context, objects []manifest.Object, seen *rehearse.StageSeen) error {
	items, refusals, heard := make([]rehearse.Item, len(objects)), make([]error, len(objects)), make([]*warnings, len(objects))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for n, o := range objects {
		group.Go(func() error {
			asking, all := heed(ctx)
			heard[n] = all
			items[n], refusals[n] = s.create(asking, o)
			return context.Cause(ctx)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for n, o := range objects {
		if refusals[n] != nil {
			s.stored.Problems = append(s.stored.Problems, manifest.Problem{Place: o.Place, Object: rehearse.RefOf(o).String(), Why: refusals[n].Error()})
			continue
		}
		s.items = append(s.items, items[n])
		if all := heard[n].all; len(all) > 0 {
			seen.Warnings[items[n].Key] = all
		}
	}
	return nil
}

// A kind that a definition defines is served after a moment, and so is the service account of a namespace.
const soon = 15 * time.Second

// create stores an object. One that is there already gets what it is to have.
func (s *side) create(ctx context.Context, o manifest.Object) (item rehearse.Item, err error) {
	for until := time.Now().Add(soon); ; {
		item, err = s.createOnce(ctx, o)
		if !isEarly(err) || !s.mayCome(o.Object, err) || time.Now().After(until) {
			return item, err
		}
		meta.MaybeResetRESTMapper(s.client.mapper)
		if ask.Sleep(ctx, often) != nil {
			return item, err
		}
	}
}

// isEarly reports whether an error may be one of an object that came too early.
func isEarly(err error) bool {
	return meta.IsNoMatchError(err) || apierrors.IsForbidden(err) && strings.Contains(err.Error(), "serviceaccount") || apierrors.IsServiceUnavailable(err)
}

// mayCome reports whether what an object waits for is among the objects: the definition of its kind.
func (s *side) mayCome(object map[string]any, err error) bool {
	if !meta.IsNoMatchError(err) {
		return true
	}
	return s.defines(object)
}

// defines reports whether a CustomResourceDefinition of the input defines the kind of an object.
func (s *side) defines(object map[string]any) bool {
	return slices.ContainsFunc(s.Objects, func(o manifest.Object) bool {
		kind, _, is := kube.Definition(o.Object)
		return is && kind == object["kind"]
	})
}

func (s *side) createOnce(ctx context.Context, o manifest.Object) (item rehearse.Item, err error) {
	item.Ref = rehearse.RefOf(o)
	resource, mapping, err := s.client.resource(&item.Ref)
	if err != nil {
		return item, err
	}
	item.Key, item.Manifest = path.Join(mapping.Resource.Resource, item.Namespace, item.Name), o.Object
	_, err = resource.Create(ctx, &unstructured.Unstructured{Object: runtime.DeepCopyJSON(o.Object)}, metav1.CreateOptions{FieldManager: rehearse.Owner})
	if apierrors.IsAlreadyExists(err) {
		err = s.client.do(ctx, item.Ref, law.Request{Verb: law.Applies, Body: runtime.DeepCopyJSON(o.Object)})
	}
	return item, err
}

// ask asks for what owners want in a round.
func (s *side) ask(ctx context.Context, round int, seen *rehearse.StageSeen) error {
	seen.Answers, seen.Warnings = make(map[string][]law.Said), make(map[string][]string)
	for n := 0; ; n++ {
		asked, err := s.askAll(ctx, round, n, seen)
		if err != nil || !asked {
			return err
		}
		if n+1 < rehearse.AtOnce {
			continue
		}
		if _, err := s.rest(ctx); err != nil {
			return err
		}
	}
}

// askAll asks for the request of a round that has a number, about all objects that have one.
func (s *side) askAll(ctx context.Context, round, n int, seen *rehearse.StageSeen) (asked bool, _ error) {
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, i := range s.items {
		requests := rehearse.RequestsOf(i.Manifest, round)
		if n >= len(requests) {
			continue
		}
		asked = true
		group.Go(func() error {
			ctx, heard := heed(ctx)
			answer, err := s.answer(ctx, i, requests[n])
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			seen.Answers[i.Key] = append(seen.Answers[i.Key], answer)
			if len(heard.all) > 0 {
				seen.Warnings[i.Key] = append(seen.Warnings[i.Key], heard.all...)
			}
			return nil
		})
	}
	return asked, group.Wait()
}

// answer asks until an API server answers.
func (s *side) answer(ctx context.Context, i rehearse.Item, r law.Request) (law.Said, error) {
	answer, err := ask.Until(ctx, r.Verb, func() error { return s.client.do(ctx, i.Ref, r) })
	if err != nil {
		return answer, fmt.Errorf("asking about %s: %w", i.Ref, err)
	}
	return answer, nil
}

// deleteAll deletes all objects, in the opposite order, and waits until they are gone.
func (s *side) deleteAll(ctx context.Context) error {
	var failures []error
	for _, i := range slices.Backward(s.items) {
		if i.Kind == "Namespace" && slices.Contains(ownNamespaces, i.Name) {
			continue
		}
		_, err := s.answer(ctx, i, law.Request{Verb: law.Deletes})
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}
