package render

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/reports"
)

func annotations(t *testing.T, r reports.Report) string {
	t.Helper()
	var out bytes.Buffer
	if err := GitHubAnnotations(&out, r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func jobSummary(t *testing.T, r reports.Report, limit int) string {
	t.Helper()
	var out bytes.Buffer
	if err := GitHubSummary(&out, r, limit); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestWhatNeedsAttentionIsAnnotated(t *testing.T) {
	t.Parallel()
	// The runner reads "::command properties::data", and nothing of it may be in data
	// or properties unescaped.
	command := regexp.MustCompile(`^::(error|warning) title=([^:,]*)::([^\r\n]*)$`)
	for name, r := range reportsUnderTest(t) {
		want, seen := make(map[string]string), make(map[string]bool)
		for range r.Problems {
			want["problem with the run"] = "error"
		}
		if r.Partial != "" {
			want["the report is partial"] = "warning"
		}
		for _, c := range r.Cells {
			switch {
			case c.Outcome.Nonconforming():
				want[commandProperty.Replace(c.ID)] = "error"
			case !c.Outcome.Expected():
				want[commandProperty.Replace(c.ID)] = "warning"
			}
		}
		for line := range strings.Lines(annotations(t, r)) {
			parts := command.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
			switch {
			case parts == nil:
				t.Errorf("%s: not a workflow command: %q", name, line)
			case parts[2] == "and more" || parts[2] == "nothing was judged":
			case want[parts[2]] != parts[1]:
				t.Errorf("%s: %s is of level %s, want %q", name, parts[2], parts[1], want[parts[2]])
			}
			if parts != nil {
				seen[parts[2]] = true
			}
		}
		for title := range want {
			if name == "mixed" && !seen[title] {
				t.Errorf("%s: %s is not annotated", name, title)
			}
		}
	}
	if got := annotations(t, reportsUnderTest(t)["green"]); got != "" {
		t.Errorf("all is well, and it says %s", got)
	}
	out := annotations(t, mixed(t, 1))
	if want := "::error title=kep-4939/skew/tls-only/apiserver%3A1.90/kubelet%3A1.89::new%0Acheck never-restarted: new%0A"; !strings.Contains(out, want) {
		t.Errorf("it does not say %s:\n%s", want, out)
	}
}

func TestAnnotationsAreBounded(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{9: "", 10: "", 11: "2 more", 2000: "1991 more"} {
		var cells []reports.Cell
		for i := range n {
			cells = append(cells,
				reports.Cell{ID: fmt.Sprintf("a/b/fail-%d", i), Checks: []reports.Check{{ID: "x", Outcome: reports.Fail, Observed: strings.Repeat("long ", 9000)}}},
				reports.Cell{ID: fmt.Sprintf("a/b/unknown-%d", i), Checks: []reports.Check{{ID: "x", Outcome: reports.Unknown}}})
		}
		out := annotations(t, assemble(t, cells))
		for _, level := range []string{"::error", "::warning"} {
			if got := strings.Count(out, level+" "); got != min(n, maxAnnotations) {
				t.Errorf("%d cells: %d of %s", n, got, level)
			}
		}
		if got := strings.Count(out, "more need attention"); want == "" && got != 0 || want != "" && strings.Count(out, want+" need attention") != 2 {
			t.Errorf("%d cells: how many more is said %d times, want %q", n, got, want)
		}
		if len(out) > 2*maxAnnotations*(2*maxAnnotation) {
			t.Errorf("%d cells: %d bytes", n, len(out))
		}
	}
}

func TestJobSummary(t *testing.T) {
	t.Parallel()
	for name, r := range reportsUnderTest(t) {
		out := jobSummary(t, r, MaxGitHubSummary)
		if !strings.Contains(out, verdict(r)) || !strings.Contains(out, "## How to reproduce") {
			t.Errorf("%s: no verdict, or no way to reproduce it:\n%s", name, out)
		}
		for _, c := range r.Cells {
			if !strings.Contains(out, c.ID) {
				t.Errorf("%s: %s is missing", name, c.ID)
			}
		}
		prose, _, _ := strings.Cut(out, "## How to reproduce")
		for line := range strings.Lines(prose) {
			if left := markupLeft(strings.TrimSuffix(line, "\n")); left != "" {
				t.Errorf("%s: %s of %q is not escaped", name, left, line)
			}
		}
	}
}

func TestJobSummariesAreBounded(t *testing.T) {
	t.Parallel()
	var cells []reports.Cell
	for i := range 5000 {
		cells = append(cells, reports.Cell{ID: fmt.Sprintf("a/b/c-%d", i), Checks: []reports.Check{{ID: "x", Outcome: reports.Fail, Observed: strings.Repeat("|", 300)}}})
	}
	r := assemble(t, cells)
	for _, limit := range []int{MaxGitHubSummary, 100_000, 5_000} {
		out := jobSummary(t, r, limit)
		if len(out) > limit || len(out) < limit/2 || !strings.Contains(out, "more rows are omitted here") {
			t.Errorf("%d bytes, and %d may be used", len(out), limit)
		}
		if strings.Count(out, "<details>") != strings.Count(out, "</details>") {
			t.Errorf("of %d bytes: something folded has no end", limit)
		}
	}
	if out := jobSummary(t, r, 100); out != "" {
		t.Errorf("there was no room, and %d bytes were written", len(out))
	}
}

func TestAFullDiskIsReportedByTheRest(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(io.Writer, reports.Report) error{
		"annotations": GitHubAnnotations,
		"summary":     func(w io.Writer, r reports.Report) error { return GitHubSummary(w, r, MaxGitHubSummary) },
	} {
		if err := write(full{}, mixed(t, 1)); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s: error %v, want the write error", name, err)
		}
	}
}
