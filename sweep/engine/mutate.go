package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/client-go/dynamic"

	"github.com/skewrig/skewrig/harness/apitypes"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/ask"
	"github.com/skewrig/skewrig/scenarios/law"
	"github.com/skewrig/skewrig/sweep/trial"
)

// make makes the objects, and asks what would be said of each mutation. Before a rollback, components are upgraded while there are
// objects without gated fields.
func (r *run) make(ctx context.Context) error {
	items := r.plan.Items
	if r.isRollback(r.plan.Transition) {
		isControl := func(i trial.Item) bool { return i.IsControl() && !i.Late() }
		if err := each(ctx, reports.Only(items, isControl), r.create); err != nil {
			return err
		}
		if err := r.changeBack(ctx); err != nil {
			return err
		}
		items = slices.DeleteFunc(slices.Clone(items), isControl)
	}
	if err := r.scrape(ctx); err != nil {
		return err
	}
	if err := each(ctx, items, r.create); err != nil {
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
	err = ask.Do(ctx, resource, i.Name, law.Request{Verb: law.Creates, Body: i.Object}, ask.Options{DryRun: i.Late()})
	switch {
	case err == nil || i.Late() && !r.plan.Random:
		return nil
	case r.plan.Random && ctx.Err() == nil && ask.IsAnswer(err): // two fields that can't be together
		r.mu.Lock()
		defer r.mu.Unlock()
		r.answers[i.Name] = []law.Answer{}
		return nil
	default:
		return fmt.Errorf("creating %s %s with %s: %w", i.Kind, i.Name, i.Field, err)
	}
}

// rehearse asks, before the change, whether the mutations would be taken.
func (r *run) rehearse(ctx context.Context, i trial.Item) error {
	var answers []law.Answer
	for _, t := range i.Mutations {
		on, err := r.ask(ctx, i, t, true)
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
		off, err := r.ask(ctx, i, t, false)
		if err != nil {
			return err
		}
		answers[n].Off = off
	}
	return nil
}

// ask mutates an object, and returns what the API server says.
func (r *run) ask(ctx context.Context, i trial.Item, t trial.Mutation, dryRun bool) (law.Said, error) {
	request := i.Request(t)
	s, err := ask.Until(ctx, request.Verb, func() error {
		resource, err := r.resource(i)
		if err != nil {
			return err
		}
		return ask.Do(ctx, resource, i.Name, request, ask.Options{Manager: trial.Manager, DryRun: dryRun})
	})
	if err != nil {
		return s, fmt.Errorf("%s %s with %s, %s: %w", i.Kind, i.Name, i.Field, t, err)
	}
	return s, nil
}

func (r *run) resource(i trial.Item) (dynamic.ResourceInterface, error) {
	group, version, grouped := strings.Cut(i.APIVersion, "/")
	if !grouped {
		group, version = "", group
	}
	return r.server.resource(apitypes.Kind{Group: group, Version: version, Name: i.Kind, Namespaced: i.Namespaced})
}
