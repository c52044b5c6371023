package app

import (
	"slices"
	"testing"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/plan"
)

func TestCommandLineCanBePasted(t *testing.T) {
	got := CommandLine([]string{"/tmp/x/skewrig", "run", "kep-4939/**", "it's"})
	if want := `skewrig run 'kep-4939/**' 'it'\''s'`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestAVerdictOnAStandIn: what was compiled with stand-ins marks each cell that it took part in, and no other.
func TestAVerdictOnAStandIn(t *testing.T) {
	t.Parallel()
	on := func(id string, kubelet release.Version) plan.Cell {
		return plan.Cell{ID: id, Topology: record.Topology{Version: "v1.90.1", Nodes: []record.Node{{Name: "a", Version: kubelet}}}}
	}
	cells := []plan.Cell{on("a/old", "v1.90.1"), on("a/new", "v1.91.0-beta.0")}
	results := []reports.Cell{{ID: "a/new"}, {ID: "a/old"}}
	markStandIns(results, cells, []build.Binary{
		{Component: build.Kubelet, Version: "v1.91.0-beta.0", StandIns: []string{"k8s.io/ktesting@v0.90.1"}},
		{Component: build.Kubelet, Version: "v1.90.1"}, {Component: build.APIServer, Version: "v1.90.1"},
	})
	want := []string{"kubelet v1.91.0-beta.0 with k8s.io/ktesting@v0.90.1"}
	if !slices.Equal(results[0].StandIns, want) || results[1].StandIns != nil {
		t.Errorf("%+v", results)
	}
}
