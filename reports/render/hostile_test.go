package render

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/skewrig/skewrig/reports"
)

// nasty are texts that a program under test could say, each of which would do
// something if some format let it through.
var nasty = []string{
	"\x1b[2J\x1b]0;owned\x07\u009b31m",                        // a terminal's control sequences
	"\u202egnp.exe\u202c\u2066x\u2069",                        // text that runs backwards
	"|a|b|\n| --- | --- |\n# heading\n- [ ] item\n```\nfence", // Markdown's structure
	"`code` *bold* _it_ ~~no~~ $x$ \\| \\\\| \\",              // Markdown's text
	"![i](http://x/y.png) [l](javascript:alert(1)) @octocat",  // images, links, mentions
	"<script>alert(1)</script><!-- --><img src=x onerror=y>",  // HTML
	"]]></failure></testcase><testcase name=\"evil\"/>&lt;",   // XML
	"a\x00b\x01c\ufffe\uffffd\x7f\r\n\te",                     // not allowed in XML
	"\u2028line\u2029paragraph\u0085",                         // line ends by other names
	strings.Repeat("long ", 3000) + "end",
}

// hostile is a report whose every free text is nasty.
func hostile(t *testing.T) reports.Report {
	t.Helper()
	all := strings.Join(nasty[:len(nasty)-1], " ")
	cells := []reports.Cell{{
		ID: "area/group/all", Scenario: all, KEP: all, Axes: map[string]string{all: all},
		Outcome: reports.HarnessError, Reason: all, Requirements: []string{all},
		Leases: []reports.ZoneLeases{{Zone: all, Nodes: 1, Oldest: []float64{1}}},
	}}
	for i, s := range nasty {
		cells = append(cells, reports.Cell{
			ID: "area/group/nasty-" + string(rune('a'+i)),
			Checks: []reports.Check{
				{ID: "c", Requirement: all, Outcome: reports.Fail, Expected: s, Observed: s, Reason: s},
				{ID: "d", Outcome: reports.Fail, Expected: s, Observed: s},
			},
		})
	}
	repeated := reports.Cell{ID: "area/group/repeat", Outcome: reports.HarnessError, Reason: all}.Numbered(1)
	good := reports.Cell{ID: repeated.ID, Checks: []reports.Check{{ID: "c", Outcome: reports.Pass}}}.Numbered(2)
	bad := reports.Cell{ID: repeated.ID, Checks: []reports.Check{{ID: "c", Outcome: reports.Fail, Reason: all}}}.Numbered(3)
	cells = append(cells, reports.Join(repeated, good, bad))
	cells[len(cells)-1].Differs = reports.Difference{Step: 1, Action: all, Bad: all, Good: all}
	r, err := reports.Assemble(cells,
		[]reports.Requirement{{ID: all, KEP: all, Level: all, Stage: all, Statement: all, Source: "https://example.com/" + strings.NewReplacer("\x00", "", "\x1b", "").Replace(nasty[4]) + "?q=|`)#|`)"},
			{ID: "javascript", Statement: all, Source: "javascript://example.com/%0aalert(1)"}},
		reports.Reproduce{Command: all, Skewrig: all, Go: all, Components: []reports.Component{{Name: all, Version: all, Source: all, Digest: all}},
			Host: reports.Host{OS: all, Arch: all, Kernel: all}})
	if err != nil {
		t.Fatal(err)
	}
	r.Problems = append([]string{all}, nasty...)
	r.Partial = all
	return r
}

func TestHostileTextsControlNoTerminal(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"txt", "md"} {
		for _, r := range render(t, format, hostile(t)) {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Errorf("%s contains %q", format, r)
			}
		}
	}
	ours := regexp.MustCompile("\x1b\\[(31|32|33|36|0)m")
	for _, r := range ours.ReplaceAllString(render(t, "color.txt", hostile(t)), "") {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Errorf("color.txt contains %q", r)
		}
	}
}

func TestHostileTextsAreBounded(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"txt", "md", "xml"} {
		out := render(t, format, hostile(t))
		if strings.Contains(out, "long end") {
			t.Errorf("%s shows the end of a text of %d bytes", format, len(nasty[len(nasty)-1]))
		}
		if !strings.Contains(out, "more)") {
			t.Errorf("%s does not say that a text was shortened", format)
		}
	}
}

func TestHostileTextsAreWholeInJSON(t *testing.T) {
	t.Parallel()
	r, err := reports.Read(strings.NewReader(render(t, "json", hostile(t))))
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range nasty {
		if got := r.Problems[i+1]; got != s {
			t.Errorf("read back %q, want %q", got, s)
		}
	}
}

// TestHostileTextsMakeNoMarkdown looks for what would be markup if it were not
// escaped: what is left after removing escapes, entities and our own code spans
// has to be free of it.
func TestHostileTextsMakeNoMarkdown(t *testing.T) {
	t.Parallel()
	out := render(t, "md", hostile(t))
	start := strings.Index(out, "## How to reproduce")
	prose, command := out[:start], out[start:]
	if strings.Contains(prose, `\|`) || strings.Contains(prose, `\\`) {
		t.Error(`a backslash stands before a pipe or another one, which renderers of tables disagree about`)
	}
	columns := 0
	for line := range strings.Lines(prose) {
		switch {
		case !strings.HasPrefix(line, "|"):
			columns = 0
		case columns == 0:
			columns = strings.Count(line, "|")
		case strings.Count(line, "|") != columns:
			t.Errorf("a row has %d pipes where its table has %d: %s", strings.Count(line, "|"), columns, line)
		}
		ours := regexp.MustCompile("\\\\[`*_\\[\\]#~$]|&(amp|lt|gt|#124|#92);|<br>|@<!-- -->|`[^`]*`|" +
			`\*\*problem:\*\*|\*\*Partial:\*\*|\*\*Something does not conform\.\*\*|^#+ |\[source\]\(https://example\.com/[^()<>| ]*\)|` +
			`!\[what happened in area/group/all\]\(\./a:b/[^()<>|` + "`" + ` \\]*\)`)
		rest := ours.ReplaceAllString(line, "")
		if i := strings.IndexAny(rest, "`*_[]<>&#~$@\\"); i >= 0 {
			t.Errorf("%q of %q is not escaped", rest[i], line)
		}
	}
	fences := regexp.MustCompile("(?m)^`+").FindAllString(command, -1)
	if len(fences) < 2 || fences[0] != fences[len(fences)-1] {
		t.Fatalf("fences %q", fences)
	}
	for _, inside := range fences[1 : len(fences)-1] {
		if len(inside) >= len(fences[0]) {
			t.Errorf("%q ends the block that %q began", inside, fences[0])
		}
	}
}

func TestHostileTextsMakeNoXML(t *testing.T) {
	t.Parallel()
	out := render(t, "xml", hostile(t))
	if !utf8.ValidString(out) {
		t.Error("it is not UTF-8")
	}
	for _, r := range out {
		if r != '\t' && r != '\n' && r != '\r' && (r < 0x20 || r == 0xFFFE || r == 0xFFFF) {
			t.Errorf("it contains %q, which XML does not allow", r)
		}
	}
	cases := 0
	decoder := xml.NewDecoder(strings.NewReader(out))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "testcase" {
			cases++
		}
	}
	r := hostile(t)
	if want := len(r.Cells) + len(r.Problems) + 1; cases != want { // one that says that it is partial
		t.Errorf("%d test cases, want %d", cases, want)
	}
}
