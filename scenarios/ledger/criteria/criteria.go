// Package criteria holds what each enhancement's next stage asks for: one file
// for each KEP, with the criteria of its own text, and template.yaml with those
// that the template has for all of them. Each is in our own words, with the
// section that asks for it and what decides it. docs/keps.md says how to
// write them.
package criteria

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/graduation"
)

//go:embed *.yaml
var files embed.FS

// folder is where the files are, for messages.
const folder = "scenarios/ledger/criteria/"

// templateFile has the criteria that all KEPs have in common.
const templateFile = "template.yaml"

// template is template.yaml.
type template struct {
	Source   string      `json:"source"`
	Criteria []criterion `json:"criteria"`
}

// file is the criteria of one KEP.
type file struct {
	KEP        string                `json:"kep"`
	Source     string                `json:"source"`
	Gate       string                `json:"gate"`
	Components []string              `json:"components"`
	Milestones map[string]string     `json:"milestones"`
	Criteria   []criterion           `json:"criteria"`
	Questions  []graduation.Question `json:"questions,omitempty"`
	// Template says by what the template's criteria are decided for this KEP.
	Template []answer `json:"template"`
}

type criterion struct {
	ID        string `json:"id"`
	Stage     string `json:"stage"`
	Section   string `json:"section"`
	Statement string `json:"statement"`
	// By is what decides it.
	By decided `json:"by,omitzero"`
}

// answer says what decides a criterion of the template.
type answer struct {
	ID string `json:"id"`
	// Same is the KEP's own criterion that asks for the same.
	Same string  `json:"same,omitempty"`
	By   decided `json:"by,omitzero"`
}

// Enhancements returns the criteria of all KEPs, sorted by KEP. Requirements are
// those of the ledgers. Every mistake is reported, with its file, line and column.
func Enhancements(requirements []reports.Requirement) ([]graduation.Enhancement, error) {
	return load(files, requirements)
}

// Find returns the criteria of one KEP: "kep-4939", "KEP-4939" or "4939". The
// error says which there are.
func Find(all []graduation.Enhancement, kep string) (graduation.Enhancement, error) {
	var there []string
	for _, e := range all {
		if strings.EqualFold(e.KEP, kep) || strings.EqualFold(e.KEP, "KEP-"+kep) {
			return e, nil
		}
		there = append(there, strings.ToLower(e.KEP))
	}
	return graduation.Enhancement{}, fmt.Errorf("there are no criteria for %q; there are some for %s", kep, strings.Join(there, ", "))
}

func load(fsys fs.FS, requirements []reports.Requirement) ([]graduation.Enhancement, error) {
	names, err := fs.Glob(fsys, "*.yaml")
	if err != nil {
		return nil, err
	}
	var mistakes []error
	common := reader[template]{requirements: requirements}
	if err := common.read(fsys, templateFile); err != nil {
		return nil, err
	}
	common.checkCriteria(common.content.Criteria, "template/")
	mistakes = append(mistakes, common.document.Err())
	var all []graduation.Enhancement
	for _, name := range names {
		if name == templateFile {
			continue
		}
		own := reader[file]{requirements: requirements}
		if err := own.read(fsys, name); err != nil {
			mistakes = append(mistakes, err)
			continue
		}
		own.check(own.content, common.content)
		mistakes = append(mistakes, own.document.Err())
		all = append(all, own.content.enhancement(common.content, requirements))
	}
	slices.SortFunc(all, func(a, b graduation.Enhancement) int { return strings.Compare(a.KEP, b.KEP) })
	return all, errors.Join(mistakes...)
}

// reader reads one file and gathers what is wrong with it.
type reader[T any] struct {
	requirements []reports.Requirement
	document     *strict.Document
	content      T
}

// read decodes a file. What can't be decoded is not looked at any further.
func (r *reader[T]) read(fsys fs.FS, name string) error {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	r.document = strict.ReadDocument(folder+name, text, &r.content)
	if len(r.document.Source.Bad) > 0 {
		return r.document.Err()
	}
	return nil
}

// enhancement joins a KEP's own criteria with those of the template. What is
// wrong with them has been noted.
func (f file) enhancement(common template, requirements []reports.Requirement) graduation.Enhancement {
	e := graduation.Enhancement{KEP: f.KEP, Gate: f.Gate, Components: f.Components, Milestones: f.Milestones}
	for _, c := range f.Criteria {
		e.Criteria = append(e.Criteria, c.build(f.KEP, f.Source, requirements))
	}
	for _, q := range f.Questions {
		q.Answer, q.Statement = strings.TrimSpace(q.Answer), strings.TrimSpace(q.Statement)
		e.Questions = append(e.Questions, q)
	}
	for _, c := range common.Criteria {
		a := f.answer(c.ID)
		if same := slices.IndexFunc(e.Criteria, func(own graduation.Criterion) bool { return own.ID == a.Same }); same >= 0 {
			e.Criteria[same].Source += "; " + common.Source + ", " + c.Section
			continue
		}
		c.By = c.By.with(a.By)
		e.Criteria = append(e.Criteria, c.build(f.KEP, common.Source, requirements))
	}
	return e
}

// answer returns what the file says of a criterion of the template, which may be
// nothing.
func (f file) answer(id string) answer {
	i := slices.IndexFunc(f.Template, func(a answer) bool { return a.ID == id })
	if i < 0 {
		return answer{}
	}
	return f.Template[i]
}
