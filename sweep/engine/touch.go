package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/skewrig/skewrig/harness/apitypes"
	"github.com/skewrig/skewrig/sweep/trial"
)

func (r *run) create(ctx context.Context, i trial.Item) error {
	if i.Touch == trial.Create {
		return nil
	}
	resource, err := r.resource(i)
	if err != nil {
		return err
	}
	_, err = resource.Create(ctx, &unstructured.Unstructured{Object: i.Object}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating %s %s with %s: %w", i.Kind, i.Name, i.Field, err)
	}
	return nil
}

// rehearse asks, with the gates on, whether the touch would be taken.
func (r *run) rehearse(ctx context.Context, i trial.Item) error {
	return r.answered(ctx, i, []string{metav1.DryRunAll}, func(a *trial.Answers, text string) { a.On = text })
}

func (r *run) touch(ctx context.Context, i trial.Item) error {
	return r.answered(ctx, i, nil, func(a *trial.Answers, text string) { a.Off = text })
}

// answered touches an object, and keeps what the API server says of it.
func (r *run) answered(ctx context.Context, i trial.Item, dryRun []string, keep func(*trial.Answers, string)) error {
	err := r.does(ctx, i, dryRun)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.answers[i.Name]
	keep(&a, text)
	r.answers[i.Name] = a
	return nil
}

func (r *run) does(ctx context.Context, i trial.Item, dryRun []string) error {
	resource, err := r.resource(i)
	if err != nil {
		return err
	}
	switch i.Touch {
	case trial.Nothing:
		return nil
	case trial.Create:
		_, err := resource.Create(ctx, &unstructured.Unstructured{Object: i.Object}, metav1.CreateOptions{DryRun: dryRun})
		return err
	case trial.Delete:
		return resource.Delete(ctx, i.Name, metav1.DeleteOptions{DryRun: dryRun, PropagationPolicy: new(metav1.DeletePropagationBackground)})
	case trial.Apply:
		_, err = resource.Apply(ctx, i.Name, &unstructured.Unstructured{Object: i.Applied()}, metav1.ApplyOptions{FieldManager: "sweep", DryRun: dryRun})
		return err
	default:
		patch, err := json.Marshal(i.Patch())
		if err != nil {
			return err
		}
		_, err = resource.Patch(ctx, i.Name, types.MergePatchType, patch, metav1.PatchOptions{DryRun: dryRun})
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
