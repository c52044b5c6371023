// Package ledger holds, for each KEP, the statements that can be tested: one
// file per KEP, one entry per statement, in our own words, with the place in
// the KEP that it comes from. Beside them stand the fields that its gate guards.
package ledger

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/model"
)

//go:embed *.yaml *.sentences
var files embed.FS

// file is one ledger.
type file struct {
	KEP    string `json:"kep"`
	Source string `json:"source,omitempty"`
	// Documents are the places where the text is found: the first of them that a
	// directory has is taken. Beside the ledger stands the list of their sentences. If
	// unset, the ledger is of no text.
	Documents  []document  `json:"documents,omitempty"`
	Statements []statement `json:"statements,omitempty"`
	// Fields are the fields that a gate guards. If unset, the KEP has none.
	Fields []model.Field `json:"fields,omitempty"`

	name string // of the file
	rows []row
}

type statement struct {
	ID        string `json:"id"`
	Level     string `json:"level"`
	Stage     string `json:"stage"`
	Section   string `json:"section"`
	Statement string `json:"statement"`
	// Contradicts are statements of the same ledger that no release can satisfy
	// together with this one. One of two names the other. If unset, none.
	Contradicts []string `json:"contradicts,omitempty"`
	// Beyond is where the statement is from if no sentence of the text says it. If
	// unset, a sentence does.
	Beyond string `json:"beyond,omitempty"`
	// PRR is the question of the production-readiness review that the statement
	// answers. If unset, none.
	PRR string `json:"prr,omitempty"`
	// Excluded is why no check can prove the statement, Manual who must do what
	// to show that it holds. If both are unset, a check must.
	Excluded string `json:"excluded,omitempty"`
	Manual   string `json:"manual,omitempty"`
}

// Oracles is the ledger of what the oracles ask of every cell, whatever its catalog.
const Oracles = "ORACLE"

// Requirements returns the statements of all ledgers. Every mistake in them is
// reported.
func Requirements() ([]reports.Requirement, error) { return load(files) }

// Load returns the statements of ledgers of one's own, by their paths. Every mistake in
// them is reported. They have no fields: the oracles judge by those of the ledgers that
// come with skewrig.
func Load(files fs.FS, names []string) ([]reports.Requirement, error) {
	ledgers, err := readAll(files, names, "")
	all, alsoErr := statements(ledgers)
	return all, errors.Join(err, alsoErr)
}

// Fields returns the fields that gates guard, of all ledgers: the rows by which the
// oracles judge every cell.
func Fields() ([]model.Field, error) { return fields(files) }

func fields(files fs.FS) (all []model.Field, _ error) {
	ledgers, err := readOurs(files)
	for _, ledger := range ledgers {
		all = append(all, ledger.Fields...)
	}
	return all, err
}

// ours is where the ledgers that come with skewrig stand.
const ours = "scenarios/ledger/"

// readOurs reads the ledgers that come with skewrig.
func readOurs(files fs.FS) ([]file, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, err
	}
	return readAll(files, names, ours)
}

// readAll reads ledgers, which stand in a directory, and returns every mistake in them.
func readAll(files fs.FS, names []string, dir string) (all []file, _ error) {
	var mistakes []error
	for _, name := range names {
		ledger, err := read(files, name, dir)
		ledger.name = name
		mistakes = append(mistakes, err)
		all = append(all, ledger)
	}
	return all, errors.Join(mistakes...)
}

func load(files fs.FS) ([]reports.Requirement, error) {
	ledgers, err := readOurs(files)
	all, alsoErr := statements(ledgers)
	return all, errors.Join(err, alsoErr)
}

// statements are those of ledgers, each with its place in the text.
func statements(ledgers []file) (all []reports.Requirement, _ error) {
	var mistakes []error
	seen := make(map[string]string)
	for _, ledger := range ledgers {
		for _, s := range ledger.Statements {
			if first, again := seen[s.ID]; again {
				mistakes = append(mistakes, fmt.Errorf("%s: %s stands in %s already", ledger.name, s.ID, first))
			}
			seen[s.ID] = ledger.name
			document, lines := ledger.place(s.ID)
			all = append(all, reports.Requirement{
				ID: s.ID, KEP: ledger.KEP, Level: s.Level, Stage: s.Stage,
				Statement: strings.TrimSpace(s.Statement), Source: ledger.Source + ", " + s.Section,
				Contradicts: s.Contradicts,
				Document:    cmp.Or(document.Link, document.Path), Lines: lines, Beyond: strings.TrimSpace(s.Beyond),
				PRR: s.PRR, Excluded: strings.TrimSpace(s.Excluded), Manual: strings.TrimSpace(s.Manual),
			})
		}
	}
	return all, errors.Join(mistakes...)
}

// checkContradictions notes what no reader could choose between: a statement that a
// check can't prove, or that is not there.
func (f file) checkContradictions(document *strict.Document) {
	for i, s := range f.Statements {
		for j, id := range s.Contradicts {
			at := slices.IndexFunc(f.Statements, func(other statement) bool { return other.ID == id && id != s.ID })
			path := fmt.Sprintf("statements[%d].contradicts[%d]", i, j)
			document.Refuse(path, at < 0, "%s is no other statement of this ledger", id)
			for _, of := range []statement{s, f.Statements[max(at, 0)]} {
				document.Refuse(path, of.Excluded != "" || of.Manual != "", "no check can prove %s, so nothing shows which of the two a release does", of.ID)
			}
		}
	}
}

// read reads a ledger, which stands in a directory.
func read(files fs.FS, name, dir string) (file, error) {
	var ledger file
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return ledger, err
	}
	document := strict.ReadDocument(dir+name, text, &ledger)
	for i, s := range ledger.Statements {
		at := fmt.Sprintf("statements[%d]", i)
		document.Refuse(at+".id", !strings.HasPrefix(s.ID, ledger.KEP+"/"), "the id %q does not begin with %s/", s.ID, ledger.KEP)
		for field, text := range map[string]string{"level": s.Level, "stage": s.Stage, "section": s.Section, "statement": s.Statement} {
			document.Refuse(at+"."+field, text == "", "%s is empty", field)
		}
		if s.Excluded != "" && s.Manual != "" {
			document.Note(at, "a statement is excluded or manual, not both")
		}
	}
	ledger.checkContradictions(document)
	document.Refuse("fields", dir != ours && len(ledger.Fields) > 0, "fields are for the ledgers that come with skewrig: leave them out")
	for i, f := range ledger.Fields {
		err := f.Validate()
		document.Refuse(fmt.Sprintf("fields[%d]", i), err != nil, "%v", err)
	}
	if err := document.Err(); err != nil {
		return ledger, err
	}
	return ledger, readRows(files, &ledger, name, dir)
}
