package oracle

import (
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/model"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// admission is the admission webhooks that API servers ask from a place of the record on, by what
// they are to answer.
type admission struct {
	from     int
	webhooks []action.Webhook
}

// admissions are the webhooks from each step on that changes them.
func admissions(cell plan.Cell, steps []*timeline.Step) (all []admission) {
	actions := make(map[int]action.Action)
	for _, s := range cell.Steps {
		actions[s.Number] = s.Action
	}
	var now []action.Webhook
	for _, taken := range steps {
		switch does := actions[taken.Number].(type) {
		case action.Webhook:
			now = append(butOf(now, does.Resource()+"/"+does.Name), does)
		case action.Delete:
			now = butOf(now, does.Object.String())
		default:
			continue
		}
		all = append(all, admission{taken.From.Place, now})
	}
	return all
}

// webhooksAt are the admission webhooks that API servers asked at a place of the record.
func (r *run) webhooksAt(place int) (now []action.Webhook) {
	for _, a := range r.admissions {
		if a.from <= place {
			now = a.webhooks
		}
	}
	return now
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
