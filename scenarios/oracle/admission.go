package oracle

import (
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/model"
)

// webhooksAt are the admission webhooks that API servers asked at a place of the record, by what
// they were to answer.
func (r *run) webhooksAt(place int) (all []action.Webhook) {
	for _, taken := range r.Steps {
		if taken.From.Place > place {
			break
		}
		step, known := r.step(taken.Number)
		if !known {
			continue
		}
		switch does := step.(type) {
		case action.Webhook:
			all = append(butOf(all, does.Resource()+"/"+does.Name), does)
		case action.Delete:
			all = butOf(all, does.Object.String())
		}
	}
	return all
}

// step is what a step of the cell does.
func (r *run) step(number int) (action.Action, bool) {
	for _, s := range r.cell.Steps {
		if s.Number == number {
			return s.Action, true
		}
	}
	return nil, false
}

// butOf are the webhooks but that of a configuration.
func butOf(all []action.Webhook, configuration string) []action.Webhook {
	return slices.DeleteFunc(slices.Clone(all), func(w action.Webhook) bool { return w.Resource()+"/"+w.Name == configuration })
}

// asksAbout reports whether a webhook is asked about an operation on a resource.
func asksAbout(w action.Webhook, operation, resource string) bool {
	matches := func(list []string, value string) bool {
		return slices.Contains(list, "*") || slices.Contains(list, value)
	}
	return slices.ContainsFunc(w.Rules, func(rule action.WebhookRule) bool {
		return matches(rule.Operations, operation) && (matches(rule.Resources, resource) || slices.Contains(rule.Resources, "*/*"))
	})
}

// admitted is what admission webhooks may make of what a request asks of a field.
func (s survival) admitted(place int, operation, resource string, asked model.Values) (possible []model.Values) {
	possible = []model.Values{asked}
	for _, w := range s.webhooksAt(place) {
		if !asksAbout(w, operation, resource) {
			continue
		}
		var after []model.Values
		for _, was := range possible {
			after = append(after, s.changedBy(w, was)...)
		}
		possible = after
	}
	return possible
}

// changedBy is what a webhook may make of a field.
func (s survival) changedBy(w action.Webhook, was model.Values) []model.Values {
	loses := w.Reserialize != "" && !s.Knows(model.Component{Effective: release.Effective{Version: w.Reserialize}}, s.Field)
	switch {
	case loses && w.Delay == 0:
		return []model.Values{nil}
	case loses: // it may have been too late
		return []model.Values{was, nil}
	default:
		return []model.Values{was}
	}
}

// patches reports whether a webhook may patch the field to be something else.
func (s survival) patches(place int, operation, resource string) bool {
	return slices.ContainsFunc(s.webhooksAt(place), func(w action.Webhook) bool {
		return asksAbout(w, operation, resource) && slices.ContainsFunc(w.Patch, func(o action.PatchOperation) bool { return strings.HasPrefix(o.Path, "/spec") || o.Path == "" })
	})
}
