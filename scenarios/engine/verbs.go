package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/provider"
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
	if w.Body, err = o.owned(ctx, r.session.Names(), w.Body); err != nil {
		return 0, unmet(r, err)
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
	return code, r.observe(ctx)
}

// named returns a write with the names that the API server knows. The namespace of an object that it creates exists
// afterwards.
func (r *run) named(ctx context.Context, w action.Write) (action.Write, error) {
	names := r.session.Names()
	if w.Verb == action.Patches || w.Verb == action.Puts {
		w.Ref, w.Body = names.Ref(w.Ref), names.Within(w.Body)
		return w, nil
	}
	if w.Ref.Name != "" {
		w.Ref = names.Ref(w.Ref)
	}
	namespace := cmp.Or((&unstructured.Unstructured{Object: w.Body}).GetNamespace(), metav1.NamespaceDefault)
	if err := r.session.EnsureNamespace(ctx, namespace); err != nil {
		return w, err
	}
	w.Body = names.Object(w.Body)
	return w, nil
}

// Delete implements action.Rig.
func (r *run) Delete(ctx context.Context, d action.Delete) error {
	o, err := r.asked(d.Object.Cluster)
	if err != nil {
		return err
	}
	answer, err := o.delete(ctx, r.session.Names().Ref(d.Ref()), d.Propagation)
	_, err = r.answered(answer, false, err)
	return err
}

// server returns the API server that the current step asks, or the first one of a cluster that it names.
func (r *run) server(of string) string {
	switch {
	case of != "":
		return path.Join(of, spec.APIServer)
	case r.current.Via != "":
		return spec.ServerName(r.current.Via)
	default:
		return r.cell.Topology.Servers()[0]
	}
}

// asked returns the objects of the API server that the current step asks.
func (r *run) asked(of string) (*objects, error) { return r.client(r.server(of)) }

// first returns the objects of the first API server of a cluster, as references name it.
func (r *run) first(of string) (*objects, error) {
	if of == "" {
		return r.client(r.cell.Topology.Servers()[0])
	}
	return r.asked(of)
}

// client returns the objects of an API server.
func (r *run) client(server string) (*objects, error) {
	if o := r.objects[server]; o != nil {
		return o, nil
	}
	config, err := r.session.Endpoint(server)
	if err != nil {
		return nil, err
	}
	of, ofSeed := "", strings.HasPrefix(server, spec.Seed+"/")
	if ofSeed {
		of = spec.Seed
	}
	o, err := newObjects(config, of)
	if err == nil {
		r.objects[server] = o
	}
	return o, err
}

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
	if r.current.Refusable {
		return answer.Code, nil
	}
	if answer.Code >= 500 && !isOfWebhook(answer.Message) || answer.Code == http.StatusTooManyRequests && !isOfBudget(answer) {
		return 0, fmt.Errorf("the API server could not answer for %s: %d %s", answer.Object, answer.Code, answer.Message)
	}
	if answer.Code >= 400 && !judged {
		return 0, fmt.Errorf("%w: the API server refused %s: %s", errUnmet, answer.Object, answer.Message)
	}
	return answer.Code, nil
}

// isOfBudget reports whether an eviction was refused for a PodDisruptionBudget, and not because the API server is busy
// (kubernetes/kubernetes, pkg/registry/core/pod/storage/eviction.go).
func isOfBudget(answer record.APIAnswer) bool {
	return slices.ContainsFunc(answer.Causes, func(c record.APICause) bool { return c.Reason == string(policyv1.DisruptionBudgetCause) })
}

// isOfWebhook reports whether it was for want of a webhook that an API server could not answer
// (k8s.io/apiserver, plugin/webhook/errors; k8s.io/apiextensions-apiserver, pkg/apiserver/conversion).
func isOfWebhook(message string) bool {
	return strings.Contains(message, "failed calling webhook") || strings.Contains(message, "conversion webhook for")
}

// Stop implements action.Rig. While a component ends, the check of that is watched; what is still running when it is decided
// is killed.
func (r *run) Stop(ctx context.Context, stop action.Stop) error {
	if stop.Within == 0 {
		components, err := provider.As[provider.Components](r.session)
		if err != nil {
			return err
		}
		return components.Stop(ctx, stop.Component)
	}
	ender, err := provider.As[provider.Ender](r.session)
	if err != nil {
		return err
	}
	limited, kill := context.WithCancel(ctx)
	defer kill()
	stopped := make(chan error, 1)
	go func() { stopped <- ender.End(limited, stop.Component) }()
	err = r.Watch(ctx, action.Checks{Checks: stop.Checked()})
	kill()
	return errors.Join(err, <-stopped)
}

// Kill implements action.Rig.
func (r *run) Kill(component string) error {
	components, err := provider.As[provider.Components](r.session)
	if err != nil {
		return err
	}
	return components.Kill(component)
}

// Restart implements action.Rig. The component is then what the plan says that it is after the step.
func (r *run) Restart(ctx context.Context, to action.Restart) error {
	components, err := provider.As[provider.Components](r.session)
	if err != nil {
		return err
	}
	if !to.Stopped {
		if err := components.Stop(ctx, to.Component); err != nil {
			return err
		}
	}
	return components.Start(ctx, r.desired(to))
}

// desired returns what a component is after a restart. An action that no plan has says so itself.
func (r *run) desired(to action.Restart) record.Component {
	for _, c := range r.current.Components {
		if c.Name == to.Component {
			return c
		}
	}
	return record.Component{Name: to.Component, Version: to.Version, Gates: to.Gates, Settings: to.Settings}
}

// Reboot implements action.Rig.
func (r *run) Reboot(ctx context.Context, node string) error {
	nodes, err := provider.As[provider.Rebooter](r.session)
	if err != nil {
		return err
	}
	return nodes.Reboot(ctx, node)
}

// RunStaticPod implements action.Rig.
func (r *run) RunStaticPod(node string, pod map[string]any) error {
	kubelets, err := provider.As[provider.StaticPods](r.session)
	if err != nil {
		return err
	}
	return kubelets.RunStaticPod(node, pod)
}

// RemoveStaticPod implements action.Rig.
func (r *run) RemoveStaticPod(node, name string) error {
	kubelets, err := provider.As[provider.StaticPods](r.session)
	if err != nil {
		return err
	}
	return kubelets.RemoveStaticPod(node, name)
}

// Route implements action.Rig.
func (r *run) Route(component string, servers []string) error {
	links, err := provider.As[provider.Links](r.session)
	if err != nil {
		return err
	}
	return links.Route(component, servers)
}

// SetLink implements action.Rig.
func (r *run) SetLink(which spec.Link, f record.LinkFault) error {
	links, err := provider.As[provider.Links](r.session)
	if err != nil {
		return err
	}
	return links.SetLink(which, f)
}

// SetClock implements action.Rig.
func (r *run) SetClock(c action.Clock) error {
	clocks, err := provider.As[provider.Clocks](r.session)
	if err != nil {
		return err
	}
	return clocks.SetClock(c)
}
