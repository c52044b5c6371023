// Package ledger holds, for each KEP, the statements that can be tested: one
// file per KEP, one entry per statement, in our own words, with the place in
// the KEP that it comes from. Beside them stand the fields that its gate guards.
package ledger

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/model"
)

//go:embed *.yaml
var files embed.FS

// file is one ledger.
type file struct {
	KEP        string      `json:"kep"`
	Source     string      `json:"source,omitempty"`
	Statements []statement `json:"statements,omitempty"`
	// Fields are the fields that a gate guards. If unset, the KEP has none.
	Fields []model.Field `json:"fields,omitempty"`
}

type statement struct {
	ID        string `json:"id"`
	Level     string `json:"level"`
	Stage     string `json:"stage"`
	Section   string `json:"section"`
	Statement string `json:"statement"`
	// PRR is the question of the production-readiness review that the statement
	// answers. If unset, none.
	PRR string `json:"prr,omitempty"`
	// Excluded is why no check can prove the statement, Manual who must do what
	// to show that it holds. If both are unset, a check must.
	Excluded string `json:"excluded,omitempty"`
	Manual   string `json:"manual,omitempty"`
}

// Requirements returns the statements of all ledgers. Every mistake in them is
// reported.
func Requirements() ([]reports.Requirement, error) { return load(files) }

// Fields returns the fields that gates guard, of all ledgers: the rows by which the
// oracles judge every cell.
func Fields() ([]model.Field, error) { return fields(files) }

func fields(files fs.FS) (all []model.Field, _ error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, err
	}
	var mistakes []error
	for _, name := range names {
		ledger, err := read(files, name)
		mistakes = append(mistakes, err)
		all = append(all, ledger.Fields...)
	}
	return all, errors.Join(mistakes...)
}

func load(files fs.FS) ([]reports.Requirement, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, err
	}
	var all []reports.Requirement
	var mistakes []error
	seen := make(map[string]string)
	for _, name := range names {
		ledger, err := read(files, name)
		mistakes = append(mistakes, err)
		for _, s := range ledger.Statements {
			if first, again := seen[s.ID]; again {
				mistakes = append(mistakes, fmt.Errorf("%s: %s stands in %s already", name, s.ID, first))
			}
			seen[s.ID] = name
			all = append(all, reports.Requirement{
				ID: s.ID, KEP: ledger.KEP, Level: s.Level, Stage: s.Stage,
				Statement: strings.TrimSpace(s.Statement), Source: ledger.Source + ", " + s.Section,
				PRR: s.PRR, Excluded: strings.TrimSpace(s.Excluded), Manual: strings.TrimSpace(s.Manual),
			})
		}
	}
	return all, errors.Join(mistakes...)
}

func read(files fs.FS, name string) (file, error) {
	var ledger file
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return ledger, err
	}
	document := strict.ReadDocument("scenarios/ledger/"+name, text, &ledger)
	for i, s := range ledger.Statements {
		at := fmt.Sprintf("statements[%d]", i)
		if document.Clean(at+".id") && !strings.HasPrefix(s.ID, ledger.KEP+"/") {
			document.Note(at+".id", "the id %q does not begin with %s/", s.ID, ledger.KEP)
		}
		for field, text := range map[string]string{"level": s.Level, "stage": s.Stage, "section": s.Section, "statement": s.Statement} {
			if document.Clean(at+"."+field) && text == "" {
				document.Note(at+"."+field, "%s is empty", field)
			}
		}
		if s.Excluded != "" && s.Manual != "" {
			document.Note(at, "a statement is excluded or manual, not both")
		}
	}
	for i, f := range ledger.Fields {
		at := fmt.Sprintf("fields[%d]", i)
		if err := f.Validate(); err != nil && document.Clean(at) {
			document.Note(at, "%v", err)
		}
	}
	return ledger, document.Err()
}
