package spec_test

import (
	"encoding"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// decode loads the scenario that a text is.
func decode(file, text string) (*spec.File, error) {
	files, err := action.Load(fstest.MapFS{file: {Data: []byte(text)}}, []string{file})
	if err != nil {
		return nil, err
	}
	return files[0], nil
}

// everything loads the scenario that has one of everything.
func everything(t *testing.T) *spec.File {
	t.Helper()
	files, err := action.Load(os.DirFS("testdata"), []string{"valid-everything.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	return files[0]
}

func TestCombinationsAreInOrderAndResolved(t *testing.T) {
	t.Parallel()
	var got []string
	for _, c := range everything(t).Combinations {
		var values []string
		for _, name := range slices.Sorted(maps.Keys(c.Axes)) {
			values = append(values, name+":"+c.Axes[name])
		}
		got = append(got, strings.Join(values, " "))
	}
	// What is the same release is there once.
	const newest = "apiserver:" + string(release.Newest)
	want := []string{
		newest + " gate:true kubelet:" + string(release.Newest),
		newest + " gate:true kubelet:" + string(release.Previous),
		newest + " gate:false kubelet:" + string(release.Newest),
		newest + " gate:false kubelet:" + string(release.Previous),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("combinations (-want +got):\n%s", diff)
	}
}

func TestReferencesTakeTheTypeOfTheirPlace(t *testing.T) {
	t.Parallel()
	s := everything(t).Combinations[3].Scenario
	if v := s.Topology.Nodes[1].Version; v != release.Previous {
		t.Errorf("version of node-b %q, want %s", v, release.Previous)
	}
	if diff := cmp.Diff(release.Gates{"AllBeta": false}, s.Topology.ControlPlane.Gates); diff != "" {
		t.Errorf("gates (-want +got):\n%s", diff)
	}
	want := map[string]any{"kubelet": string(release.Previous), "shell": "${HOME}", "gate": "false"}
	metadata := s.Steps[0].Action.(action.Inline)[0]["metadata"].(map[string]any)
	if diff := cmp.Diff(want, metadata["annotations"]); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

func TestValuesInManifestsAreThoseOfJSON(t *testing.T) {
	t.Parallel()
	f, err := decode("test.yaml", header+`
axes: {port: ["8443"], text: ["true"]}
steps:
- apply:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: x}
    whole: ${port}
    boolean: ${text}
    quoted: "${port}"
    part: port-${port}
    octal: 0644
    float: 1.5
    exponent: 1e3
    none: null
    empty:
    yes: "yes"
    date: 2020-01-02
    tagged: !!str 5
    list: [1, a, true]
    ${text}: key
`)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "x"},
		"whole": int64(8443), "boolean": true, "quoted": "8443", "part": "port-8443",
		"octal": int64(420), "float": 1.5, "exponent": 1000.0, "none": nil, "empty": nil,
		"yes": "yes", "date": "2020-01-02", "tagged": "5", "list": []any{int64(1), "a", true}, "true": "key",
	}
	if diff := cmp.Diff(want, f.Combinations[0].Scenario.Steps[0].Action.(action.Inline)[0]); diff != "" {
		t.Errorf("object (-want +got):\n%s", diff)
	}
}

func TestTypedValues(t *testing.T) {
	t.Parallel()
	s := everything(t).Combinations[0].Scenario
	if s.Topology.ControlPlane.Scheduler == nil || *s.Topology.ControlPlane.Scheduler {
		t.Error("the scheduler is not off")
	}
	if s.Topology.ControlPlane.ControllerManager != nil {
		t.Error("the controller manager is set")
	}
	if within := time.Duration(s.Steps[8].Action.(action.Wait).Within); within != 90*time.Second {
		t.Errorf("within %s, want 90s", within)
	}
	wantListener := behavior.Listener{
		Port: 8443, Protocol: behavior.GRPCTLS, TLS: &behavior.TLS{Certificate: behavior.Expired},
		Phases: behavior.Timeline{
			{For: behavior.Duration(10 * time.Second), GRPC: &behavior.Health{Services: map[string]behavior.ServingStatus{"": behavior.Serving}}},
			{GRPC: &behavior.Health{Services: map[string]behavior.ServingStatus{"": behavior.NotServing}}},
		},
	}
	if diff := cmp.Diff(wantListener, s.Images[0].Listen[0]); diff != "" {
		t.Errorf("listener (-want +got):\n%s", diff)
	}
	checks := s.Steps[9].Action.(action.WrittenChecks)
	if is := checks[0].Is; is == nil || *is != any(int64(0)) {
		t.Errorf("is: 0 was read as %v", is)
	}
	if checks[1].Is != nil {
		t.Error("a check with must has is")
	}
	if is := checks[2].Is; is == nil || *is != nil {
		t.Errorf("is: null was read as %v", is)
	}
	if n := len(s.Steps[1].Action.(action.File).Objects); n != 2 {
		t.Errorf("%d objects in the file, want 2", n)
	}
}

func TestLengthCountsTheShortestProbePeriod(t *testing.T) {
	t.Parallel()
	s := everything(t).Combinations[0].Scenario
	for _, tc := range []struct {
		span spec.Span
		want time.Duration
	}{
		{spec.Span{For: "90s"}, 90 * time.Second},
		{spec.Span{For: "5 periods", Of: "tls/app"}, 10 * time.Second},
		{spec.Span{For: "1 period", Of: "default/tls/app"}, 2 * time.Second},
		// Zero is what the API server takes for unset.
		{spec.Span{For: "3 periods", Of: "shop/web/app"}, 30 * time.Second},
	} {
		if got, err := s.Length(tc.span); err != nil || got != tc.want {
			t.Errorf("%v: %s, %v, want %s", tc.span, got, err, tc.want)
		}
	}
	if _, err := s.Length(spec.Span{For: "1 period", Of: "web/app"}); err == nil {
		t.Error("a container of another namespace was found in default")
	}
}

func TestPositionsOfFields(t *testing.T) {
	t.Parallel()
	f := everything(t)
	for path, want := range map[string]strict.Position{
		"id":                                     {Line: 4, Column: 5},
		"topology.controlPlane.gates":            {Line: 14, Column: 12},
		`topology.controlPlane.gates["AllBeta"]`: {Line: 14, Column: 22},
		"steps[0]":                               {Line: 36, Column: 3},
		"steps[0].apply[0]":                      {Line: 38, Column: 5},
		"steps[9].checks[1].must":                {Line: 75, Column: 11},
		// What isn't there is where it would be.
		"steps[9].checks[1].always.for": {Line: 72, Column: 5},
		"steps[99].name":                {Line: 36, Column: 1},
		"steps[0].apply[1]":             {Line: 38, Column: 5},
		"steps[x":                       {Line: 36, Column: 1},
	} {
		want.File = f.Path
		if got := f.Position(path); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

const header = `apiVersion: skewrig.dev/v1alpha1
kind: Scenario
id: a/b/c
title: A test
topology: {controlPlane: {}}
`

func TestLoadJoinsTheProblemsOfAllFiles(t *testing.T) {
	t.Parallel()
	step := header + "steps:\n- file: shared.yaml\n"
	_, err := action.Load(fstest.MapFS{
		"dir/b.yaml":      {Data: []byte(step)},
		"dir/a.yaml":      {Data: []byte(step + "x: y\n")},
		"dir/shared.yaml": {Data: []byte("kind: Pod\n")},
	}, []string{"dir/b.yaml", "missing.yaml", "dir/a.yaml"})
	var all *strict.Errors
	if !errors.As(err, &all) {
		t.Fatalf("error %v, want problems", err)
	}
	want := []strict.Problem{
		{Position: strict.Position{File: "dir/a.yaml", Line: 8, Column: 1}, Message: `unknown field "x": known are apiVersion, kind, id, title, control, axes, where, compare, topology, images, steps`},
		{Position: strict.Position{File: "dir/shared.yaml", Line: 1, Column: 1}, Message: "the object has no apiVersion"},
		{Position: strict.Position{File: "dir/shared.yaml", Line: 1, Column: 1}, Message: "the object has no metadata.name"},
		{Position: strict.Position{File: "missing.yaml", Line: 1, Column: 1}, Message: "there is no such file"},
	}
	if diff := cmp.Diff(want, all.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestHostileTextIsBounded(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	bomb := "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n" + strings.Repeat("d: [*c, *c, *c, *c]\n", 1000)
	values := "[v" + strings.Repeat("v, v", 99) + "]"
	var axes strings.Builder
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		fmt.Fprintf(&axes, "  %s: %s\n", name, values)
	}
	for name, tc := range map[string]struct {
		text string
		want string // of one of the problems
	}{
		"long":           {strings.Repeat("#", 1<<20+1), "must be at most 1 MiB"},
		"deep":           {header + "steps:\n- apply: " + deep, "nested more than 100 levels deep"},
		"alias bomb":     {bomb, "aliases are not supported"},
		"many problems":  {strings.Repeat("unknown: 1\n", 20000), "more problems from here on"},
		"many cells":     {header + "axes:\n" + axes.String() + "steps:\n- stop: etcd\n", "the axes must give at most 256"},
		"many documents": {header + "steps:\n- stop: etcd\n" + strings.Repeat("---\na\n", 1000), "more than 200 documents"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := decode("test.yaml", tc.text)
			var all *strict.Errors
			if !errors.As(err, &all) || len(all.Problems) > 200 || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %.300v, want one with %q and at most 200 problems", err, tc.want)
			}
		})
	}
}

func TestEveryFieldOfTheLanguageHasAName(t *testing.T) {
	t.Parallel()
	// A field without a json tag could not be written in a file.
	seen := map[reflect.Type]bool{}
	var visit func(reflect.Type)
	visit = func(typ reflect.Type) {
		for typ.Kind() == reflect.Slice || typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Map {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || seen[typ] || typ == reflect.TypeFor[spec.ObjectRef]() {
			return
		}
		seen[typ] = true
		for field := range typ.Fields() {
			if field.Tag.Get("json") == "" && !field.Anonymous {
				t.Errorf("%s.%s has no json tag", typ, field.Name)
			}
			visit(field.Type)
		}
	}
	visit(reflect.TypeFor[spec.Topology]())
	visit(reflect.TypeFor[spec.Image]())
	for _, kind := range action.Kinds() {
		if !reflect.PointerTo(kind.Type).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
			visit(kind.Type)
		}
	}
	if len(seen) < 15 {
		t.Errorf("only %d types were looked at", len(seen))
	}
}
