package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"

	"github.com/skewrig/skewrig/harness/apitypes"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/scenarios/law"
	"github.com/skewrig/skewrig/sweep/trial"
)

// make makes the objects, and asks what would be said of each mutation.
func (r *run) make(ctx context.Context) error {
	if err := each(ctx, r.plan.Items, r.create); err != nil {
		return err
	}
	r.plan.Items = slices.DeleteFunc(slices.Clone(r.plan.Items), func(i trial.Item) bool { return r.answers[i.Name] != nil })
	return each(ctx, r.plan.Items, r.rehearse)
}

func (r *run) create(ctx context.Context, i trial.Item) error {
	resource, err := r.resource(i)
	if err != nil {
		return err
	}
	var dryRun []string
	if i.Late() {
		dryRun = []string{metav1.DryRunAll}
	}
	_, err = resource.Create(ctx, &unstructured.Unstructured{Object: i.Object}, metav1.CreateOptions{DryRun: dryRun})
	switch {
	case err == nil || i.Late() && !r.plan.Random:
		return nil
	case r.plan.Random && ctx.Err() == nil && isAnswer(err): // two fields that can't be together
		r.mu.Lock()
		defer r.mu.Unlock()
		r.answers[i.Name] = []law.Answer{}
		return nil
	default:
		return fmt.Errorf("creating %s %s with %s: %w", i.Kind, i.Name, i.Field, err)
	}
}

func isAnswer(err error) bool { return said(err).Code != 0 }

// rehearse asks, before the change, whether the mutations would be taken.
func (r *run) rehearse(ctx context.Context, i trial.Item) error {
	var answers []law.Answer
	for _, t := range i.Mutations {
		on, err := r.ask(ctx, i, t, []string{metav1.DryRunAll})
		if err != nil {
			return err
		}
		answers = append(answers, law.Answer{Request: i.Request(t), On: on})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers[i.Name] = answers
	return nil
}

func said(err error) law.Said {
	if err == nil {
		return law.Said{}
	}
	s := law.Said{Text: err.Error()}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		s.Code = int(status.Status().Code)
	}
	return s
}

// mutateAll mutates all objects. A component that is to be killed is, when half of them are mutated.
func (r *run) mutateAll(ctx context.Context) error {
	half := len(r.plan.Items) / 2
	if err := each(ctx, r.plan.Items[:half], r.mutate); err != nil {
		return err
	}
	if name := r.plan.Killed; name != "" {
		if err := r.cluster.Kill(name); err != nil {
			return err
		}
		if err := r.cluster.Start(ctx, name, cluster.Change{}); err != nil {
			return err
		}
		if err := r.started(ctx, name); err != nil {
			return err
		}
	}
	return each(ctx, r.plan.Items[half:], r.mutate)
}

func (r *run) mutate(ctx context.Context, i trial.Item) error {
	r.mu.Lock()
	answers := r.answers[i.Name]
	r.mu.Unlock()
	for n, t := range i.Mutations {
		off, err := r.ask(ctx, i, t, nil)
		if err != nil {
			return err
		}
		answers[n].Off = off
	}
	return nil
}

// ask mutates an object, and returns what the API server says.
func (r *run) ask(ctx context.Context, i trial.Item, t trial.Mutation, dryRun []string) (law.Said, error) {
	request := i.Request(t)
	s, err := answer(ctx, request.Verb, func() error { return r.do(ctx, i, request, dryRun) })
	if err != nil {
		return s, fmt.Errorf("%s %s with %s, %s: %w", i.Kind, i.Name, i.Field, t, err)
	}
	return s, nil
}

// answer asks until an API server answers it, for limit: a connection that breaks says nothing of the object.
func answer(ctx context.Context, verb law.Verb, do func() error) (law.Said, error) {
	lost := false
	for until := time.Now().Add(limit); ; lost = true {
		err := do()
		switch {
		case ctx.Err() != nil:
			return law.Said{}, context.Cause(ctx)
		case lost && isDone(verb, err):
			return law.Said{}, nil
		case err == nil || isAnswer(err):
			return said(err), nil
		case time.Now().After(until):
			return law.Said{}, fmt.Errorf("the API server does not answer: %w", err)
		}
		if err := sleep(ctx, often); err != nil {
			return law.Said{}, err
		}
	}
}

// isDone reports whether an answer is that of a request that was done before, when the answer was lost.
func isDone(verb law.Verb, err error) bool {
	switch verb {
	case law.Creates:
		return apierrors.IsAlreadyExists(err)
	case law.Deletes:
		return apierrors.IsNotFound(err)
	default:
		return false
	}
}

// do asks for something about an object. What others wrote meanwhile is read again, as clients do.
func (r *run) do(ctx context.Context, i trial.Item, request law.Request, dryRun []string) error {
	resource, err := r.resource(i)
	if err != nil {
		return err
	}
	switch body := (&unstructured.Unstructured{Object: request.Body}); request.Verb {
	case law.Asks:
		return nil
	case law.Creates:
		_, err = resource.Create(ctx, body, metav1.CreateOptions{DryRun: dryRun})
		return err
	case law.Deletes:
		return resource.Delete(ctx, i.Name, metav1.DeleteOptions{DryRun: dryRun, PropagationPolicy: new(metav1.DeletePropagationBackground)})
	case law.Applies:
		_, err = resource.Apply(ctx, i.Name, body, metav1.ApplyOptions{FieldManager: trial.Manager, DryRun: dryRun})
		return err
	case law.Puts:
		return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			read, err := resource.Get(ctx, i.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			_, err = resource.Update(ctx, &unstructured.Unstructured{Object: request.Written(read.Object)}, metav1.UpdateOptions{DryRun: dryRun})
			return err
		})
	default:
		patch, err := json.Marshal(request.Body)
		if err != nil {
			return err
		}
		var below []string
		if request.Subresource != "" {
			below = []string{request.Subresource}
		}
		_, err = resource.Patch(ctx, i.Name, types.MergePatchType, patch, metav1.PatchOptions{DryRun: dryRun}, below...)
		return err
	}
}

func (r *run) resource(i trial.Item) (dynamic.ResourceInterface, error) {
	group, version, grouped := strings.Cut(i.APIVersion, "/")
	if !grouped {
		group, version = "", group
	}
	return r.server.resource(apitypes.Kind{Group: group, Version: version, Name: i.Kind, Namespaced: i.Namespaced})
}
