package render_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/finding"
	"github.com/skewrig/skewrig/reports/render"
)

// TestIssueDraftsWhatAFindingIsReportedWith has a defect, which is a bug report, and a
// text that the code has outrun, which is a pull request: one for all that is behind in
// one text.
func TestIssueDraftsWhatAFindingIsReportedWith(t *testing.T) {
	t.Parallel()
	late := finding.Finding{
		Finding: reports.Finding{
			ID: "late", Class: reports.Defect, Headline: "Watches are late", Instead: "a watch waits for the next sync", Effect: "an agent acts too late",
			Ask: "send it at once", At: []string{"https://github.com/kubernetes/kubernetes/blob/v1.90.1/pkg/x.go#L7"}, Preparation: "cluster() { kind create cluster; }", Without: "cluster; kubectl get pods -w\n", Since: "v1.89.0",
		},
		Statement: finding.Statement{
			Requirement: "KEP-1/late", Statement: "It is sent at once.", Source: "KEP-1, Design", Line: 7, Sentence: "*At once*.",
			Document: "https://github.com/kubernetes/enhancements/blob/0/keps/sig-node/1-x/README.md",
		},
		Also:     []finding.Statement{{Requirement: "KEP-1/label", Statement: "Labels, too.", Source: "KEP-1, Goals", Document: "kep.md", Line: 9}},
		Releases: []string{"kubelet v1.89.3", "kubelet v1.90.1"},
		Observed: []finding.Observation{
			{Check: "late", Releases: "kubelet v1.88.0", Outcome: reports.Pass, Observed: "0 s"},
			{Check: "late", Releases: "kubelet v1.90.1", Gates: "kubelet X on", Outcome: reports.ExpectedFail, Observed: "1 s"},
		},
		Said:      "The watch *sent* it after 1 s; at once was expected.",
		Reproduce: "skewrig run 'kep-1/a/b/kubelet:v1.90.1' --report-dir report-b-d814f4",
	}
	outrun := late
	outrun.Class, outrun.Issue = reports.Outrun, "https://github.com/kubernetes/enhancements/issues/2"
	run := reports.Report{Reproduce: reports.Reproduce{Skewrig: "v0.1.0", Host: reports.Host{OS: "linux", Kernel: "6.1.0"}}}
	for name, f := range map[string]finding.Finding{"issue.md": late, "pull.md": outrun} {
		var got bytes.Buffer
		if err := render.Issue(&got, run, f); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, "testdata/"+name, got.String())
	}
	again, other, contradiction := outrun, outrun, late
	again.ID, again.Headline, again.Issue = "again", "Labels are late", ""
	other.ID, other.Requirement = "other", "KEP-2/other"
	third := again
	third.ID, third.Headline = "third", "Events are late"
	contradiction.Class = reports.Contradiction
	var drafts bytes.Buffer
	if err := render.Issues(&drafts, run, []finding.Finding{contradiction, outrun, other, again, third}, nil); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/pulls.md", drafts.String())
	var page bytes.Buffer
	if err := render.Findings(&page, run, []finding.Finding{late, outrun}); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/findings.md", page.String())
}

// TestADraftOfABuildWithoutACommit says when it ran, and gives its reader nothing to fill in.
func TestADraftOfABuildWithoutACommit(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	for version, want := range map[string]string{
		"(devel)": "@latest  # this run was on 22 November 2026\nskewrig run x\n```\n\n###", "v0.6.0": "@v0.6.0\nskewrig run x\n```\n\n###",
		"0123456789ab+dirty": "@0123456789ab\nskewrig run x\n```\n\n###",
	} {
		r := reports.Report{Reproduce: reports.Reproduce{Skewrig: version}, Cells: []reports.Cell{{Started: began}, {}}}
		var got strings.Builder
		if err := render.Issue(&got, r, finding.Finding{Reproduce: "skewrig run x"}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got.String(), want) {
			t.Errorf("the draft of %s lacks %q:\n%s", version, want, got.String())
		}
	}
}

// TestIssueOfWhatNoListHas: of a check that failed nothing is known but its values.
func TestIssueOfWhatNoListHas(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	f := finding.Finding{Finding: reports.Finding{ID: "x.stays-up", Class: reports.Unlisted, Headline: `stays-up fails in pods[0]`, Instead: "expected 0, observed 1"}, Reproduce: "skewrig run x"}
	if err := render.Issue(&got, reports.Report{}, f); err != nil {
		t.Fatal(err)
	}
	if want := "stays-up fails in pods[0]\n"; !strings.HasPrefix(got.String(), want) {
		t.Errorf("the title is not %q: %s", want, got.String())
	}
	if want := "\n### What happened?\n\n```\nexpected 0, observed 1\n```\n\n"; !strings.Contains(got.String(), want) {
		t.Errorf("the draft lacks %q: %s", want, got.String())
	}
}
