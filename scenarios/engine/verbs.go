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

var _ action.Rig = (*run)(nil)

// Write implements action.Rig.
func (r *run) Write(ctx context.Context, w action.Write) (int, error) {
	o, err := r.asked(w.Ref.Cluster)
	if err != nil {
		return 0, err
	}
	if w, err = r.named(ctx, w); err != nil {
		return 0, err
	}
	answer, err := o.write(ctx, w)
	if w.DryRun {
		return r.answered(answer, w.Judged, err)
	}
	code, err := r.written(ctx, answer, w.Judged, err)
	if err != nil || code >= 400 || w.Body["kind"] != "CustomResourceDefinition" {
		return code, err
	}
	if err := o.served(ctx, w.Body); err != nil {
		return code, unmet(r, err)
	}
	return code, r.Observe(ctx)
}

// named is a write as the API server knows its names. The namespace of an object that it
// creates is there afterwards.
func (r *run) named(ctx context.Context, w action.Write) (action.Write, error) {
	if w.Verb == action.Patches || w.Verb == action.Puts {
		w.Ref, w.Body = r.names.ref(w.Ref), r.names.within(w.Body)
		return w, nil
	}
	if w.Ref.Name != "" {
		w.Ref = r.names.ref(w.Ref)
	}
	namespace := cmp.Or((&unstructured.Unstructured{Object: w.Body}).GetNamespace(), metav1.NamespaceDefault)
	if !r.namespaces[namespace] {
		if err := r.EnsureNamespace(ctx, namespace); err != nil {
			return w, err
		}
		r.namespaces[namespace] = true
	}
	w.Body = r.names.object(w.Body)
	return w, nil
}

// Delete implements action.Rig.
func (r *run) Delete(ctx context.Context, ref spec.ObjectRef) error {
	o, err := r.asked(ref.Cluster)
	if err != nil {
		return err
	}
	answer, err := o.delete(ctx, r.names.ref(ref))
	_, err = r.answered(answer, false, err)
	return err
}

// asked are the objects of the API server that the current step asks, or of a cluster that it
// names.
func (r *run) asked(of string) (*objects, error) {
	if of != "" || r.current.Via == "" {
		return r.objects[of], nil
	}
	return r.ofServer(spec.ServerName(r.current.Via))
}

// ofServer are the objects of an API server.
func (r *run) ofServer(name string) (*objects, error) {
	if name == r.cell.Topology.Servers()[0] {
		return r.objects[""], nil
	}
	if r.others[name] == nil {
		config, err := r.Endpoint(name)
		if err != nil {
			return nil, err
		}
		if r.others[name], err = newObjects(config, ""); err != nil {
			return nil, err
		}
	}
	return r.others[name], nil
}

// Route implements action.Rig.
func (r *run) Route(component string, servers []string) error { return r.Rig.Route(component, servers) }

// answered records an answer and returns its code. A refusal that no check judges
// ends the cell: the steps that follow would mean something else without the object.
func (r *run) answered(answer record.APIAnswer, judged bool, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	servers := r.cell.Topology.Servers()
	if servers[0] != spec.APIServer && !strings.HasPrefix(answer.Object, spec.Seed+"/") {
		answer.Server = cmp.Or(spec.ServerName(r.current.Via), servers[0])
	}
	r.history.Append("engine", r.current.Name, answer)
	if answer.Code >= 500 && !isOfWebhook(answer.Message) || answer.Code == http.StatusTooManyRequests {
		return 0, fmt.Errorf("the API server could not answer for %s: %d %s", answer.Object, answer.Code, answer.Message)
	}
	if answer.Code >= 400 && !judged {
		return 0, fmt.Errorf("%w: the API server refused %s: %s", errUnmet, answer.Object, answer.Message)
	}
	return answer.Code, nil
}

// isOfWebhook reports whether it was for want of a webhook that an API server could not answer
// (k8s.io/apiserver, plugin/webhook/errors; k8s.io/apiextensions-apiserver, pkg/apiserver/conversion).
func isOfWebhook(message string) bool {
	return strings.Contains(message, "failed calling webhook") || strings.Contains(message, "conversion webhook for")
}

// Stop implements action.Rig. While a component ends, the check of that is watched; what
// is still running when it is decided is killed.
func (r *run) Stop(ctx context.Context, stop action.Stop) error {
	if z, is := spec.Zone(stop.Component); is {
		return r.fleet.Stop(z)
	}
	if r.made != nil {
		return r.made.stop(ctx, r, stop.Component, asked)
	}
	c, name := r.where(stop.Component)
	if stop.Within == 0 {
		ctx, cancel := r.machine.withTimeout(ctx, cluster.StopLimit, context.DeadlineExceeded)
		defer cancel()
		return c.Stop(ctx, name)
	}
	limited, kill := context.WithCancel(ctx)
	defer kill()
	stopped := make(chan error, 1)
	go func() { stopped <- c.Stop(limited, name) }()
	err := r.Watch(ctx, action.Checks{Checks: stop.Checked()})
	kill()
	return errors.Join(err, <-stopped)
}

// Kill implements action.Rig.
func (r *run) Kill(component string) error {
	if z, is := spec.Zone(component); is {
		return r.fleet.Stop(z)
	}
	if r.made != nil {
		return r.made.stop(r.ground, r, component, killed)
	}
	c, name := r.where(component)
	return c.Kill(name)
}

// Restart implements action.Rig.
func (r *run) Restart(ctx context.Context, to action.Restart) error {
	if z, is := spec.Zone(to.Component); is {
		return errors.Join(r.fleet.Stop(z), r.fleet.Start(z))
	}
	if r.made != nil {
		return r.made.restart(ctx, r, to)
	}
	c, name := r.where(to.Component)
	change := cluster.Change{Version: to.Version, Gates: to.Gates, Unset: to.Unset, Settings: to.Settings}
	if to.Stopped {
		return c.Start(ctx, name, change)
	}
	return c.Restart(ctx, name, change)
}

// RunStaticPod implements action.Rig.
func (r *run) RunStaticPod(node string, pod map[string]any) error {
	if r.made != nil {
		return r.made.runStaticPod(r, node, pod)
	}
	return r.Rig.RunStaticPod(node, pod)
}

// RemoveStaticPod implements action.Rig.
func (r *run) RemoveStaticPod(node, name string) error {
	if r.made != nil {
		return r.made.cluster.RemoveManifest(r.ground, node, name)
	}
	return r.Rig.RemoveStaticPod(node, name)
}

// SetLink implements action.Rig.
func (r *run) SetLink(which spec.Link, f record.LinkFault) error {
	if z, is := spec.Zone(which.From); is {
		return r.fleet.SetLink(z, f)
	}
	if which.To == spec.Runtime {
		return r.setRuntimeLink(r.ground, strings.TrimPrefix(which.From, spec.KubeletPrefix), f)
	}
	c, _ := r.where(which.To)
	return c.SetLink(which.From, f)
}

// SetClock implements action.Rig.
func (r *run) SetClock(c action.Clock) error {
	z, simulated := spec.Zone(c.Of)
	node := strings.TrimPrefix(c.Of, spec.KubeletPrefix)
	to := c.From(time.Now())
	switch {
	case simulated && c.Step != 0:
		return r.fleet.StepClock(z, time.Duration(c.Step))
	case simulated:
		return r.fleet.SetClock(z, to)
	case c.Step != 0:
		return r.StepClock(node, time.Duration(c.Step))
	default:
		return r.Rig.SetClock(node, to)
	}
}
