package render

import (
	"bytes"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/cellid"
	"github.com/skewrig/skewrig/reports/evidence"
	"github.com/skewrig/skewrig/reports/graduation"
	"github.com/skewrig/skewrig/reports/prr"
)

// enhancement is a small one, with a criterion of each kind.
func enhancement(t *testing.T) graduation.Enhancement {
	t.Helper()
	match := func(text string) []cellid.Pattern {
		p, err := cellid.Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		return []cellid.Pattern{p}
	}
	return graduation.Enhancement{
		KEP: "KEP-1", Gate: "Feature", Components: []string{"kubelet"}, Milestones: map[string]string{"alpha": "v1.90", "beta": "v1.91"},
		Criteria: []graduation.Criterion{
			{ID: "KEP-1/beta/works", Stage: "beta", Statement: "It works.", Source: "KEP-1, Beta", Requirements: []string{"KEP-1/works"}},
			{ID: "KEP-1/beta/rolls-back", Stage: "beta", Statement: "It rolls back.", Source: "KEP-1, Beta", Requirements: []string{"KEP-1/rolls-back", "KEP-1/never-run"}},
			{ID: "KEP-1/beta/resumes", Stage: "beta", Statement: "It resumes.", Source: "KEP-1, Beta", Requirements: []string{"KEP-1/resumes"}},
			{ID: "KEP-1/beta/known", Stage: "beta", Statement: "It was tried.", Source: "KEP template", Requirements: []string{"KEP-1/never-run"}},
			{ID: "KEP-1/beta/steady", Stage: "beta", Statement: "It is steady.", Source: "KEP template", Repeated: &graduation.Repeated{Match: match("kep-1/e2e/**"), Runs: 2, Days: 2}},
			{ID: "KEP-1/beta/feedback", Stage: "beta", Statement: "It is liked.", Source: "KEP template", Person: &graduation.Person{Who: "the authors", What: "ask"}},
		},
		Questions: []graduation.Question{
			{Question: prr.Enablement, Answer: "Set the gate.", By: []string{"KEP-1/works"}, Statement: "Nothing goes wrong elsewhere.", Match: match("regressions/**")},
			{Question: "Does enabling the feature change any default behavior?", Answer: "No. It works as before.", By: []string{"KEP-1/works"}},
			{Question: kep1[1].PRR, Answer: "Yes. It rolls back.", By: []string{"KEP-1/rolls-back"}},
			{Question: kep1[2].PRR, Answer: "It comes back and resumes.", By: []string{"KEP-1/never-run", "KEP-1/resumes"}},
			{Question: "What are the reasonable SLOs (Service Level Objectives) for the enhancement?", Answer: "Open. The authors name one."},
		},
	}
}

// savedRuns are two runs in which texts that come from elsewhere are these.
func savedRuns(texts string) []evidence.Run {
	facts := evidence.Facts{
		Components: []evidence.Component{
			{Name: "etcd", Starts: []evidence.Start{{Version: "v3.7.0", Digest: "sha256:e"}}},
			{Name: "kubelet/node-a", Starts: []evidence.Start{{Version: "v1.89.3", Digest: "sha256:36"}, {Version: "v1.90.1", Digest: "sha256:37", Gates: map[string]bool{"Feature": true}}}},
		},
		Steps:   []string{"  1. create Pod web", "  2. upgrade: restart kubelet/node-a as v1.90.1", "      kubelet/node-a v1.89.3 -> v1.90.1", " 10. " + texts},
		Traffic: evidence.Traffic{Containers: 1, Connections: 3, Requests: 2, APICalls: 1},
	}
	cells := []reports.Cell{
		{ID: "kep-1/e2e/one", Scenario: "kep-1/e2e/one", File: "kep-1/one.yaml", Outcome: reports.Pass, Requirements: []string{"KEP-1/works"},
			Checks: []reports.Check{{ID: "works", Requirement: "KEP-1/works", Outcome: reports.Pass}}},
		{ID: "kep-1/gate/off", Scenario: "kep-1/gate/off", Outcome: reports.ExpectedFail, Requirements: []string{"KEP-1/rolls-back"},
			Checks: []reports.Check{{ID: "off", Requirement: "KEP-1/rolls-back", Outcome: reports.ExpectedFail, Expected: "off " + texts, Observed: "on " + texts, Reason: texts}}},
		{ID: "kep-1/gate/on", Scenario: "kep-1/gate/on", Outcome: reports.Ambiguous, Requirements: []string{"KEP-1/resumes"},
			Checks: []reports.Check{{ID: "on", Requirement: "KEP-1/resumes", Outcome: reports.Ambiguous, Expected: "resumed " + texts, Observed: "new " + texts, Reason: texts}}},
		{ID: "kep-1/api/lost", Scenario: "kep-1/api/lost", Outcome: reports.HarnessError, Reason: texts, Requirements: []string{"KEP-1/rolls-back"}},
		{ID: "kep-1/e2e/stand-in", Scenario: "kep-1/e2e/stand-in", Outcome: reports.Pass, Requirements: []string{"KEP-1/works"}},
	}
	var runs []evidence.Run
	for i, dir := range []string{"monday", "tuesday " + texts} {
		run := evidence.Run{Dir: dir, Facts: map[string]evidence.Facts{
			"kep-1/e2e/one": facts, "kep-1/gate/off": facts, "kep-1/gate/on": facts, "kep-1/api/lost": facts,
			"kep-1/e2e/stand-in": {Components: []evidence.Component{{Name: "kubelet/node-a", Starts: []evidence.Start{{Version: "reference"}}}}},
		}}
		run.Report.Reproduce = reports.Reproduce{Command: "skewrig run " + texts, Skewrig: "v0.1.0"}
		for _, c := range cells {
			c.Started = time.Date(2026, 11, 16+i, 8, 0, 0, 0, time.UTC)
			run.Report.Cells = append(run.Report.Cells, c)
		}
		runs = append(runs, run)
	}
	return runs
}

var kep1 = []reports.Requirement{
	{ID: "KEP-1/works", KEP: "KEP-1", Statement: "It works.", PRR: prr.Enablement, Contradicts: []string{"KEP-1/fails"}},
	{ID: "KEP-1/rolls-back", KEP: "KEP-1", Statement: "It rolls back.", PRR: "Can the feature be disabled once it has been enabled (i.e. can we roll back the enablement)?"},
	{ID: "KEP-1/never-run", KEP: "KEP-1", Statement: "It comes back.", PRR: "What happens if we reenable the feature if it was previously rolled back?"},
	{ID: "KEP-1/resumes", KEP: "KEP-1", Statement: "It resumes.", PRR: "What happens if we reenable the feature if it was previously rolled back?"},
	{ID: "KEP-1/cloud", KEP: "KEP-1", Statement: "No cloud is called.", Excluded: "There is none.", PRR: "Will enabling / using this feature result in any new calls to the cloud provider?"},
	{ID: "KEP-1/fails", KEP: "KEP-1", Statement: "It fails."},
	{ID: "KEP-1/slo", KEP: "KEP-1", Statement: "An objective is named.", Manual: "The authors name one.", PRR: "What are the reasonable SLOs (Service Level Objectives) for the enhancement?"},
}

var kep1Catalog = []evidence.Planned{
	{ID: "kep-1/e2e/one", Scenario: "kep-1/e2e/one", Requirements: []string{"KEP-1/works"}, Facts: plannedKubelet()},
	{ID: "kep-1/gate/on-again", Scenario: "kep-1/gate/on-again", Requirements: []string{"KEP-1/never-run"}, Facts: plannedKubelet()},
}

func plannedKubelet() evidence.Facts {
	return evidence.Facts{Components: []evidence.Component{{Name: "kubelet", Starts: []evidence.Start{{Version: "v1.90.1"}}}}}
}

// graduationFormats renders the judgement of savedRuns in each format.
func graduationFormats(t *testing.T, texts string) map[string]string {
	t.Helper()
	e, runs := enhancement(t), savedRuns(texts)
	judged := graduation.Judge(e, "beta", runs, kep1Catalog)
	rendered := make(map[string]string)
	for name, write := range map[string]func(io.Writer) error{
		"graduation.txt": func(w io.Writer) error { return Graduation(w, judged) },
		"graduation.md":  func(w io.Writer) error { return GraduationMarkdown(w, judged) },
		"prr.md":         func(w io.Writer) error { return PRR(w, prr.Answers(e, kep1, runs, kep1Catalog)) },
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		rendered[name] = out.String()
	}
	return rendered
}

func TestGraduationGolden(t *testing.T) {
	t.Parallel()
	for name, got := range graduationFormats(t, "as it was") {
		golden.Check(t, filepath.Join("testdata", name), got)
		if name == "prr.md" && regexp.MustCompile(`monday|tuesday|--report-dir|KEP-1/`).MatchString(got) {
			t.Error("the answers name what their readers don't have")
		}
	}
}

// markup is what hostile texts would be, were they not escaped.
var markup = regexp.MustCompile(`<script|<img|!\[i|[^\\]\]\(|@octocat`)

// ours are links to the program, which are meant to be markup.
var ours = regexp.MustCompile(`\]\(https://github\.com/skewrig/[a-z0-9./-]*\)`)

// TestGraduationOfHostileTexts: they control no terminal, and outside of blocks of
// code they are no markup.
func TestGraduationOfHostileTexts(t *testing.T) {
	t.Parallel()
	for name, got := range graduationFormats(t, strings.Join(nasty[:len(nasty)-1], " ")) {
		fence := ""
		for line := range strings.Lines(got) {
			line = strings.TrimSuffix(line, "\n")
			if bad := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); bad >= 0 {
				t.Errorf("%s contains %q", name, line)
			}
			if name == "graduation.txt" {
				continue
			}
			ticks := strings.TrimLeft(line, " ")
			ticks = ticks[:len(ticks)-len(strings.TrimLeft(ticks, "`"))]
			switch {
			case fence == "" && len(ticks) >= 3:
				fence = ticks
			case fence != "" && len(ticks) >= len(fence):
				fence = ""
			case fence == "" && markup.MatchString(ours.ReplaceAllString(line, "")):
				t.Errorf("%s has markup in %q", name, line)
			}
		}
		if fence != "" {
			t.Errorf("%s ends within a block of code", name)
		}
	}
}

// TestTheQuestionnaire: its headings are in the output, each once and in order.
func TestTheQuestionnaire(t *testing.T) {
	t.Parallel()
	rest := graduationFormats(t, "")["prr.md"]
	if n := strings.Count(rest, "\n#"); n != 6+25 {
		t.Errorf("there are %d headings below the title", n)
	}
	for _, section := range prr.Questionnaire() {
		for _, heading := range append([]string{"\n### " + section.Heading + "\n"}, questions(section)...) {
			_, after, found := strings.Cut(rest, heading)
			if !found {
				t.Fatalf("%q is missing, or not in its place", heading)
			}
			rest = after
		}
	}
}

func questions(s prr.Section) (headings []string) {
	for _, q := range s.Questions {
		headings = append(headings, "\n###### "+q+"\n")
	}
	return headings
}
