package object_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/skewrig/skewrig/harness/apitypes"
	"github.com/skewrig/skewrig/sweep/object"
)

// tools is the source of an API. A quote stands for that of a tag.
const tools = `package v1

// +genclient
type Hammer struct {
	metav1.ObjectMeta 'json:"metadata,omitempty"'
	Spec HammerSpec   'json:"spec,omitempty"'
	Status HammerStatus 'json:"status,omitempty"'
}

type HammerSpec struct {
	Head string 'json:"head"'
	Weight int32 'json:"weight,omitempty"'
	Nails []Nail 'json:"nails,omitempty"'
	Boxes []Box 'json:"boxes,omitempty"'
	Grip 'json:",inline"'
}

type Grip struct {
	Left *Hand  'json:"left,omitempty"'
	Right *Hand 'json:"right,omitempty"'
}

type Hand struct {
	Fingers int 'json:"fingers,omitempty"'
}

type Nail struct {
	Box string   'json:"box"'
	Metal Metal 'json:"metal,omitempty"'
	Sizes map[string]int 'json:"sizes,omitempty"'
}

type Box struct {
	Name string 'json:"name"'
}

// +enum
type Metal string

const (
	Iron Metal = "Iron"
	Gold Metal = "Gold"
)

type HammerStatus struct {
	Worn bool 'json:"worn,omitempty"'
}
`

func maker(t *testing.T) (object.Maker, apitypes.Kind) {
	t.Helper()
	api := new(apitypes.API)
	if err := api.Read(fstest.MapFS{"tools/v1/types.go": {Data: []byte(strings.ReplaceAll(tools, "'", "`"))}}, "k8s.io/api"); err != nil {
		t.Fatal(err)
	}
	hints := object.Hints{Beside: map[string]object.Beside{
		"tools/*.Nail.box": {In: "tools/v1.HammerSpec", Add: map[string]any{"boxes": []any{map[string]any{"name": object.Name}}}},
	}}
	return object.Maker{API: api, Hints: hints}, api.Kinds()[0]
}

// server refuses objects in which a check finds something, and stores what it does not drop.
type server struct {
	check func(o map[string]any) field.ErrorList
	drop  string
	tries int
}

func (s *server) Try(_ context.Context, kind apitypes.Kind, o map[string]any, status bool) (map[string]any, error) {
	s.tries++
	if status != unstructuredHas(o, "status") {
		return nil, errors.New("the status is written by itself")
	}
	if found := s.check(o); len(found) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: kind.Name}, object.Name, found)
	}
	unstructured.RemoveNestedField(o, strings.Split(s.drop, ".")...)
	return o, nil
}

func unstructuredHas(o map[string]any, path ...string) bool {
	_, is, _ := unstructured.NestedFieldNoCopy(o, path...)
	return is
}

func at(path ...string) *field.Path { return field.NewPath(path[0], path[1:]...) }

// TestReach: what a server says of an object is made up for, one thing after the other.
func TestReach(t *testing.T) {
	t.Parallel()
	text := func(o map[string]any, path ...string) string {
		v, _, _ := unstructured.NestedFieldNoCopy(o, path...)
		return fmt.Sprint(v)
	}
	nails := func(o map[string]any) map[string]any {
		list, _, _ := unstructured.NestedSlice(o, "spec", "nails")
		if len(list) == 0 {
			return nil
		}
		return list[0].(map[string]any)
	}
	for name, tc := range map[string]struct {
		path  string
		check func(o map[string]any) (all field.ErrorList)
		want  map[string]any // the spec, or the status
	}{
		"nothing is wrong": {path: "spec.nails[].metal", want: map[string]any{
			"head": "sweep", "nails": []any{map[string]any{"box": "sweep", "metal": "Gold"}},
		}},
		"a status": {path: "status.worn", want: map[string]any{"worn": true}},
		"another value of the field itself": {
			path: "spec.nails[].metal",
			check: func(o map[string]any) (all field.ErrorList) {
				if nails(o)["metal"] != "Iron" {
					all = append(all, field.NotSupported(at("spec", "nails").Index(0).Child("metal"), nails(o)["metal"], []string{"Iron"}))
				}
				return all
			},
			want: map[string]any{"head": "sweep", "nails": []any{map[string]any{"box": "sweep", "metal": "Iron"}}},
		},
		"a number in a range, and a name of another form": {
			path: "spec.weight",
			check: func(o map[string]any) (all field.ErrorList) {
				if text(o, "spec", "weight") != "40" {
					all = append(all, field.Invalid(at("spec", "weight"), 1, "must be greater than or equal to 40"))
				}
				if text(o, "spec", "head") != "/a" {
					all = append(all, field.Invalid(at("spec", "head"), "sweep", "must be an absolute path"))
				}
				return all
			},
			want: map[string]any{"head": "/a", "weight": int64(40)},
		},
		"one of several": {
			path: "spec.weight",
			check: func(o map[string]any) (all field.ErrorList) {
				if !unstructuredHas(o, "spec", "left") && !unstructuredHas(o, "spec", "right") {
					all = append(all, field.Required(at("spec"), "exactly one of `left` and `right` is required"))
				}
				return all
			},
			want: map[string]any{"head": "sweep", "weight": int64(1), "left": map[string]any{}},
		},
		"what does not go with the field": {
			path: "spec.nails[].sizes",
			check: func(o map[string]any) (all field.ErrorList) {
				if !unstructuredHas(o, "spec", "weight") {
					all = append(all, field.Required(at("spec", "weight"), ""))
				}
				if unstructuredHas(o, "spec", "head") {
					all = append(all, field.Forbidden(at("spec", "head"), "may not be set with nails"))
				}
				return all
			},
			want: map[string]any{"weight": int64(1), "nails": []any{map[string]any{"box": "sweep", "sizes": map[string]any{"sweep": int64(1)}}}},
		},
		"what a field names": {
			path: "spec.nails[].metal",
			check: func(o map[string]any) (all field.ErrorList) {
				if !unstructuredHas(o, "spec", "boxes") {
					all = append(all, field.NotFound(at("spec", "nails").Index(0).Child("box"), "sweep"))
				}
				return all
			},
			want: map[string]any{
				"head": "sweep", "nails": []any{map[string]any{"box": "sweep", "metal": "Gold"}}, "boxes": []any{map[string]any{"name": "sweep"}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, kind := maker(t)
			if tc.check == nil {
				tc.check = func(map[string]any) field.ErrorList { return nil }
			}
			got, err := m.Reach(t.Context(), &server{check: tc.check}, kind, tc.path)
			if err != nil {
				t.Fatal(err)
			}
			part, _, _ := strings.Cut(tc.path, ".")
			if diff := cmp.Diff(tc.want, got[part]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestNotReached: a field that is dropped, and an object that can't be made valid, after a bounded
// number of attempts.
func TestNotReached(t *testing.T) {
	t.Parallel()
	m, kind := maker(t)
	fine := func(map[string]any) field.ErrorList { return nil }
	if _, err := m.Reach(t.Context(), &server{check: fine, drop: "spec.weight"}, kind, "spec.weight"); !errors.Is(err, object.ErrDropped) {
		t.Errorf("a field that is dropped: %v", err)
	}
	s := &server{check: func(map[string]any) field.ErrorList {
		return field.ErrorList{field.Invalid(at("spec", "head"), "", "never right")}
	}}
	if _, err := m.Reach(t.Context(), s, kind, "spec.weight"); err == nil || !strings.Contains(err.Error(), "never right") || s.tries > 60 {
		t.Errorf("after %d attempts: %v", s.tries, err)
	}
}

// TestHints: those of the package are about types that there are in their form.
func TestHints(t *testing.T) {
	t.Parallel()
	h, err := object.DefaultHints()
	if err != nil || h.Count() == 0 {
		t.Errorf("%d hints: %v", h.Count(), err)
	}
}
