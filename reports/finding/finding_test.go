package finding

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/evidence"
)

func TestFindingsAreGatheredByWeight(t *testing.T) {
	t.Parallel()
	cell := func(kubelet string, checks ...reports.Check) reports.Cell {
		return reports.Cell{ID: "kep-1/a/b/kubelet:" + kubelet, Scenario: "kep-1/a/b", Axes: map[string]string{"kubelet": kubelet}, Checks: checks}
	}
	late := reports.Check{ID: "late", Requirement: "KEP-1/late", Outcome: reports.ExpectedFail, Finding: "late", Expected: "at once", Observed: "1 s"}
	label := reports.Check{ID: "label", Requirement: "KEP-1/label", Outcome: reports.ExpectedFail, Finding: "late", Observed: "none"}
	oracle := reports.Check{ID: "oracle:x", Requirement: "KEP-1/oracle", Outcome: reports.ExpectedFail, Finding: "late"}
	fresh := reports.Check{ID: "new", Requirement: "KEP-1/new", Outcome: reports.Fail, Reason: "it broke"}
	inTime := late
	inTime.Outcome, inTime.Finding, inTime.Observed = reports.Pass, "", "0 s"
	bug := reports.Check{ID: "bug", Outcome: reports.ExpectedFail, Finding: "bug"}
	run := evidence.Run{
		Report: reports.Report{
			Cells: []reports.Cell{
				cell("reference", late), cell("v1.89.3", inTime), cell("v1.90.1", bug, late, label, oracle, fresh), cell("v1.91.0-alpha.0", late),
			},
			Requirements: []reports.Requirement{
				{ID: "KEP-1/label", Statement: "Labels are sent.", Source: "KEP-1", Document: "kep.md"},
				{ID: "KEP-1/late", Statement: "It is sent at once.", Source: "KEP-1", Document: "kep.md", Lines: []int{7, 9}},
				{ID: "KEP-1/oracle", Statement: "Of no text."}, {ID: "KEP-1/new", Statement: "It works."},
			},
			Findings: []reports.Finding{{ID: "late", Class: reports.Defect, Rank: 2, Headline: "It is late"}, {ID: "bug", Class: reports.KnownBug, Rank: 1}},
		},
		Facts: map[string]evidence.Facts{"kep-1/a/b/kubelet:v1.90.1": {Components: []evidence.Component{
			{Name: "etcd", Starts: []evidence.Start{{Version: "v3.7.0"}}},
			{Name: "kube-apiserver", Starts: []evidence.Start{{Version: "v1.90.1"}}},
			{Name: "kubelet/node-a", Starts: []evidence.Start{{Version: "v1.89.3", Gates: map[string]bool{"X": true}}, {Version: "v1.90.1", Gates: map[string]bool{"X": false}}}},
		}}},
	}
	all := All(run, map[string][]string{"KEP-1/late": {"At once.", "Really."}})
	var ids []string
	for _, f := range all {
		ids = append(ids, string(f.Class)+" "+f.ID)
	}
	if diff := cmp.Diff([]string{"unlisted KEP-1.new.new", "defect late", "known-bug bug"}, ids); diff != "" {
		t.Fatalf("findings (-want +got):\n%s", diff)
	}
	mixed, gates := "kube-apiserver v1.90.1; kubelet v1.89.3 → v1.90.1", "kubelet X on → off"
	want := Finding{
		Finding:   run.Report.Findings[0],
		Statement: Statement{Requirement: "KEP-1/late", Statement: "It is sent at once.", Source: "KEP-1", Document: "kep.md", Line: 7, Sentence: "At once. Really."},
		Also:      []Statement{{Requirement: "KEP-1/label", Statement: "Labels are sent.", Source: "KEP-1", Document: "kep.md"}},
		Releases:  []string{"kubelet v1.90.1", "kubelet v1.91.0-alpha.0"},
		Gates:     []string{gates},
		Observed: []Observation{
			{Cell: "kep-1/a/b/kubelet:v1.89.3", Check: "late", Releases: "kubelet v1.89.3", Outcome: reports.Pass, Expected: "at once", Observed: "0 s"},
			{Cell: "kep-1/a/b/kubelet:v1.90.1", Check: "late", Releases: mixed, Gates: gates, Outcome: reports.ExpectedFail, Expected: "at once", Observed: "1 s"},
			{Cell: "kep-1/a/b/kubelet:v1.90.1", Check: "label", Releases: mixed, Gates: gates, Outcome: reports.ExpectedFail, Observed: "none"},
			{Cell: "kep-1/a/b/kubelet:v1.90.1", Check: "oracle:x", Releases: mixed, Gates: gates, Outcome: reports.ExpectedFail},
			{Cell: "kep-1/a/b/kubelet:v1.91.0-alpha.0", Check: "late", Releases: "kubelet v1.91.0-alpha.0", Outcome: reports.ExpectedFail, Expected: "at once", Observed: "1 s"},
		},
		ShownIn:   "kep-1/a/b/kubelet:v1.90.1",
		Reproduce: "skewrig run 'kep-1/a/b/kubelet:v1.90.1' --report-dir report-b-d814f4",
	}
	if diff := cmp.Diff(want, all[1]); diff != "" {
		t.Errorf("the finding (-want +got):\n%s", diff)
	}
}

// TestAbout: releases are named by what ran as them, and an axis that names no program says nothing of that.
func TestAbout(t *testing.T) {
	t.Parallel()
	ran := evidence.Facts{Components: []evidence.Component{{Name: "kube-apiserver"}, {Name: "kube-controller-manager"}, {Name: "kubelet/node-a"}}}
	for want, axes := range map[string]map[string]string{
		"kube-apiserver, kubelet v1.90.1":                         {"apiserver": "v1.90.1", "kubelet": "v1.90.1", "mode": "off"},
		"kube-apiserver v1.90.1; kube-controller-manager v1.89.3": {"apiserver": "v1.90.1", "manager": "v1.89.3"},
		"": {"apiserver": "v1.90.1", "release": "v1.90.1"},
	} {
		if got := releasesInID(ran, axes); got != want {
			t.Errorf("%v is about %q, want %q", axes, got, want)
		}
	}
}

// TestAContradictionHasBothReadings: the one that holds has no check that failed.
func TestAContradictionHasBothReadings(t *testing.T) {
	t.Parallel()
	run := evidence.Run{Report: reports.Report{
		Cells: []reports.Cell{{ID: "kep-1/a", Scenario: "kep-1/a", Checks: []reports.Check{
			{ID: "unset", Requirement: "KEP-1/unset", Outcome: reports.Ambiguous, Finding: "both"},
			{ID: "again", Requirement: "KEP-1/again", Outcome: reports.Ambiguous, Finding: "both"},
		}}},
		Requirements: []reports.Requirement{
			{ID: "KEP-1/unset", Statement: "First.", Document: "kep.md", Lines: []int{7}, Contradicts: []string{"KEP-1/filled"}},
			{ID: "KEP-1/again", Statement: "Again.", Document: "kep.md", Lines: []int{8}, Contradicts: []string{"KEP-1/filled"}},
			{ID: "KEP-1/filled", Statement: "Second.", Document: "kep.md", Lines: []int{9}},
		},
		Findings: []reports.Finding{{ID: "both", Class: reports.Contradiction}},
	}}
	f := All(run, map[string][]string{"KEP-1/filled": {"It is filled in."}})[0]
	want := []Statement{
		{Requirement: "KEP-1/unset", Statement: "First.", Document: "kep.md", Line: 7},
		{Requirement: "KEP-1/filled", Statement: "Second.", Document: "kep.md", Line: 9, Sentence: "It is filled in."},
		{Requirement: "KEP-1/again", Statement: "Again.", Document: "kep.md", Line: 8},
	}
	if diff := cmp.Diff(want, append([]Statement{f.Statement}, f.Also...)); diff != "" {
		t.Errorf("statements (-want +got):\n%s", diff)
	}
}
