// Package gated says what the feature gates of a release guard: fields of the API, each with where
// objects can have it, as the release's own sources have it.
package gated

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/apitypes"
	"github.com/skewrig/skewrig/harness/release"
)

// Release is what can be turned on and off in a release.
type Release struct {
	Version release.Version `json:"version"`
	// Gates are sorted by name.
	Gates []Gate `json:"gates"`
	// Unknown are fields with a marker of a gate that the release does not have.
	Unknown []Field `json:"unknown"`
}

// Gate is a feature gate with the fields that it guards. One without fields changes behavior only, or
// guards something that the types do not say.
type Gate struct {
	Name    string        `json:"name"`
	Stage   release.Stage `json:"stage"`
	Default bool          `json:"default"`
	// Locked is true if it can't be set to anything but its default.
	Locked bool `json:"locked"`
	// Since is the first minor version in which it had this stage and default. If unset, it has
	// them in all that the release can emulate.
	Since release.Version `json:"since,omitempty"`
	// Needs are the gates that must be on if it is, sorted by name.
	Needs []string `json:"needs,omitempty"`
	// Fields are sorted by name.
	Fields []Field `json:"fields"`
}

// Field is a field of a structure of the API that gates guard.
type Field struct {
	// Name is the structure with the field: core/v1.GRPCAction.mode.
	Name string `json:"name"`
	// Gates must all be on for the field to be there, sorted by name.
	Gates []string `json:"gates"`
	// Type is as in Go, without pointers: string, []core/v1.Container.
	Type string `json:"type"`
	// Values are all that it can have, if the types say so.
	Values []string `json:"values,omitempty"`
	// Default is what the types say is filled in.
	Default string `json:"default,omitempty"`
	// ByComment is true if it is the comment that names the gates, and no marker.
	ByComment bool `json:"byComment,omitempty"`
	// File and Line are where it is declared.
	File string `json:"file"`
	Line int    `json:"line"`
	// Places are where objects can have it, by kind. If there are none, no object has it that is
	// stored: it may be an option of a request.
	Places []Place `json:"places"`
}

// Place is where an object can have a field.
type Place struct {
	// APIVersion and Kind are those of the object, and Path is where the field is in it:
	// spec.containers[].livenessProbe.grpc.mode. Lists end with [], and maps with {}.
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Path       string `json:"path"`
	// Under are the gates of the fields that it is in, sorted by name. They must be on too.
	Under []string `json:"under,omitempty"`
}

// Of joins the gates of a release with the fields that its types say they guard.
func Of(v release.Version, table []release.Gate, api *apitypes.API) Release {
	fields := guarded(v, table, api)
	all := Release{Version: v, Unknown: []Field{}}
	known := make(map[string]bool)
	for _, g := range table {
		known[g.Name] = true
		all.Gates = append(all.Gates, Gate{
			Name: g.Name, Stage: g.Stage, Default: g.Default, Locked: g.Locked, Since: since(g), Needs: g.Needs, Fields: guardedBy(g.Name, fields),
		})
	}
	for _, f := range fields {
		if !slices.ContainsFunc(f.Gates, func(name string) bool { return known[name] }) {
			all.Unknown = append(all.Unknown, f)
		}
	}
	return all
}

func since(g release.Gate) release.Version {
	if len(g.Versions) == 0 {
		return ""
	}
	return g.Versions[len(g.Versions)-1].Since
}

func guardedBy(name string, all []Field) []Field {
	fields := []Field{}
	for _, f := range all {
		if slices.Contains(f.Gates, name) {
			fields = append(fields, f)
		}
	}
	return fields
}

// guarded are all fields that gates guard, sorted by name, with the kinds that the release serves.
func guarded(v release.Version, table []release.Gate, api *apitypes.API) (all []Field) {
	byPlace := make(map[string]*Field) // by the file and line of the declaration
	named := namer(table)
	for _, t := range api.Types() {
		for _, f := range t.Fields {
			gates, byComment := gatesOf(f, named)
			if len(gates) == 0 {
				continue
			}
			byPlace[declared(f)] = &Field{
				Name: fieldName(t, f), Gates: gates, Type: f.Type.String(),
				Values: api.Values(f.Type), Default: strings.Join(apitypes.Valued(f.Markers, "default"), ", "),
				ByComment: byComment, File: f.File, Line: f.Line, Places: []Place{},
			}
		}
	}
	for _, k := range Served(v, api) {
		api.Walk(k, func(p apitypes.Place) {
			if field := byPlace[declared(p.Field)]; field != nil {
				field.Places = append(field.Places, Place{k.APIVersion(), k.Name, p.Path, above(p, field.Gates, byPlace)})
			}
		})
	}
	for _, f := range byPlace {
		all = append(all, *f)
	}
	slices.SortFunc(all, func(a, b Field) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Served are the kinds that a release serves, with all APIs on.
func Served(v release.Version, api *apitypes.API) []apitypes.Kind {
	return slices.DeleteFunc(api.Kinds(), func(k apitypes.Kind) bool { return k.Removed != 0 && k.Removed <= v.Minor() })
}

// fieldName is a field with its structure.
func fieldName(t *apitypes.Type, f apitypes.Field) string { return t.String() + "." + f.Name }

// declared is where a field is declared.
func declared(f apitypes.Field) string { return fmt.Sprintf("%s:%d", f.File, f.Line) }

// above are the gates of the fields that a place is in, other than its own.
func above(p apitypes.Place, own []string, guarded map[string]*Field) (gates []string) {
	for _, f := range p.Above {
		if field := guarded[declared(f)]; field != nil {
			gates = append(gates, field.Gates...)
		}
	}
	gates = slices.DeleteFunc(gates, func(name string) bool { return slices.Contains(own, name) })
	slices.Sort(gates)
	return slices.Compact(gates)
}

// gatesOf are the gates that guard a field: those that its markers name, or else those of which its
// comment says that they must be on.
func gatesOf(f apitypes.Field, named *regexp.Regexp) (gates []string, byComment bool) {
	for _, marker := range apitypes.Valued(f.Markers, "featureGate") {
		gates = append(gates, strings.Split(marker, ",")...)
	}
	if len(gates) == 0 {
		for _, found := range named.FindAllStringSubmatch(f.Comment, -1) {
			gates = append(gates, found[1]+found[2])
		}
		byComment = len(gates) > 0
	}
	slices.Sort(gates)
	return slices.Compact(gates), byComment
}

// namer finds the gates that a comment asks to be on: "requires the A feature gate", or "feature gate A".
func namer(table []release.Gate) *regexp.Regexp {
	var names []string
	for _, g := range table {
		names = append(names, g.Name)
	}
	named := `["'` + "`" + `]?\b(` + strings.Join(names, "|") + `)\b["'` + "`" + `]?`
	return regexp.MustCompile(`(?i:feature[- ]?gates?,? (?:named )?)` + named + `|` + named + `(?i: (?:and \w+ )?feature[- ]?gate)`)
}

// Fields are those of all gates, sorted by name.
func (r Release) Fields() (all []Field) {
	for _, g := range r.Gates {
		for _, f := range g.Fields {
			if !slices.ContainsFunc(all, func(other Field) bool { return other.Name == f.Name }) {
				all = append(all, f)
			}
		}
	}
	slices.SortFunc(all, func(a, b Field) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// ByKind are the places of a field, those of each kind together.
func (f Field) ByKind() (all [][]Place) {
	for i, p := range f.Places {
		if before := i - 1; before >= 0 && f.Places[before].APIVersion == p.APIVersion && f.Places[before].Kind == p.Kind {
			all[len(all)-1] = append(all[len(all)-1], p)
			continue
		}
		all = append(all, []Place{p})
	}
	return all
}
