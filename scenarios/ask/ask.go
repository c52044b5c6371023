// Package ask sends what clients ask for, as laws have it, to API servers.
package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"

	"github.com/skewrig/skewrig/scenarios/law"
)

// Options say how something is asked for.
type Options struct {
	// Manager is the field manager that applies. If unset, an API server refuses to apply.
	Manager string
	// Force has an apply take fields from other managers.
	Force bool
	// DryRun has nothing stored.
	DryRun bool
}

// Do asks for something about the object of a name. What others wrote meanwhile is read again, as clients do.
func Do(ctx context.Context, resource dynamic.ResourceInterface, name string, r law.Request, o Options) error {
	var dryRun []string
	if o.DryRun {
		dryRun = []string{metav1.DryRunAll}
	}
	switch body := (&unstructured.Unstructured{Object: r.Body}); r.Verb {
	case law.Asks:
		return nil
	case law.Creates:
		_, err := resource.Create(ctx, body, metav1.CreateOptions{DryRun: dryRun})
		return err
	case law.Deletes:
		return resource.Delete(ctx, name, metav1.DeleteOptions{DryRun: dryRun, PropagationPolicy: new(metav1.DeletePropagationBackground)})
	case law.Applies:
		_, err := resource.Apply(ctx, name, body, metav1.ApplyOptions{FieldManager: o.Manager, Force: o.Force, DryRun: dryRun})
		return err
	case law.Puts:
		return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			read, err := resource.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			_, err = resource.Update(ctx, &unstructured.Unstructured{Object: r.Written(read.Object)}, metav1.UpdateOptions{DryRun: dryRun})
			return err
		})
	default:
		patch, err := json.Marshal(r.Body)
		if err != nil {
			return err
		}
		var below []string
		if r.Subresource != "" {
			below = []string{r.Subresource}
		}
		_, err = resource.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{DryRun: dryRun}, below...)
		return err
	}
}

// Said is what an error says, with its HTTP status if an API server answered it.
func Said(err error) law.Said {
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

// IsAnswer reports whether an API server answered: with an error, or without one.
func IsAnswer(err error) bool { return err == nil || Said(err).Code != 0 }

// Limit is how long an answer is waited for, and often how often it is asked for again.
const (
	Limit = 15 * time.Second
	often = time.Second / 4
)

// Until asks until an API server answers, for Limit: a connection that breaks says nothing of the object.
func Until(ctx context.Context, verb law.Verb, do func() error) (law.Said, error) {
	lost := false
	for until := time.Now().Add(Limit); ; lost = true {
		err := do()
		switch {
		case ctx.Err() != nil:
			return law.Said{}, context.Cause(ctx)
		case lost && isDone(verb, err):
			return law.Said{}, nil
		case IsAnswer(err):
			return Said(err), nil
		case time.Now().After(until):
			return law.Said{}, fmt.Errorf("the API server does not answer: %w", err)
		}
		if err := Sleep(ctx, often); err != nil {
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

// Sleep waits for a while, or until the context ends, whose cause is the error then.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
