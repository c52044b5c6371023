package rehearse

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/rehearse/manifest"
	"github.com/skewrig/skewrig/sweep/gated"
)

// API is what the sources of a release say of its fields.
type API struct {
	gated.Release

	// Set are the gates that are set. If unset, all have their defaults.
	Set release.Gates
	// Has reports whether objects of a kind can have a field: spec.containers[].image. It reports true of a kind that is not
	// Kubernetes' own.
	Has func(apiVersion, kind, field string) bool
}

// Explained is the report with the cause of what happens to fields: a gate that guards the field, or an API that does not have
// it. A notice names each gate that is on in one of the releases alone, and guards a field of an object that was stored.
func (r Report) Explained(from, to API, objects []manifest.Object) Report {
	r.Findings = slices.Clone(r.Findings)
	for i, f := range r.Findings {
		if f.Field != "" && len(f.Objects) > 0 {
			r.Findings[i].Cause = causeOf(from, to, f.Objects[0].Ref, f.Field)
		}
	}
	notices, stored := make(map[string][]Ref), make(map[string]Ref)
	for _, o := range r.Objects {
		stored[fmt.Sprint(o.Place, o.Kind, o.Name)] = o.Ref
	}
	for _, o := range objects {
		ref := RefOf(o)
		ref, is := stored[fmt.Sprint(ref.Place, ref.Kind, ref.Name)]
		if !is {
			continue
		}
		for path := range leaves(o.Object) {
			for _, text := range gatesOf(from, to, ref, field(path)) {
				if !slices.Contains(notices[text], ref) {
					notices[text] = append(notices[text], ref)
				}
			}
		}
	}
	r.Notices = slices.Clone(r.Notices)
	for _, text := range slices.Sorted(maps.Keys(notices)) {
		r.Notices = append(r.Notices, Notice{Text: text, Objects: notices[text]})
	}
	return r
}

// causeOf is what is responsible for what happens to a field. It is empty if that is not known.
func causeOf(from, to API, of Ref, field string) string {
	causes := gatesOf(from, to, of, field)
	for _, api := range []API{from, to} {
		if !api.Has(of.APIVersion, of.Kind, field) {
			causes = append(causes, fmt.Sprintf("the API of %s does not have %s", api.Version, field))
		}
	}
	return strings.Join(causes, "; ")
}

// gatesOf says which gates guard a field and are on in one of the releases alone.
func gatesOf(from, to API, of Ref, field string) (all []string) {
	names := append(from.guards(of, field), to.guards(of, field)...)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		isOn, was := to.gate(name), from.gate(name)
		if isOn != was {
			all = append(all, fmt.Sprintf("the feature gate %s guards %s: %s in %s, %s in %s", name, field, was, from.Version, isOn, to.Version))
		}
	}
	return all
}

// guards are the names of the gates that guard a field.
func (a API) guards(of Ref, field string) (names []string) {
	for _, g := range a.Gates {
		for _, f := range g.Fields {
			if slices.ContainsFunc(f.Places, func(p gated.Place) bool {
				return p.APIVersion == of.APIVersion && p.Kind == of.Kind && isBelow(field, p.Path)
			}) {
				names = append(names, g.Name)
			}
		}
	}
	return names
}

// gate says whether a gate is on: "on", "off", or "unknown" of one that the release does not have.
func (a API) gate(name string) string {
	at := slices.IndexFunc(a.Gates, func(g gated.Gate) bool { return g.Name == name })
	if at < 0 {
		return "unknown"
	}
	isOn, set := a.Set[name]
	if !set {
		isOn = a.Gates[at].Default
	}
	if isOn {
		return "on"
	}
	return "off"
}

// isBelow reports whether a field is another one, or one of its values.
func isBelow(field, of string) bool {
	rest, is := strings.CutPrefix(field, strings.TrimSuffix(strings.TrimSuffix(of, "[]"), "{}"))
	return is && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
