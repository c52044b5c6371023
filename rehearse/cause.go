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
	guards := guardsOf(from, to)
	r.Findings = slices.Clone(r.Findings)
	for i, f := range r.Findings {
		if f.Field != "" && len(f.Objects) > 0 {
			r.Findings[i].Cause = causeOf(from, to, guards, f.Objects[0].Ref, f.Field)
		}
	}
	notices, stored := make(map[string][]Ref), make(map[Ref]Ref)
	for _, o := range r.Objects {
		stored[o.AsRead()] = o.Ref
	}
	for _, o := range objects {
		ref, is := stored[RefOf(o).AsRead()]
		if !is || len(guards[kindOf(ref)]) == 0 {
			continue
		}
		for path := range leaves(o.Object) {
			for _, text := range guards.over(ref, field(path)) {
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
func causeOf(from, to API, guards guards, of Ref, field string) string {
	causes := guards.over(of, field)
	for _, api := range []API{from, to} {
		if !api.Has(of.APIVersion, of.Kind, field) {
			causes = append(causes, fmt.Sprintf("the API of %s does not have %s", api.Version, field))
		}
	}
	return strings.Join(causes, "; ")
}

// guards are the fields that gates guard which are on in one of two releases alone, by the kinds of objects.
type guards map[string][]guard

// guard is a gate that guards a field. States are whether it is on: "off in v1.90.1, on in v1.91.0".
type guard struct{ gate, path, states string }

// kindOf is the kind of an object, with its version.
func kindOf(r Ref) string { return r.APIVersion + " " + r.Kind }

// guardsOf compares the gates of two releases.
func guardsOf(from, to API) guards {
	all := make(guards)
	for _, api := range []API{from, to} {
		for _, g := range api.Gates {
			was, isOn := from.gate(g.Name), to.gate(g.Name)
			if was == isOn {
				continue
			}
			states := fmt.Sprintf("%s in %s, %s in %s", was, from.Version, isOn, to.Version)
			for _, f := range g.Fields {
				for _, p := range f.Places {
					kind := p.APIVersion + " " + p.Kind
					all[kind] = append(all[kind], guard{g.Name, p.Path, states})
				}
			}
		}
	}
	return all
}

// over says which gates guard a field of an object.
func (g guards) over(r Ref, field string) (all []string) {
	for _, one := range g[kindOf(r)] {
		if isBelow(field, one.path) {
			all = append(all, fmt.Sprintf("the feature gate %s guards %s: %s", one.gate, field, one.states))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// gate says whether a gate is on: "on", "off", or "unknown" of one that the release does not have.
func (a API) gate(name string) string {
	at := slices.IndexFunc(a.Gates, func(g gated.Gate) bool { return g.Name == name })
	if at < 0 {
		return "unknown"
	}
	g := a.Gates[at]
	if (release.Gate{Name: g.Name, Stage: g.Stage, Default: g.Default, Locked: g.Locked}).On(a.Set) {
		return "on"
	}
	return "off"
}

// isBelow reports whether a field is another one, or one of its values.
func isBelow(field, of string) bool {
	rest, is := strings.CutPrefix(field, strings.TrimSuffix(strings.TrimSuffix(of, "[]"), "{}"))
	return is && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
