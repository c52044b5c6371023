package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEachAt(t *testing.T) {
	t.Parallel()
	template := func(name string) map[string]any { return map[string]any{"template": name} }
	object := map[string]any{"spec": map[string]any{
		"template": "a", "jobs": []any{template("b"), template("c"), "odd"}, "templates": []any{"d"},
	}}
	louder := func(value any) (any, error) { return strings.ToUpper(value.(string)), nil }
	for _, path := range []string{"spec.template", "spec.jobs[].template", "spec.templates[]", "spec.template.more", "spec.none", "status.none[].template"} {
		if err := eachAt(object, strings.Split(path, "."), louder); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	want := map[string]any{"spec": map[string]any{
		"template": "A", "jobs": []any{template("B"), template("C"), "odd"}, "templates": []any{"D"},
	}}
	if diff := cmp.Diff(want, object); diff != "" {
		t.Errorf("the object (-want +got):\n%s", diff)
	}
	wrong := errors.New("no such type")
	for _, path := range []string{"spec.template", "spec.jobs[].template"} {
		if err := eachAt(object, strings.Split(path, "."), func(any) (any, error) { return nil, wrong }); !errors.Is(err, wrong) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
