package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"

	"github.com/skewrig/skewrig/harness/apitypes"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/sweep/trial"
)

// make makes the objects, and asks what would be said of each touch.
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
		r.answers[i.Name] = []trial.Answer{}
		return nil
	default:
		return fmt.Errorf("creating %s %s with %s: %w", i.Kind, i.Name, i.Field, err)
	}
}

func isAnswer(err error) bool { return said(err).Code != 0 }

// rehearse asks, before the change, whether the touches would be taken.
func (r *run) rehearse(ctx context.Context, i trial.Item) error {
	var answers []trial.Answer
	for _, t := range i.Touches {
		answers = append(answers, trial.Answer{Touch: t, On: said(r.do(ctx, i, t, []string{metav1.DryRunAll}))})
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers[i.Name] = answers
	return nil
}

func said(err error) trial.Said {
	if err == nil {
		return trial.Said{}
	}
	s := trial.Said{Text: err.Error()}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		s.Code = int(status.Status().Code)
	}
	return s
}

// touchAll touches all objects. A component that is to be killed is, when half of them are touched.
func (r *run) touchAll(ctx context.Context) error {
	half := len(r.plan.Items) / 2
	if err := each(ctx, r.plan.Items[:half], r.touch); err != nil {
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
	return each(ctx, r.plan.Items[half:], r.touch)
}

func (r *run) touch(ctx context.Context, i trial.Item) error {
	r.mu.Lock()
	answers := r.answers[i.Name]
	r.mu.Unlock()
	for n, t := range i.Touches {
		answers[n].Off = said(r.do(ctx, i, t, nil))
	}
	return context.Cause(ctx)
}

// do touches an object. What others wrote meanwhile is read again, as clients do.
func (r *run) do(ctx context.Context, i trial.Item, t trial.Touch, dryRun []string) error {
	resource, err := r.resource(i)
	if err != nil {
		return err
	}
	switch t {
	case trial.Nothing:
		return nil
	case trial.Create, trial.Bare:
		o := i.Object
		if t == trial.Bare {
			o = i.WithoutFields()
		}
		_, err := resource.Create(ctx, &unstructured.Unstructured{Object: o}, metav1.CreateOptions{DryRun: dryRun})
		return err
	case trial.Delete:
		return resource.Delete(ctx, i.Name, metav1.DeleteOptions{DryRun: dryRun, PropagationPolicy: new(metav1.DeletePropagationBackground)})
	case trial.Apply:
		_, err = resource.Apply(ctx, i.Name, &unstructured.Unstructured{Object: i.Applied()}, metav1.ApplyOptions{FieldManager: "sweep", DryRun: dryRun})
		return err
	case trial.Put, trial.OldClient:
		return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			read, err := resource.Get(ctx, i.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			_, err = resource.Update(ctx, &unstructured.Unstructured{Object: i.Written(t, read.Object)}, metav1.UpdateOptions{DryRun: dryRun})
			return err
		})
	default:
		patch, err := json.Marshal(i.Patch(t))
		if err != nil {
			return err
		}
		var subresources []string
		if t == trial.Status {
			subresources = []string{"status"}
		}
		_, err = resource.Patch(ctx, i.Name, types.MergePatchType, patch, metav1.PatchOptions{DryRun: dryRun}, subresources...)
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
