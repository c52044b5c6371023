package oracle

import (
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/model"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// definition is how custom resources are defined and converted from a place of the record on.
type definition struct {
	action.CRD

	from       int
	conversion action.Conversion
}

// definitions are those of each resource, in the order of the steps that change them.
func definitions(cell plan.Cell, steps []*timeline.Step) map[string][]definition {
	actions := make(map[int]action.Action)
	for _, s := range cell.Steps {
		actions[s.Number] = s.Action
	}
	all := make(map[string][]definition)
	for _, taken := range steps {
		switch does := actions[taken.Number].(type) {
		case action.CRD:
			now := definition{CRD: does, from: taken.From.Place}
			if before := all[does.Plural]; len(before) > 0 {
				now.conversion = before[len(before)-1].conversion
			}
			all[does.Plural] = append(all[does.Plural], now)
		case action.Conversion:
			resource, _, _ := strings.Cut(does.Of, ".")
			if before := all[resource]; len(before) > 0 {
				all[resource] = append(before, definition{CRD: before[len(before)-1].CRD, from: taken.From.Place, conversion: does})
			}
		}
	}
	return all
}

// isCustom reports whether the objects of a version are custom resources: only Kubernetes itself
// has groups without a domain, or of its own (KEP-1111).
func isCustom(version string) bool {
	group, _, _ := strings.Cut(version, "/")
	return strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io")
}

// through is an API server as the model has it, as far as an object is concerned: for a custom
// resource, it has the types of the schemas and of the webhook that the object passes, whatever its
// gates are. It is false if these are not known.
func (s survival) through(server *timeline.Life, v *timeline.Version) (model.Component, bool) {
	version, _ := v.Fields()["apiVersion"].(string)
	if !isCustom(version) {
		return component(server), true
	}
	d := s.definedAt(v)
	if d == nil {
		return model.Component{}, false
	}
	is := model.Component{Effective: release.Effective{Version: release.Newest}, Gates: release.Gates{s.Gate: true}}
	for _, types := range d.passes(version) {
		older := model.Component{Effective: release.Effective{Version: types}}
		if !s.Knows(older, s.Field) {
			return older, true
		}
		is.Effective = older.Effective
	}
	return is, true
}

// definedAt is how a custom resource was defined when an object was seen; nil if that is not known.
func (r *run) definedAt(v *timeline.Version) (is *definition) {
	for _, d := range r.definitions[v.Resource] {
		if d.from <= v.Place {
			is = &d
		}
	}
	return is
}

// passes are the releases by whose types an object goes from a version to the stored one, or back.
func (d *definition) passes(version string) (all []release.Version) {
	stored := d.Versions[0]
	for _, v := range d.Versions {
		if v.Template != "" && (v == stored || d.Group+"/"+v.Name == version) {
			all = append(all, v.Template)
		}
	}
	if d.conversion.Reserialize != "" && d.Group+"/"+stored.Name != version {
		all = append(all, d.conversion.Reserialize)
	}
	return all
}

// hasVersions reports whether an object may be written by way of another version than that in which
// it is seen.
func (r *run) hasVersions(v *timeline.Version) bool {
	d := r.definedAt(v)
	return d != nil && len(d.Versions) > 1
}
