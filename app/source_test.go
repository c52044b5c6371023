package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// older is a checkout with the gates of the release before the newest.
const older release.Version = "v1.36.3-7+0123456789abcd.01234567"

func learn(t *testing.T, v, like release.Version) []release.Gate {
	t.Helper()
	gates, known, err := release.Table(release.Effective{Version: like})
	if err != nil || !known {
		t.Fatal(known, err)
	}
	release.Learn(v, gates)
	return gates
}

func TestTheCatalogOnASource(t *testing.T) {
	t.Chdir(t.TempDir())
	learn(t, older, release.Previous)
	here, err := HereOn(release.Releases{Sources: release.Sources{{Component: "kubelet", Instead: release.Newest, Version: older}}})
	if err != nil {
		t.Fatal(err)
	}
	cells, err := here.Select([]string{"kep-4188/api/list-and-get/kubelet:" + string(release.Newest)})
	if err != nil || len(cells) != 1 || cells[0].Topology.Nodes[0].Version != older || cells[0].Topology.Version != release.Newest {
		t.Errorf("%v, %+v", err, cells)
	}
	// A scenario that turns on a gate of the newest kubelet.
	cells, err = here.Select([]string{"kep-4939/e2e/tls-probe-tls-server"})
	if err != nil || !strings.Contains(cells[0].Unfit, string(older)+" has no feature gate GRPCContainerProbeTLS") {
		t.Errorf("a gate that the source does not have: %v, %+v", err, cells)
	}
}

// TestComponentsApart has a controller manager from a checkout, and nothing else.
func TestComponentsApart(t *testing.T) {
	t.Chdir(t.TempDir())
	const mine release.Version = "v1.37.1-2+0123456789abcd.01234567"
	learn(t, mine, release.Newest)
	here, err := HereOn(release.Releases{Sources: release.Sources{{Component: "kube-controller-manager", Instead: release.Newest, Version: mine}}})
	if err != nil {
		t.Fatal(err)
	}
	cells, err := here.Select([]string{"regressions/kubernetes-141961/no-field"})
	if err != nil {
		t.Fatal(err)
	}
	var planned []release.Version
	for _, c := range cells[0].Topology.ControlPlane() {
		planned = append(planned, c.Version)
	}
	if want := []release.Version{release.Newest, mine, release.Newest}; !slices.Equal(planned, want) {
		t.Errorf("the control plane is %v, not %v", planned, want)
	}
	var versions []release.Version
	for _, target := range plan.Targets(cells) {
		if target.Component == "kube-controller-manager" {
			versions = append(versions, target.Version)
		}
	}
	if !slices.Equal(versions, []release.Version{mine}) {
		t.Errorf("controller managers of %v run", versions)
	}
}

func TestASavedRunOnASource(t *testing.T) {
	t.Chdir(t.TempDir())
	gates := learn(t, older, release.Previous)
	const saved release.Version = "v1.36.3-8+0123456789abcd.76543210"
	report := reports.Report{Reproduce: reports.Reproduce{Sources: []reports.Source{{Component: "kubelet", Instead: release.Newest, Version: saved, Gates: release.FormatGates(gates)}}}}
	here, err := Here()
	if err != nil {
		t.Fatal(err)
	}
	on, err := here.onReleasesOf(report)
	if err != nil {
		t.Fatal(err)
	}
	if table, known, err := release.Table(release.Effective{Version: saved}); err != nil || !known || len(table) != len(gates) {
		t.Errorf("the saved run's gates: %d, %t, %v", len(table), known, err)
	}
	i := slices.IndexFunc(on.BuiltIn, func(c plan.Cell) bool { return c.ID == "kep-4188/api/list-and-get/kubelet:"+string(release.Newest) })
	if !slices.ContainsFunc(on.BuiltIn[i].Topology.Nodes, func(n record.Node) bool { return n.Version == saved }) || len(on.Known.Deviations) != len(here.Known.Deviations) {
		t.Errorf("%+v", on.BuiltIn[i].Topology)
	}
	report.Reproduce.Sources[0].Gates = "no table"
	if _, err := here.onReleasesOf(report); err == nil {
		t.Error("a report whose gates can't be read is judged")
	}
}

func TestTheDirectoriesOfSources(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, file := range []string{"pkg/a/a.go", "pkg/a/b.go", "pkg/b/testdata/c.go", "vendor/d/d.go", ".git/e.go", "docs/f.md", "g.go"} {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Binaries{Sources: []string{"kubelet=" + dir, "kube-apiserver=" + dir + "@main"}}.Directories()
	if want := []string{dir, filepath.Join(dir, "pkg/a")}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

// TestASavedRunOfAnotherPair: who judges it again has its pair, and the gates of a release without a table.
func TestASavedRunOfAnotherPair(t *testing.T) {
	t.Chdir(t.TempDir())
	const newest release.Version = "v1.93.0-beta.0"
	gates := learn(t, newest, release.Newest)
	var r reports.Reproduce
	pair := release.Releases{Newest: newest, Previous: release.Newest}
	if err := WithReleases(t.Context(), &build.Builder{Pair: pair}, &r); err != nil {
		t.Fatal(err)
	}
	if r.Newest != newest || r.Previous != release.Newest || len(r.Gates) != 1 || r.Gates[newest] != release.FormatGates(gates) {
		t.Errorf("%+v", r)
	}
	const later release.Version = "v1.94.0-beta.0" // of which this process knows nothing
	r.Newest, r.Gates = later, map[release.Version]string{later: r.Gates[newest]}
	here, err := Here()
	if err != nil {
		t.Fatal(err)
	}
	on, err := here.onReleasesOf(reports.Report{Reproduce: r})
	if err != nil {
		t.Fatal(err)
	}
	table, known, err := release.Table(release.Effective{Version: later})
	if err != nil || !known || len(table) != len(gates) {
		t.Errorf("the gates of the saved run: %d, %t, %v", len(table), known, err)
	}
	if !slices.ContainsFunc(on.BuiltIn, func(c plan.Cell) bool { return c.Topology.Version == later }) {
		t.Error("no cell is of its newest release")
	}
}
