package rehearse

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/rehearse/manifest"
	"github.com/skewrig/skewrig/sweep/gated"
)

// apis are those of two releases: a gate guards a field that only the newer one has, another one a list, and the API of the newer
// one has no more spec.gone.
func apis() (from, to API) {
	guarding := func(name string, isOn bool, path string) gated.Gate {
		return gated.Gate{Name: name, Stage: release.Alpha, Default: isOn, Fields: []gated.Field{{Places: []gated.Place{{APIVersion: "apps/v1", Kind: "Deployment", Path: path}}}}}
	}
	from = API{Release: gated.Release{Version: "v1.90.1", Gates: []gated.Gate{guarding("Listed", false, "spec.list[]")}}}
	to = API{Release: gated.Release{Version: "v1.91.0", Gates: []gated.Gate{guarding("Listed", true, "spec.list[]"), guarding("Shiny", false, "spec.template.spec.containers[].shiny")}}}
	from.Has = func(_, _, field string) bool { return !strings.HasSuffix(field, "shiny") }
	to.Has = func(_, _, field string) bool { return field != "spec.gone" }
	return from, to
}

func TestCausesOfWhatHappensToFields(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ field, set, want string }{
		{"spec.template.spec.containers[].shiny", "", "the feature gate Shiny guards spec.template.spec.containers[].shiny: unknown in v1.90.1, off in v1.91.0; the API of v1.90.1 does not have spec.template.spec.containers[].shiny"},
		{"spec.list[].name", "", "the feature gate Listed guards spec.list[].name: off in v1.90.1, on in v1.91.0"},
		{"spec.list[].name", "Listed", ""},
		{"spec.list[].name", "AllAlpha", ""},
		{"spec.listed", "", ""},
		{"spec.gone", "", "the API of v1.91.0 does not have spec.gone"},
	} {
		from, to := apis()
		if c.set != "" {
			from.Set = release.Gates{c.set: true}
		}
		r := Report{Findings: []Finding{{Field: c.field, Objects: []Affected{{Ref: Ref{APIVersion: "apps/v1", Kind: "Deployment"}}}}}}
		if diff := cmp.Diff(c.want, r.Explained(from, to, nil).Findings[0].Cause); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.field, diff)
		}
	}
}

// TestGatesWithAnotherDefault are noticed once, with all objects.
func TestGatesWithAnotherDefault(t *testing.T) {
	t.Parallel()
	from, to := apis()
	var objects []manifest.Object
	for _, text := range []string{`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {list: [{name: x}, {name: y}]}}`, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: b}, spec: {list: [{name: x}]}}`, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: c}, spec: {gone: 1}}`} {
		objects = append(objects, manifest.Object{Object: decoded(t, text)})
	}
	var r Report
	for _, o := range objects[:2] {
		ref := RefOf(o)
		ref.Namespace = "default"
		r.Objects = append(r.Objects, Object{Ref: ref})
	}
	notices := r.Explained(from, to, append(objects, objects[0])).Notices
	want := []Notice{{Text: "the feature gate Listed guards spec.list[].name: off in v1.90.1, on in v1.91.0", Objects: []Ref{r.Objects[0].Ref, r.Objects[1].Ref}}}
	if diff := cmp.Diff(want, notices); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
