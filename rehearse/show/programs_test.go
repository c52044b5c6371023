package show_test

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/rehearse/manifest"
	"github.com/skewrig/skewrig/rehearse/show"
)

// small is mixed with so few objects that its goldens can be read.
func small() rehearse.Report {
	r := mixed()
	r.Objects = append(r.Objects[:2:2], r.Objects[41], r.Objects[42])
	r.Findings[0].Objects = r.Findings[0].Objects[:2]
	r.Stages = append(r.Stages[:1:1], r.Stages[3], r.Stages[6])
	return r
}

func TestJUnit(t *testing.T) {
	t.Parallel()
	all := samples()
	all["small"] = small()
	for name, r := range all {
		got := written(t, func(w io.Writer) error { return show.JUnit(w, r) })
		if name == "small" || name == "hostile" || name == "empty" {
			golden.Check(t, "testdata/"+name+".xml", got)
		}
		if err := xml.Unmarshal([]byte(got), new(struct{ XMLName xml.Name })); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		failures := strings.Count(got, "<failure")
		want := 0
		for _, f := range r.Findings {
			want += max(1, len(f.Objects))
		}
		if failures != want {
			t.Errorf("%s: %d failures, want %d", name, failures, want)
		}
		if errors := strings.Count(got, "<error"); (errors > 0) != strings.Contains(show.Answer(r), "back: NOT JUDGED") {
			t.Errorf("%s: %d errors", name, errors)
		}
	}
}

// sarif is what the tests look at.
type sarif struct {
	Runs []struct {
		Tool struct {
			Driver struct {
				Rules []struct {
					ID   string
					Help struct{ Text string }
				}
			}
		}
		Invocations []struct{ ExecutionSuccessful bool }
		Results     []sarifResult
	}
}

type sarifResult struct {
	RuleID              string
	RuleIndex           int
	Kind, Level         string
	Locations           []sarifLocation
	PartialFingerprints map[string]string
	Suppressions        []struct{ Justification string }
}

type sarifLocation struct {
	PhysicalLocation struct {
		ArtifactLocation struct{ URI, URIBaseID string }
		Region           struct{ StartLine int }
	}
}

func sarifOf(t *testing.T, r rehearse.Report) (s sarif, text string) {
	t.Helper()
	text = written(t, func(w io.Writer) error { return show.SARIF(w, r, "v0.9.0") })
	if err := json.Unmarshal([]byte(text), &s); err != nil || len(s.Runs) != 1 {
		t.Fatalf("%d runs: %v", len(s.Runs), err)
	}
	return s, text
}

// TestSARIF: each result has what code scanning asks for: a rule, a level, one place in a file, and a fingerprint.
func TestSARIF(t *testing.T) {
	t.Parallel()
	all := samples()
	all["small"] = small()
	for name, r := range all {
		s, text := sarifOf(t, r)
		if name == "small" || name == "hostile" || name == "empty" {
			golden.Check(t, "testdata/"+name+".sarif", text)
		}
		run := s.Runs[0]
		for _, rule := range run.Tool.Driver.Rules {
			if rule.ID == "" || len(rule.Help.Text) < 40 {
				t.Errorf("%s: the rule %q has the help %q", name, rule.ID, rule.Help.Text)
			}
		}
		if judged := !strings.Contains(show.Answer(r), "back: NOT JUDGED"); run.Invocations[0].ExecutionSuccessful != judged {
			t.Errorf("%s: successful: %t", name, !judged)
		}
		seen := make(map[string]bool)
		for _, got := range run.Results {
			if got.RuleIndex < 0 || run.Tool.Driver.Rules[got.RuleIndex].ID != got.RuleID {
				t.Errorf("%s: rule %d is not %s", name, got.RuleIndex, got.RuleID)
			}
			if want := map[bool]string{true: "none", false: "error"}[len(got.Suppressions) > 0]; got.Level != want && got.RuleID != "notice" {
				t.Errorf("%s: the level of %s is %s", name, got.RuleID, got.Level)
			}
			if len(got.Locations) != 1 || got.Locations[0].PhysicalLocation.Region.StartLine < 1 || got.Locations[0].PhysicalLocation.ArtifactLocation.URI == "" {
				t.Errorf("%s: the location of %s is %+v", name, got.RuleID, got.Locations)
			}
			print := got.PartialFingerprints["primaryLocationLineHash"]
			if seen[print] && len(got.Suppressions) == 0 {
				t.Errorf("%s: two results have the fingerprint %s", name, print)
			}
			seen[print] = true
		}
	}
}

// TestSARIFFingerprints: a result stays the same if its line moves, and differs for another object.
func TestSARIFFingerprints(t *testing.T) {
	t.Parallel()
	before, _ := sarifOf(t, small())
	moved, other := small(), small()
	moved.Findings[0].Objects[0].Line += 7
	other.Findings[0].Objects[0].Name = "else"
	print := func(s sarif) string { return s.Runs[0].Results[0].PartialFingerprints["primaryLocationLineHash"] }
	if after, _ := sarifOf(t, moved); print(after) != print(before) {
		t.Error("the fingerprint depends on the line")
	}
	if after, _ := sarifOf(t, other); print(after) == print(before) {
		t.Error("the fingerprint does not depend on the object")
	}
}

func TestSARIFAddresses(t *testing.T) {
	t.Parallel()
	for place, want := range map[manifest.Place]string{
		{File: "deploy/web.yaml", Line: 3}:                               "deploy/web.yaml",
		{File: "./deploy//web.yaml", Line: 3}:                            "deploy/web.yaml",
		{File: "a b/%0A.yaml", Line: 3}:                                  "a%20b/%250A.yaml",
		{File: "a:b.yaml", Line: 3}:                                      "./a:b.yaml",
		{File: "a\nb#c?.yaml", Line: 3}:                                  "a%0Ab%23c%3F.yaml",
		{File: "/tmp/x.yaml", Line: 3}:                                   "file:///tmp/x.yaml",
		{File: "-", Line: 3}:                                             "stdin",
		{File: "-", Line: 3, Template: "shop/templates/web server.yaml"}: "shop/templates/web%20server.yaml",
	} {
		r := small()
		r.Findings[0].Objects[0].Place = place
		s, _ := sarifOf(t, r)
		at := s.Runs[0].Results[0].Locations[0].PhysicalLocation
		if at.ArtifactLocation.URI != want {
			t.Errorf("%+v: got %s, want %s", place, at.ArtifactLocation.URI, want)
		}
		if line := map[bool]int{true: 1, false: 3}[place.Template != ""]; at.Region.StartLine != line {
			t.Errorf("%+v: got line %d, want %d", place, at.Region.StartLine, line)
		}
		if _, err := url.Parse(at.ArtifactLocation.URI); err != nil {
			t.Error(err)
		}
	}
}

// TestEveryClassHasAMeaning: a rule without help is of no use.
func TestEveryClassHasAMeaning(t *testing.T) {
	t.Parallel()
	s, _ := sarifOf(t, quiet())
	if got := len(s.Runs[0].Tool.Driver.Rules); got != len(rehearse.Whats())+1 {
		t.Errorf("%d rules", got)
	}
}
