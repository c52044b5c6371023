package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports/known"
	"github.com/skewrig/skewrig/scenarios/plan"
)

var invented = table{newest: "v1.90.1", previous: "v1.89.3", older: []release.Version{"v1.88.4"}}

func TestMove(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		newest, previous release.Version
		want             string
	}{
		"a patch release":            {"v1.90.3", "", "v1.90.3 v1.89.3 [v1.88.4]"},
		"a patch release of both":    {"v1.90.3", "v1.89.5", "v1.90.3 v1.89.5 [v1.88.4]"},
		"a minor version":            {"v1.91.0", "", "v1.91.0 v1.90.1 [v1.89.3 v1.88.4]"},
		"a minor version, and patch": {"v1.91.0", "v1.90.2", "v1.91.0 v1.90.2 [v1.89.3 v1.88.4]"},
		"back":                       {"v1.89.3", "v1.88.4", "v1.89.3 v1.88.4 []"},
		"to what is previous":        {"v1.89.3", "v1.89.2", "error: v1.89.3 is not of a later minor version than v1.89.2, the previous one"},
	} {
		moved, err := invented.move(tc.newest, tc.previous)
		got := strings.Join([]string{string(moved.newest), string(moved.previous), "[" + joined(moved.older) + "]"}, " ")
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func joined(versions []release.Version) string {
	words := make([]string, len(versions))
	for i, v := range versions {
		words[i] = string(v)
	}
	return strings.Join(words, " ")
}

func TestEditChangesTheTableOnly(t *testing.T) {
	t.Parallel()
	const source = "const (\n\tNewest   Version = \"v1.2.3\" // old\n\tPrevious Version = \"v1.1.1\"\n)\n\nvar supported = []Version{Newest, Previous}\n"
	got, err := invented.edit(source)
	want := "const (\n\tNewest   Version = \"v1.90.1\"\n\tPrevious Version = \"v1.89.3\"\n)\n\nvar supported = []Version{Newest, Previous, \"v1.88.4\"}\n"
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := invented.edit("package release\n"); err == nil {
		t.Error("a file without a table was edited")
	}
}

func TestTheTableOfThisRepositoryCanBeEdited(t *testing.T) {
	t.Chdir("../..")
	before := read(t, tablePath)
	is, err := parseTable(before)
	if err != nil {
		t.Fatal(err)
	}
	same, err := is.edit(before)
	if err != nil || same != before || is.newest != release.Newest || is.previous != release.Previous || !slices.Equal(is.older, release.Supported()[2:]) {
		t.Errorf("%+v, %v (-want +got):\n%s", is, err, cmp.Diff(before, same))
	}
	if _, err := parseTable("package release\n"); err == nil {
		t.Error("a file without a table was read")
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	list, err := known.Parse("known.yaml", []byte(`apiVersion: skewrig.dev/v1alpha1
kind: KnownDeviations
deviations:
- {cells: a/**, checks: [up, down], releases: ">= 1.89", reason: open, link: https://example.com/1}
- {cells: a/**, checks: up, releases: "< 1.90", reason: closed, link: https://example.com/1}
- {cells: a/**, checks: up, releases: "< 1.89", reason: gone, link: https://example.com/1}
`))
	if err != nil {
		t.Fatal(err)
	}
	before := []plan.Cell{{ID: "a/b/c/kubelet:v1.90.1"}, {ID: "a/b/c/kubelet:v1.89.3"}}
	after := []plan.Cell{{ID: "a/b/c/kubelet:v1.90.3"}, {ID: "a/b/c/kubelet:v1.89.3", Unfit: "too old"}}
	sections := gateChanges(
		[]release.Gate{{Name: "Gone", Stage: release.GA, Default: true}, {Name: "On", Stage: release.Alpha}, {Name: "Same", Stage: release.Beta}},
		[]release.Gate{{Name: "New", Stage: release.Alpha}, {Name: "On", Stage: release.Beta, Default: true}, {Name: "Same", Stage: release.Beta}})
	sections = append(sections, cellChanges(before, after)...)
	for _, s := range append(sections, deviationChanges(list, ids(after))...) {
		s.write(&out)
	}
	const want = `
New gates: 1
  New: ALPHA, off

Gates that are gone: 1
  Gone: was GA, on

Gates that are otherwise: 1
  On: BETA, on, was ALPHA, off

Cells with new ids: 1
  a/b/c/kubelet:v1.90.3

Ids that no cell has any more: 1
  a/b/c/kubelet:v1.90.1

Cells that the pair can't run: 1
  a/b/c/kubelet:v1.89.3: too old

Known deviations with an open range: 1
  known.yaml:4:3: >= 1.89, a/**: up down

Known deviations that match no cell: 1
  known.yaml:6:3: matches no check of cells a/** with releases < 1.89 that could have failed: remove the entry, or correct it
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}
