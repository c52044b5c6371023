package ledger

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/pmezard/go-difflib/difflib"

	_ "github.com/skewrig/skewrig/harness/golden" // the flag -update
	"github.com/skewrig/skewrig/harness/strict"
)

// TestSentences holds the ledgers against the texts in the directory SKEWRIG_TEXTS:
// each sentence is known, and none is gone. Each ledger with documents needs one of
// them there.
func TestSentences(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("SKEWRIG_TEXTS")
	if dir == "" {
		t.Skip("SKEWRIG_TEXTS names no directory with the texts of the proposals: their sentences are not compared with the ledgers")
	}
	if flag.Lookup("update").Value.String() == "true" {
		rewrite(t, os.DirFS(dir))
	}
	all, err := Texts(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range all {
		if text.Document == "" {
			t.Errorf("%s has no text of %s", dir, text.KEP)
		}
		for _, c := range text.Drift {
			t.Errorf("%s:%d: %s, of %v: %s", text.Document, c.Line, c.Kind, c.Statements, c.Text)
		}
		t.Logf("%s: %d sentences of %s", text.KEP, text.Sentences, text.Document)
	}
}

// rewrite writes the lists of sentences anew for the texts of a directory: sentences
// keep what they belong to, new ones belong to "?".
func rewrite(t *testing.T, dir fs.FS) {
	names, _ := filepath.Glob("*.sentences")
	for _, name := range names {
		list, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var ledger file
		yaml, err := os.ReadFile(strings.TrimSuffix(name, ".sentences") + ".yaml")
		if err == nil {
			err = strict.ReadDocument(name, yaml, &ledger).Err()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimRight(string(list), "\n"), "\n")
		for i, d := range ledger.Documents {
			if text, err := fs.ReadFile(dir, d.Path); err == nil {
				lines = renumber(lines, i+1, 1+len(ledger.Documents), Sentences(string(text)))
				break
			}
		}
		if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil { //nolint:gosec // it is committed, for all to read
			t.Fatal(err)
		}
	}
}

// renumber puts the lines of a text's sentences into the column of its document.
func renumber(lines []string, column, columns int, sentences []Sentence) (out []string) {
	var rows [][]string
	var before, after []string
	for _, line := range lines {
		words := strings.Fields(line)
		if strings.HasPrefix(line, "#") {
			out = append(out, line)
			continue
		}
		rows, before = append(rows, words), append(before, words[0])
	}
	for _, s := range sentences {
		after = append(after, s.Digest)
	}
	for _, op := range difflib.NewMatcherWithJunk(before, after, false, nil).GetOpCodes() {
		for i := op.I1; i < op.I2; i++ {
			rows[i][column] = "-"
			if op.Tag == 'e' {
				rows[i][column] = strconv.Itoa(sentences[op.J1+i-op.I1].Line)
			}
			if strings.Trim(strings.Join(rows[i][1:columns], ""), "-") != "" {
				out = append(out, strings.Join(rows[i], " "))
			}
		}
		for _, s := range sentences[op.J1:op.J2] {
			if op.Tag != 'e' {
				row := slices.Repeat([]string{"-"}, columns+1)
				row[0], row[column], row[columns] = s.Digest, strconv.Itoa(s.Line), "?"
				out = append(out, strings.Join(row, " "))
			}
		}
	}
	return out
}

const (
	anchoredLedger = `kep: KEP-1
documents: [{path: public.md, link: https://example.com/x}, {path: own.txt}]
statements:
- {id: KEP-1/a, level: core, stage: alpha, section: S, statement: A.}
- {id: KEP-1/b, level: core, stage: alpha, section: S, statement: B., beyond: the code}
`
	anchoredText = "# Title\nIt does a. It was easy.\n"
)

// rowsOf returns a list of sentences in which all of a text belong to the same.
func rowsOf(text string, belongs ...string) string {
	var b strings.Builder
	for i, s := range Sentences(text) {
		fmt.Fprintf(&b, "%s - %d %s # a comment\n", s.Digest, s.Line, belongs[i])
	}
	return b.String()
}

func ledgerWith(rows string) fstest.MapFS {
	return fstest.MapFS{"kep-1.yaml": {Data: []byte(anchoredLedger)}, "kep-1.sentences": {Data: []byte(rows)}}
}

func TestDrift(t *testing.T) {
	t.Parallel()
	files := ledgerWith(rowsOf(anchoredText, "heading", "a", "prose"))
	for name, c := range map[string]struct {
		text  string
		drift []Change
		quote []Quote
	}{
		"same":    {anchoredText, []Change{}, []Quote{{Line: 2, Text: "It does a."}}},
		"moved":   {"\n\n" + anchoredText, []Change{}, []Quote{{Line: 4, Text: "It does a."}}},
		"new":     {anchoredText + "It does c.", []Change{{Kind: "new", Line: 3, Text: "It does c."}}, []Quote{{Line: 2, Text: "It does a."}}},
		"gone":    {"# Title\nIt was easy.", []Change{{Kind: "gone", Line: 2, Statements: []string{"KEP-1/a"}}}, nil},
		"changed": {"# Title\nIt does d. It was easy.", []Change{{Kind: "changed", Line: 2, Text: "It does d.", Statements: []string{"KEP-1/a"}}}, nil},
	} {
		all, err := texts(files, fstest.MapFS{"own.txt": {Data: []byte(c.text)}})
		if err != nil {
			t.Fatal(err)
		}
		got := all[0]
		if diff := cmp.Diff(c.drift, got.Drift); diff != "" || got.Document != "own.txt" {
			t.Errorf("%s, %s: -want +got:\n%s", name, got.Document, diff)
		}
		if diff := cmp.Diff(c.quote, got.Quotes["KEP-1/a"]); diff != "" {
			t.Errorf("%s: quotes: -want +got:\n%s", name, diff)
		}
	}
	if all, err := texts(files, fstest.MapFS{}); err != nil || all[0].Document != "" {
		t.Errorf("a directory without the text: %v, %v", all, err)
	}
}

func TestMistakesInSentences(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ rows, want string }{
		"unknown statement":    {rowsOf(anchoredText, "heading", "c", "prose"), `kep-1.sentences:2: "c" is neither a statement of KEP-1 nor one of heading`},
		"statement and kind":   {rowsOf(anchoredText, "heading", "a prose", "prose"), `"prose" is neither a statement`},
		"nothing":              {"abc - 1\n", "and what the sentence belongs to"},
		"no line":              {"abc - x prose\n", `"x" is neither the number of a line nor -`},
		"no sentence":          {rowsOf(anchoredText, "heading", "prose", "prose"), "the statement KEP-1/a needs a sentence"},
		"sentence and another": {rowsOf(anchoredText, "heading", "a b", "prose"), "the statement KEP-1/b needs a sentence"},
	} {
		_, err := load(ledgerWith(c.rows))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	files := ledgerWith("")
	delete(files, "kep-1.sentences")
	if _, err := load(files); err == nil || !strings.Contains(err.Error(), "or neither") {
		t.Errorf("documents without a list: %v", err)
	}
}
