package app

import (
	"context"
	"strings"

	"github.com/skewrig/skewrig/harness/apitypes"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/rehearse"
)

// apiOf reads what the sources of a release say of its fields.
func apiOf(ctx context.Context, builder *build.Builder, v release.Version, set release.Gates) (rehearse.API, error) {
	gates, api, err := Gates(ctx, builder, string(v))
	if err != nil {
		return rehearse.API{}, err
	}
	return rehearse.API{Release: gates, Set: set, Has: fieldsOf(api)}, nil
}

// fieldsOf returns a function that reports whether objects of a kind can have a field: see rehearse.API.
func fieldsOf(api *apitypes.API) func(apiVersion, kind, field string) bool {
	kinds := make(map[string]apitypes.Kind)
	for _, k := range api.Kinds() {
		kinds[k.APIVersion()+" "+k.Name] = k
	}
	fields := make(map[string]map[string]bool) // of the kinds that were asked for
	return func(apiVersion, kind, field string) bool {
		name := apiVersion + " " + kind
		k, known := kinds[name]
		if !known {
			return true
		}
		if fields[name] == nil {
			fields[name] = innerFields(api, k)
		}
		return canHave(fields[name], bare(field))
	}
}

// innerFields are the fields of a kind by their paths: whether there are fields below them.
func innerFields(api *apitypes.API, k apitypes.Kind) map[string]bool {
	inner := make(map[string]bool)
	api.Walk(k, func(p apitypes.Place) {
		path := bare(p.Path)
		if !inner[path] {
			inner[path] = false
		}
		if above := strings.LastIndexByte(path, '.'); above > 0 {
			inner[path[:above]] = true
		}
	})
	return inner
}

// bare is a path without the marks of lists and maps.
func bare(path string) string { return strings.NewReplacer("[]", "", "{}", "").Replace(path) }

// canHave reports whether a field is among others, or below one of which the fields are not known: a map, or one whose type
// contains itself.
func canHave(inner map[string]bool, field string) bool {
	if _, is := inner[field]; is {
		return true
	}
	for above := strings.LastIndexByte(field, '.'); above > 0; above = strings.LastIndexByte(field[:above], '.') {
		if hasFields, is := inner[field[:above]]; is {
			return !hasFields
		}
	}
	return false
}
