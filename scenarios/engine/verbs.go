package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/spec"
)

var _ action.Rig = (*rig)(nil)

// Create implements action.Rig.
func (r *rig) Create(ctx context.Context, object map[string]any, rejected bool) error {
	namespace := cmp.Or((&unstructured.Unstructured{Object: object}).GetNamespace(), metav1.NamespaceDefault)
	if !r.namespaces[namespace] {
		if err := r.cluster.EnsureNamespace(ctx, namespace); err != nil {
			return err
		}
		r.namespaces[namespace] = true
	}
	answer, err := r.objects[""].create(ctx, object)
	return r.answered(answer, rejected, err)
}

// Patch implements action.Rig.
func (r *rig) Patch(ctx context.Context, ref spec.ObjectRef, merge map[string]any, rejected bool) error {
	answer, err := r.objects[ref.Cluster].patch(ctx, ref, merge)
	return r.answered(answer, rejected, err)
}

// Delete implements action.Rig.
func (r *rig) Delete(ctx context.Context, ref spec.ObjectRef) error {
	return r.objects[ref.Cluster].delete(ctx, ref)
}

// answered records an answer. An unexpected refusal ends the cell: the
// steps that follow would mean something else without the object.
func (r *rig) answered(answer record.APIAnswer, rejected bool, err error) error {
	if err != nil {
		return err
	}
	r.history.Append("engine", r.current.Name, answer)
	if answer.Code >= 500 || answer.Code == http.StatusTooManyRequests {
		return fmt.Errorf("the API server could not answer for %s: %d %s", answer.Object, answer.Code, answer.Message)
	}
	if answer.Code >= 400 && !rejected {
		return fmt.Errorf("%w: the API server refused %s: %s", errUnmet, answer.Object, answer.Message)
	}
	return nil
}

// RunStaticPod implements action.Rig.
func (r *rig) RunStaticPod(node string, pod map[string]any) error {
	return r.cluster.RunStaticPod(node, pod)
}

// RemoveStaticPod implements action.Rig.
func (r *rig) RemoveStaticPod(node, name string) error { return r.cluster.RemoveStaticPod(node, name) }

// Stop implements action.Rig.
func (r *rig) Stop(component string) error {
	if z, is := spec.Zone(component); is {
		return r.cluster.fleet.Stop(z)
	}
	c, name := r.cluster.where(component)
	return c.Stop(name)
}

// Kill implements action.Rig.
func (r *rig) Kill(component string) error {
	if spec.IsSimulated(component) {
		return r.Stop(component)
	}
	c, name := r.cluster.where(component)
	return c.Kill(name)
}

// Restart implements action.Rig.
func (r *rig) Restart(ctx context.Context, to action.Restart) error {
	if z, is := spec.Zone(to.Component); is {
		return errors.Join(r.cluster.fleet.Stop(z), r.cluster.fleet.Start(z))
	}
	c, name := r.cluster.where(to.Component)
	change := cluster.Change{Version: to.Version, Gates: to.Gates, Unset: to.Unset}
	if to.Stopped {
		return c.Start(ctx, name, change)
	}
	return c.Restart(ctx, name, change)
}

// SetLink implements action.Rig.
func (r *rig) SetLink(which spec.Link, f record.LinkFault) error {
	if z, is := spec.Zone(which.From); is {
		return r.cluster.fleet.SetLink(z, f)
	}
	if which.To == spec.Runtime {
		return r.cluster.slowRuntime(strings.TrimPrefix(which.From, spec.KubeletPrefix), f.Delay)
	}
	c, _ := r.cluster.where(which.To)
	return c.SetLink(which.From, f)
}

// SetClock implements action.Rig.
func (r *rig) SetClock(c action.Clock) error {
	z, simulated := spec.Zone(c.Of)
	node := strings.TrimPrefix(c.Of, spec.KubeletPrefix)
	to := c.From(time.Now())
	switch {
	case simulated && c.Step != 0:
		return r.cluster.fleet.StepClock(z, time.Duration(c.Step))
	case simulated:
		return r.cluster.fleet.SetClock(z, to)
	case c.Step != 0:
		return r.cluster.StepClock(node, time.Duration(c.Step))
	default:
		return r.cluster.SetClock(node, to)
	}
}
