package app

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// TestPatternsChooseOfFiles: a file without a pattern for it is run as a whole.
func TestPatternsChooseOfFiles(t *testing.T) {
	twoCells(t)
	const ofCatalog = "kep-4188/gate/toggled/kubelet:reference"
	for _, c := range []struct{ args, want []string }{
		{[]string{"a.yaml", "b.yaml"}, []string{"mine/pods/a", "mine/pods/b"}},
		{[]string{"a.yaml", "mine/pods/a"}, []string{"mine/pods/a"}},
		{[]string{"a.yaml", "b.yaml", "mine/pods/b"}, []string{"mine/pods/a", "mine/pods/b"}},
		{[]string{"a.yaml", ofCatalog}, []string{"mine/pods/a", ofCatalog}},
		{[]string{"a.yaml", "mine/pods/a", ofCatalog}, []string{"mine/pods/a", ofCatalog}},
		{[]string{"a.yaml", "mine/pods/b"}, nil},
		{[]string{"mine/pods/a"}, nil},
	} {
		cells, err := Select(c.args)
		var got []string
		for _, cell := range cells {
			got = append(got, cell.ID)
		}
		if !slices.Equal(got, c.want) || (err == nil) == (c.want == nil) {
			t.Errorf("%q chooses %q, error %v, want %q", c.args, got, err, c.want)
		}
	}
}

// TestASpecOfUpstreamIsInNoCatalog, and who asks for one hears how it is run.
func TestASpecOfUpstreamIsInNoCatalog(t *testing.T) {
	twoCells(t)
	if _, err := Select([]string{"upstream/pods"}); err == nil || !strings.Contains(err.Error(), "skewrig upstream runs them") {
		t.Errorf("error %v", err)
	}
	if _, err := Select([]string{"no-such-area/pods"}); err == nil || strings.Contains(err.Error(), "skewrig upstream") {
		t.Errorf("of another area: error %v", err)
	}
	failed := checked("upstream/pods/a", reports.Fail)
	failed.Again = "skewrig upstream --focus a"
	leaveReport(t, "before", failed)
	here, err := Here()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := here.SelectFailed(nil, "before"); err == nil || !strings.Contains(err.Error(), "not in the catalog: skewrig upstream --focus a") {
		t.Errorf("error %v", err)
	}
}

// TestAPatternChoosesOfOneFile that has several cells.
func TestAPatternChoosesOfOneFile(t *testing.T) {
	t.Chdir(t.TempDir())
	golden.Write(t, "two.yaml", strings.NewReplacer(
		"topology:", "axes: {kubelet: [newest, reference]}\ntopology:", "{name: node-a}", "{name: node-a, version: '${kubelet}'}",
	).Replace(scenario))
	cells, err := Select([]string{"two.yaml", "mine/**/kubelet:reference"})
	if err != nil || len(cells) != 1 || cells[0].ID != "mine/pods/web/kubelet:reference" {
		t.Errorf("it chooses %d cells, error %v", len(cells), err)
	}
}

func TestCellsThatLackAComponent(t *testing.T) {
	t.Parallel()
	cells := []plan.Cell{
		{ID: "a/b/old", Topology: record.Topology{Version: "v1.90.1", Nodes: []record.Node{{Name: "node-a", Version: "v1.89.3"}}}},
		{ID: "a/b/new", Topology: record.Topology{Version: "v1.90.1", Nodes: []record.Node{{Name: "node-a", Version: "v1.90.1"}}}},
	}
	kubelet := build.Target{Component: build.Kubelet, Version: "v1.89.3"}
	err := Failed(build.Errors{{Target: kubelet, Err: errors.New("no space left on device")}})
	if got := cellIDs(Lacking(cells, err)); !slices.Equal(got, []string{"a/b/old"}) {
		t.Errorf("cells that lack %s: %q", kubelet, got)
	}
	if got := Lacking(cells, errors.New("interrupted")); len(got) != 0 {
		t.Errorf("cells that lack nothing: %q", cellIDs(got))
	}
}

// TestAFileCanBeAnywhere: a file outside the working directory is found by its path, with
// what it names beside it. Its axis, which only conditions name, makes cells, and it needs
// no control plane in its topology.
func TestAFileCanBeAnywhere(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(t.TempDir())
	path := filepath.Join(dir, "axis.yaml")
	golden.Write(t, path, `apiVersion: skewrig.dev/v1alpha1
kind: Scenario
id: mine/axis/when
title: An axis that only conditions name
axes: {how: [gently, at-once]}
topology: {nodes: [{name: node-a}]}
steps:
- {when: how == gently, stop: kubelet/node-a}
- {when: how == at-once, kill: kubelet/node-a}
- wait: {for: 2s}
- checks: [{id: lease, observe: size(objects), must: it >= 0}]
`)
	cells, err := Select([]string{path})
	if got, want := cellIDs(cells), []string{"mine/axis/when/how:gently", "mine/axis/when/how:at-once"}; err != nil || !slices.Equal(got, want) {
		t.Fatalf("%q, %v, want %q", got, err, want)
	}
	if last := cells[0].Steps[1]; cells[0].File != "axis.yaml" || last.Action.Describe() != "wait for 2s" {
		t.Errorf("%s: %s", cells[0].File, last.Action.Describe())
	}
}
