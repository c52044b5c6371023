package known

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/harness/fuzzing"
	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/cellid"
)

func TestLoadReadsEveryField(t *testing.T) {
	t.Parallel()
	list, err := Load("testdata/valid.yaml")
	if err != nil {
		t.Fatal(err)
	}
	pattern := func(text string) cellid.Pattern {
		p, err := cellid.Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	want := List{Deviations: []Deviation{{
		Cells:       pattern("kep-4939/skew/**"),
		Checks:      Patterns{pattern("never-restarted"), pattern("dialed-*")},
		Requirement: "KEP-4939/old-kubelet-ignores-mode",
		Releases:    Releases{Axis: "kubelet", Range: release.Range{{Operator: "<", Value: "1.37"}}},
		Reason:      "kubelets before v1.37 do not know the field",
		Link:        "https://github.com/kubernetes/kubernetes/issues/1",
		At:          strict.Position{File: "testdata/valid.yaml", Line: 5, Column: 3},
	}, {
		Cells:  pattern("kep-4939/rollback/**"),
		Checks: Patterns{pattern("bounded-growth")},
		Reason: "the controller and the apiserver disagree about the template",
		Link:   "https://github.com/kubernetes/kubernetes/issues/141961",
		At:     strict.Position{File: "testdata/valid.yaml", Line: 11, Column: 3},
	}}}
	if diff := cmp.Diff(want, list, cmp.Comparer(func(a, b cellid.Pattern) bool { return a.String() == b.String() })); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

func TestLoadNamesEverythingThatIsWrong(t *testing.T) {
	t.Parallel()
	_, err := Load("testdata/invalid.yaml")
	if err == nil {
		t.Fatal("no error")
	}
	if _, ok := errors.AsType[*strict.Errors](err); !ok {
		t.Errorf("the error is a %T", err)
	}
	golden.Check(t, "testdata/invalid.errors", err.Error()+"\n")
}

func TestFindingsExplainChecksOfSeveralScenarios(t *testing.T) {
	t.Parallel()
	list, err := Load("testdata/findings.yaml")
	if err != nil {
		t.Fatal(err)
	}
	late := reports.Finding{
		ID: "late", Class: reports.Defect, Rank: 1, Headline: "Watches are late", Instead: "a watch waits for the next sync",
		Effect: "an agent acts too late", Seen: "it came after {observed}", Ask: "send it at once", At: []string{"https://example.com/x.go#L7"},
		Without: "kubectl get pods", Since: "v1.36", FixedBy: "v1.38", Link: "https://example.com/1",
	}
	reported := reports.Finding{
		ID: "reported", Class: reports.KnownBug, Rank: 2, Headline: "It is slow", Instead: "it takes a minute",
		Effect: "a rollout takes a minute longer", Issue: "https://example.com/issues/2",
	}
	if diff := cmp.Diff([]reports.Finding{late, late, reported}, list.Findings()); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	for _, want := range []struct {
		cell  string
		check reports.Check
	}{
		{"a/b/c/r:v1.37.1", reports.Check{ID: "in-time", Outcome: reports.ExpectedFail, Finding: "late", Reason: "a watch waits for the next sync (releases 1.36 and newer, older than 1.38, not reported yet: https://example.com/1)"}},
		{"a/b/c/r:v1.38.0", reports.Check{ID: "in-time", Outcome: reports.Fail}},
		{"b/b/c", reports.Check{ID: "x", Requirement: "A/in-time", Outcome: reports.ExpectedFail, Finding: "late", Reason: "the second is the first (not reported yet: https://example.com/1)"}},
		{"c/b/c", reports.Check{ID: "fast", Outcome: reports.ExpectedFail, Finding: "reported", Reason: "it takes a minute (https://example.com/issues/2)"}},
	} {
		check := want.check
		check.Outcome, check.Finding, check.Reason = reports.Fail, "", ""
		got := list.Excuse(reports.Cell{ID: want.cell, Checks: []reports.Check{check}}).Checks[0]
		if diff := cmp.Diff(want.check, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want.cell, diff)
		}
	}
}

func TestLoadNamesEverythingThatIsWrongWithFindings(t *testing.T) {
	t.Parallel()
	_, err := Load("testdata/invalid-findings.yaml")
	if err == nil {
		t.Fatal("no error")
	}
	golden.Check(t, "testdata/invalid-findings.errors", err.Error()+"\n")
}

// TestAnEntryIsSaidOnce has one entry, and another one after it.
func TestAnEntryIsSaidOnce(t *testing.T) {
	t.Parallel()
	const head = `apiVersion: skewrig.dev/v1alpha1
kind: KnownDeviations
findings:
- id: a
  class: defect
  headline: h
  instead: i
  effect: e
  link: https://example.com/1
  explains:
  - {cells: a/**, checks: [up, "down-*"], releases: ">= 1.89"}
deviations:
`
	for second, refused := range map[string]bool{
		`{cells: a/**, checks: up, releases: ">= 1.89"`:                   true,
		`{cells: a/**, checks: [x, "down-*"]`:                             true,
		`{cells: a/**, checks: up, releases: "< 1.89"`:                    false,
		`{cells: a/**, checks: x`:                                         false,
		`{cells: b/**, checks: up, releases: ">= 1.89"`:                   false,
		`{cells: a/**, requirement: R-1, checks: up, releases: ">= 1.89"`: false,
	} {
		_, err := Parse("k.yaml", []byte(head+"- "+second+`, reason: r, link: "https://example.com/1"}`+"\n"))
		if got := err != nil; got != refused {
			t.Errorf("%s: error %v, want one: %t", second, err, refused)
		}
		if want := "k.yaml:13:3: line 11 is of the same check of the same cells: say it once"; refused && err.Error() != want {
			t.Errorf("error %q, want %q", err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: skewrig.dev/v1alpha1\nkind: KnownDeviations\n"
	for name, tc := range map[string]struct{ in, want string }{
		"nothing":             {"", "k.yaml:1:1: the file is empty"},
		"only a comment":      {"# later\n", "k.yaml:1:1: the file is empty"},
		"null":                {"---\n", "k.yaml:1:1: the file is empty"},
		"a list":              {"- a\n", "k.yaml:1:1: this must be a mapping"},
		"not YAML":            {"a: [b\nc: d\n", "k.yaml:"},
		"a tab":               {head + "deviations:\n\t- a\n", "k.yaml:4:1: this is not YAML: there is a tab; indent with spaces"},
		"a second document":   {head + "deviations: []\n---\na: b\n", "k.yaml:5:1: a file holds one document"},
		"a broken second one": {head + "deviations: []\n---\na: [\n", "k.yaml:"},
		"no deviations":       {head, "k.yaml:1:1: the field deviations is missing"},
		"null deviations":     {head + "deviations:\n", "k.yaml:3:12: there is no value"},
		"a merge":             {head + "deviations:\n- &a {cells: a}\n- {<<: *a}\n", "k.yaml:5:4: merge keys are not supported"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, err := Parse("k.yaml", []byte(tc.in))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one containing %q", err, tc.want)
			}
			if len(list.Deviations) > 0 {
				t.Errorf("a list came with the error: %+v", list)
			}
		})
	}
}

func TestLoadRefusesAFileThatIsTooLargeOrMissing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "large.yaml")
	if err := os.WriteFile(path, []byte("#"+strings.Repeat("x", files.MaxText)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("error %v, want one about the size", err)
	}
	if _, err := Load(path + ".missing"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want %v", err, os.ErrNotExist)
	}
}

func FuzzParse(f *testing.F) {
	for _, file := range []string{"testdata/valid.yaml", "testdata/invalid.yaml"} {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var list List
		var err error
		fuzzing.Limited(t, func() { list, err = Parse("fuzz.yaml", data) })
		if err != nil {
			return
		}
		for _, d := range list.Deviations {
			if d.Cells.String() == "" || d.Reason == "" || d.Link == "" || len(d.Checks) == 0 && d.Requirement == "" {
				t.Errorf("accepted an entry that excuses without saying what or why: %+v", d)
			}
		}
	})
}
