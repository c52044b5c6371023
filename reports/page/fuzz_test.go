package page

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/skewrig/skewrig/harness/fuzzing"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/diff"
	"github.com/skewrig/skewrig/reports/evidence"
	"github.com/skewrig/skewrig/reports/finding"
	"github.com/skewrig/skewrig/reports/render"
)

// FuzzReport prints reports that others have written in each format. A text whose outcomes
// don't follow from its checks is also read with those that do, since few changes keep them right.
func FuzzReport(f *testing.F) {
	for _, path := range []string{"../../cmd/skewrig/testdata/saved/report/report.json", "../../cmd/skewrig/testdata/known-bug/report.json", "../../docs/examples/report/report.json"} {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(cited(f, text))
	}
	var made bytes.Buffer
	if err := render.JSON(&made, MadeReport()); err != nil {
		f.Fatal(err)
	}
	f.Add(made.Bytes())
	checkFormats(f, MadeReport()) // what is made once in a process is no input's cost
	f.Fuzz(func(t *testing.T, text []byte) {
		fuzzing.Limited(t, func() {
			if r, err := reports.Read(bytes.NewReader(text)); err == nil {
				checkFormats(t, r)
				return
			}
			var r reports.Report
			if json.Unmarshal(text, &r) != nil {
				return
			}
			settled, err := reports.Assemble(r.Cells, r.Requirements, r.Reproduce)
			if err != nil {
				return
			}
			settled.Problems, settled.Partial, settled.BrokenOff, settled.MissingShards, settled.Shard, settled.Findings = r.Problems, r.Partial, r.BrokenOff, r.MissingShards, r.Shard, r.Findings
			checkFormats(t, settled)
		})
	})
}

// cited is a report with the requirements alone that its cells serve.
func cited(f *testing.F, text []byte) []byte {
	f.Helper()
	r, err := reports.Read(bytes.NewReader(text))
	if err != nil {
		f.Fatal(err)
	}
	r.Requirements = slices.DeleteFunc(r.Requirements, func(q reports.Requirement) bool { return len(q.Cells) == 0 })
	var short bytes.Buffer
	if err := render.JSON(&short, r); err != nil {
		f.Fatal(err)
	}
	return short.Bytes()
}

// checkFormats fails a test if a text of a report has an effect in a format that it is printed
// in, or if the report is another one when it is read again.
func checkFormats(tb testing.TB, r reports.Report) {
	tb.Helper()
	printed := func(write func(io.Writer) error) string {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			tb.Fatal(err)
		}
		return b.String()
	}
	of := func(write func(io.Writer, reports.Report) error) string {
		return printed(func(w io.Writer) error { return write(w, r) })
	}
	checkSame(tb, of(render.JSON[reports.Report]))
	checkXML(tb, of(render.JUnit))
	checkHTML(tb, printed(func(w io.Writer) error { return Write(w, Run{Report: r}) }))
	findings := finding.All(evidence.Run{Report: r}, nil)
	for _, text := range []string{
		printed(func(w io.Writer) error { return render.Terminal(w, r, render.TerminalOptions{Width: 80}) }),
		printed(func(w io.Writer) error { return render.CellsTerminal(w, r, r.Cells, render.TerminalOptions{}) }),
		of(render.Markdown), of(render.TrackRecord), of(render.GitHubAnnotations),
		printed(func(w io.Writer) error { return render.GitHubSummary(w, r, 1<<20) }),
		printed(func(w io.Writer) error { return render.Findings(w, r, findings) }),
		printed(func(w io.Writer) error { return render.Issues(w, r, findings, nil) }),
		printed(func(w io.Writer) error {
			return render.DiffTerminal(w, diff.Compare(MadeReport(), r, diff.Options{}), render.TerminalOptions{Width: 80})
		}),
		printed(func(w io.Writer) error {
			return render.DiffMarkdown(w, diff.Compare(r, MadeReport(), diff.Options{}))
		}),
	} {
		checkPrintable(tb, text)
	}
	checkMerged(tb, r)
}

// checkSame fails a test if a report that was printed as JSON can't be read, or not as it was.
func checkSame(tb testing.TB, text string) {
	tb.Helper()
	r, err := reports.Read(strings.NewReader(text))
	if err != nil {
		tb.Fatal(err)
	}
	var again bytes.Buffer
	if err := render.JSON(&again, r); err != nil || again.String() != text {
		tb.Errorf("%s\nread and written again: %s, %v", text, &again, err)
	}
}

// checkPrintable fails a test if a text could control a terminal.
func checkPrintable(tb testing.TB, text string) {
	tb.Helper()
	at := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) })
	if at >= 0 || !utf8.ValidString(text) {
		tb.Errorf("%q has %q", text, text[max(0, at):min(len(text), max(0, at)+8)])
	}
}

// checkXML fails a test if a text is no XML.
func checkXML(tb testing.TB, text string) {
	tb.Helper()
	for decoder := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			tb.Fatal(err)
		}
	}
}

// checkHTML fails a test if a page runs a script that is not its own, or links to what is no
// web address.
func checkHTML(tb testing.TB, page string) {
	tb.Helper()
	scripts := 0
	for tokens := html.NewTokenizer(strings.NewReader(page)); ; {
		switch tokens.Next() {
		case html.ErrorToken:
			if own := strings.Count(page, "<script type=\"application/octet-stream\"") + ownScripts; scripts != own {
				tb.Errorf("the page has %d scripts, want %d", scripts, own)
			}
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			tag := tokens.Token()
			if tag.Data == "script" {
				scripts++
			}
			for _, a := range tag.Attr {
				checkAttribute(tb, a)
			}
		}
	}
}

// ownScripts is how many scripts a page has beside its data.
var ownScripts = func() int {
	var b bytes.Buffer
	if err := Write(&b, Run{}); err != nil {
		panic(err)
	}
	return strings.Count(b.String(), "<script>") + strings.Count(b.String(), "<script type=\"module\"")
}()

func checkAttribute(tb testing.TB, a html.Attribute) {
	tb.Helper()
	if strings.HasPrefix(a.Key, "on") {
		tb.Errorf("the page has an attribute %s=%q", a.Key, a.Val)
	}
	if a.Key != "href" && a.Key != "src" {
		return
	}
	address, err := url.Parse(a.Val)
	if err != nil || !slices.Contains([]string{"", "http", "https", "data"}, address.Scheme) {
		tb.Errorf("the page links to %q", a.Val)
	}
}

// checkMerged fails a test if a report can be merged with a run of another report, and what comes of it
// is no report.
func checkMerged(tb testing.TB, r reports.Report) {
	tb.Helper()
	merged, _, err := reports.Merge([]reports.Input{{Name: "a", Report: r}, {Name: "b", Report: MadeReport()}})
	if err != nil {
		return
	}
	if err := reports.Validate(merged); err != nil {
		tb.Error(err)
	}
}
