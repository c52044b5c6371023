package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/skewrig/skewrig/reports"
)

// kinds are what a sentence can be that belongs to no statement.
var kinds = []string{
	"heading",     // a heading or a label
	"prose",       // background: it says nothing that a cluster does or has
	"example",     // code or a manifest that shows what a sentence beside it says
	"process",     // the work of the project: sign-off, tests to be written, history
	"template",    // the template's own question, option or advice
	"alternative", // what was thought of and not chosen
}

// document is a text that a ledger is of.
type document struct {
	// Path is where it is in a directory of texts.
	Path string `json:"path"`
	// Link is where a reader finds the text that the list of sentences was made from,
	// with its commit. If unset, it is not public.
	Link string `json:"link,omitempty"`
}

// row says what one sentence of the texts belongs to.
type row struct {
	digest     string
	lines      []int // in each document; 0 where it doesn't have the sentence
	statements []string
	kind       string
}

// A Quote is a sentence of the reader's own copy of a text.
type Quote struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// A Change is a sentence by which a text and its ledger differ.
type Change struct {
	// Kind is "new" for a sentence that the ledger doesn't know, "changed" for one in
	// the place of another, "gone" for one that the text has no longer.
	Kind string `json:"kind"`
	// Line is the line of the sentence: of the text or, where it is gone, of the text
	// that the ledger was written for.
	Line int `json:"line"`
	// Text is the sentence. If it is gone, it is empty.
	Text string `json:"text,omitempty"`
	// Statements are the ids that the sentence, or the one it took the place of,
	// belongs to. If it belongs to none, it is empty.
	Statements []string `json:"statements,omitempty"`
}

// A Text is a proposal as a reader has it, beside its ledger.
type Text struct {
	KEP string `json:"kep"`
	// Document is the path of the text in the directory. If it has none of the
	// ledger's documents, it is empty.
	Document string `json:"document"`
	// Sentences is how many sentences the text has.
	Sentences int      `json:"sentences"`
	Drift     []Change `json:"drift"`
	// Quotes are the sentences that belong to each statement, by its id, in the order
	// of the text.
	Quotes map[string][]Quote `json:"quotes"`
}

// Texts holds the ledgers against a directory of texts: a checkout of the
// enhancements repository, or copies of the documents that the ledgers name. A
// ledger without documents has no text.
func Texts(dir fs.FS) ([]Text, error) { return texts(files, dir) }

func texts(ledgers, dir fs.FS) (all []Text, _ error) {
	names, err := fs.Glob(ledgers, "*.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		ledger, err := read(ledgers, name, ours)
		if err != nil {
			return nil, err
		}
		if len(ledger.Documents) == 0 {
			continue
		}
		text, err := hold(ledger, dir)
		if err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, nil
}

// hold finds the text of a ledger in a directory and compares them.
func hold(ledger file, dir fs.FS) (Text, error) {
	text := Text{KEP: ledger.KEP, Drift: []Change{}, Quotes: map[string][]Quote{}}
	for i, document := range ledger.Documents {
		content, err := fs.ReadFile(dir, document.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return text, err
		}
		text.Document = document.Path
		text.compare(ledger.of(i), Sentences(string(content)))
		return text, nil
	}
	return text, nil
}

// of returns the rows of one document, each with its line there.
func (f file) of(document int) (rows []row) {
	for _, r := range f.rows {
		if r.lines[document] > 0 {
			r.lines = r.lines[document : document+1]
			rows = append(rows, r)
		}
	}
	return rows
}

// compare fills in what the sentences of a text are, and which differ.
func (t *Text) compare(rows []row, sentences []Sentence) {
	t.Sentences = len(sentences)
	before, after := make([]string, len(rows)), make([]string, len(sentences))
	for i, r := range rows {
		before[i] = r.digest
	}
	for i, s := range sentences {
		after[i] = s.Digest
	}
	for _, op := range difflib.NewMatcherWithJunk(before, after, false, nil).GetOpCodes() {
		for i := range max(op.I2-op.I1, op.J2-op.J1) {
			var was *row
			var is *Sentence
			if op.I1+i < op.I2 {
				was = &rows[op.I1+i]
			}
			if op.J1+i < op.J2 {
				is = &sentences[op.J1+i]
			}
			t.pair(was, is)
		}
	}
}

// pair takes in a sentence and the row in whose place it stands. One of them may be
// nil.
func (t *Text) pair(was *row, is *Sentence) {
	switch {
	case was == nil:
		t.Drift = append(t.Drift, Change{Kind: "new", Line: is.Line, Text: is.Text})
	case is == nil:
		t.Drift = append(t.Drift, Change{Kind: "gone", Line: was.lines[0], Statements: was.statements})
	case was.digest != is.Digest:
		t.Drift = append(t.Drift, Change{Kind: "changed", Line: is.Line, Text: is.Text, Statements: was.statements})
	default:
		for _, id := range was.statements {
			t.Quotes[id] = append(t.Quotes[id], Quote{Line: is.Line, Text: is.Text})
		}
	}
}

// readRows reads the list of sentences of a ledger: on each line the digest of a
// sentence, its line in each document ("-" for none), and the statements that it
// belongs to, without the ledger's prefix, or what it is instead. "#" begins a
// comment. A ledger without documents has no list.
func readRows(files fs.FS, ledger *file, name, dir string) error {
	name = strings.TrimSuffix(name, path.Ext(name)) + ".sentences"
	content, err := fs.ReadFile(files, name)
	switch none := errors.Is(err, fs.ErrNotExist); {
	case none && len(ledger.Documents) == 0:
		return nil
	case none || err == nil && len(ledger.Documents) == 0:
		return fmt.Errorf("%s: a ledger has both documents and a list of their sentences, or neither", dir+name)
	case err != nil:
		return err
	}
	statements := make(map[string]bool)
	for _, s := range ledger.Statements {
		statements[s.ID] = true
	}
	var mistakes []error
	for i, line := range strings.Split(string(content), "\n") {
		line, _, _ = strings.Cut(line, "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		r, err := ledger.readRow(strings.Fields(line), statements)
		if err != nil {
			mistakes = append(mistakes, fmt.Errorf("%s:%d: %w", dir+name, i+1, err))
			continue
		}
		ledger.rows = append(ledger.rows, r)
	}
	return errors.Join(append(mistakes, ledger.anchored())...)
}

func (f file) readRow(words []string, statements map[string]bool) (row, error) {
	belongs := 1 + len(f.Documents)
	if len(words) <= belongs {
		return row{}, fmt.Errorf("want a digest, a line in each of %d documents, and what the sentence belongs to", len(f.Documents))
	}
	r := row{digest: words[0]}
	for _, word := range words[1:belongs] {
		line, err := strconv.Atoi(word)
		if err != nil && word != "-" {
			return r, fmt.Errorf("%q is neither the number of a line nor -", word)
		}
		r.lines = append(r.lines, line)
	}
	if words = words[belongs:]; len(words) == 1 && slices.Contains(kinds, words[0]) {
		r.kind = words[0]
		return r, nil
	}
	for _, word := range words {
		id := f.KEP + "/" + word
		if !statements[id] {
			return r, fmt.Errorf("%q is neither a statement of %s nor one of %s", word, f.KEP, strings.Join(kinds, ", "))
		}
		r.statements = append(r.statements, id)
	}
	return r, nil
}

// anchored returns an error for each statement that no sentence belongs to and that
// doesn't say where else it is from, and for each that has both.
func (f file) anchored() error {
	var mistakes []error
	for _, s := range f.Statements {
		if _, lines := f.place(s.ID); (len(lines) == 0) == (s.Beyond == "") {
			mistakes = append(mistakes, fmt.Errorf("the statement %s needs a sentence of the text or, in beyond, another source, and not both", s.ID))
		}
	}
	return errors.Join(mistakes...)
}

// place returns the first document with sentences of a statement, and their lines.
// Without any it returns none.
func (f file) place(id string) (document, []int) {
	for i, d := range f.Documents {
		var lines []int
		for _, r := range f.of(i) {
			if slices.Contains(r.statements, id) {
				lines = append(lines, r.lines[0])
			}
		}
		if len(lines) > 0 {
			return d, lines
		}
	}
	return document{}, nil
}

// Cite adds to requirements what the texts say of them, word for word.
func Cite(requirements []reports.Traced, texts []Text) {
	for i := range requirements {
		r := &requirements[i]
		for _, t := range texts {
			for _, q := range t.Quotes[r.ID] {
				r.Sentences = append(r.Sentences, q.Text)
			}
		}
	}
}
