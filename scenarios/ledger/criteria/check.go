package criteria

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/graduation"
)

// check notes what is wrong with the file of a KEP.
func (r *reader[T]) check(f file, common template) {
	r.checkHead(f)
	r.checkCriteria(f.Criteria, f.KEP+"/")
	for i, q := range f.Questions {
		at := fmt.Sprintf("questions[%d]", i)
		checkRequirements(r.document, at+".by", f.KEP, q.By, r.requirements)
		if open := strings.HasPrefix(q.Answer, "Open. "); open == (len(q.By) > 0) {
			r.document.Note(at+".answer", "an answer names what proves it under by, or begins with Open")
		}
		if q.Statement != "" {
			checkPatterns(r.document, at+".match", q.Match)
		}
	}
	r.checkAnswers(f, common)
	for _, c := range common.Criteria {
		if a := f.answer(c.ID); a.Same == "" && !c.By.with(a.By).any() {
			r.document.Note("template", "nothing says by what %s is decided", c.ID)
		}
	}
}

func (r *reader[T]) checkAnswers(f file, common template) {
	answered := make(map[string]bool)
	for i, a := range f.Template {
		at := fmt.Sprintf("template[%d]", i)
		a.By.check(r.document, at+".by", f.KEP, r.requirements)
		if answered[a.ID] {
			r.document.Note(at+".id", "%s is answered already", a.ID)
		}
		answered[a.ID] = true
		if !slices.ContainsFunc(common.Criteria, func(c criterion) bool { return c.ID == a.ID }) {
			r.document.Note(at+".id", "the template has no criterion %s", a.ID)
		}
		if a.Same != "" && (a.By.any() || !slices.ContainsFunc(f.Criteria, func(c criterion) bool { return c.ID == a.Same })) {
			r.document.Note(at+".same", "same must name a criterion of this file, and stand alone")
		}
	}
}

func (r *reader[T]) checkCriteria(all []criterion, prefix string) {
	seen := make(map[string]bool)
	for i, c := range all {
		at := fmt.Sprintf("criteria[%d]", i)
		switch {
		case !strings.HasPrefix(c.ID, prefix):
			r.document.Note(at+".id", "the id %q does not begin with %s", c.ID, prefix)
		case seen[c.ID]:
			r.document.Note(at+".id", "%s is there already", c.ID)
		case prefix != "template/" && !c.By.any():
			r.document.Note(at, "nothing says by what %s is decided", c.ID)
		}
		seen[c.ID] = true
		if !slices.Contains(graduation.Stages(), c.Stage) {
			r.document.Note(at+".stage", "%q is no stage: there are %s", c.Stage, strings.Join(graduation.Stages(), ", "))
		}
		c.By.check(r.document, at+".by", strings.TrimSuffix(prefix, "/"), r.requirements)
	}
}

// checkHead holds the fields of a KEP as a whole against what they can be.
func (r *reader[T]) checkHead(f file) {
	if !slices.ContainsFunc(r.requirements, func(q reports.Requirement) bool { return q.KEP == f.KEP }) {
		r.document.Note("kep", "there is no ledger of %q", f.KEP)
	}
	if len(f.Components) == 0 {
		r.document.Note("components", "at least one component has the gate")
	}
	if _, has := f.Milestones["alpha"]; !has {
		r.document.Note("milestones", "the milestone of alpha is missing: it says which releases have the feature")
	}
	for _, stage := range slices.Sorted(maps.Keys(f.Milestones)) {
		if !slices.Contains(graduation.Stages(), stage) {
			r.document.Note("milestones", "%q is no stage: there are %s", stage, strings.Join(graduation.Stages(), ", "))
		}
		if v := f.Milestones[stage]; !minor(v) {
			r.document.Note("milestones."+stage, "%q is no minor version: write it like v1.37", v)
		}
	}
}
