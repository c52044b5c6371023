package criteria

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/cellid"
	"github.com/skewrig/skewrig/reports/graduation"
)

// decided is what decides a criterion: all that is given.
type decided struct {
	// Requirements are ids of the ledger, Statements levels of it: all statements
	// of those levels that hold from the criterion's stage on, or from before.
	Requirements []string             `json:"requirements,omitempty"`
	Statements   []string             `json:"statements,omitempty"`
	Cells        *graduation.Cells    `json:"cells,omitempty"`
	Repeated     *graduation.Repeated `json:"repeated,omitempty"`
	// Older has cells on every release that has the feature count, and not only on
	// the newest of each scenario.
	Older bool `json:"older,omitempty"`
	// Gap is what the catalog can't show yet.
	Gap    string             `json:"gap,omitempty"`
	Person *graduation.Person `json:"person,omitempty"`
}

// levels are those of statements.
func levels() []string { return []string{"core", "extended", "provisional"} }

// any reports whether anything decides.
func (d decided) any() bool {
	return len(d.Requirements) > 0 || len(d.Statements) > 0 || d.Cells != nil || d.Repeated != nil || d.Gap != "" || d.Person != nil
}

// with adds what a KEP says to what the template says. What both say, the KEP
// decides.
func (d decided) with(own decided) decided {
	d.Requirements = slices.Concat(d.Requirements, own.Requirements)
	if own.Statements != nil {
		d.Statements = own.Statements
	}
	d.Older = d.Older || own.Older
	d.Cells, d.Repeated = cmp.Or(own.Cells, d.Cells), cmp.Or(own.Repeated, d.Repeated)
	d.Gap, d.Person = cmp.Or(own.Gap, d.Gap), cmp.Or(own.Person, d.Person)
	return d
}

// check notes what is wrong with what decides, which stands at a path of a
// document.
func (d decided) check(document *strict.Document, at, kep string, requirements []reports.Requirement) {
	note := func(path string, i int, format string, args ...any) {
		document.Note(fmt.Sprintf("%s.%s[%d]", at, path, i), format, args...)
	}
	checkRequirements(document, at+".requirements", kep, d.Requirements, requirements)
	for i, level := range d.Statements {
		if !slices.Contains(levels(), level) {
			note("statements", i, "%q is no level: there are %s", level, strings.Join(levels(), ", "))
		}
	}
	if d.Cells != nil {
		checkPatterns(document, at+".cells.match", d.Cells.Match)
		for i, v := range d.Cells.Releases {
			if resolved, err := release.Resolve(v); v != graduation.Milestone && !minor(v) && (err != nil || v == string(resolved)) {
				note("cells.releases", i, "%q is none of newest, previous, n-2, milestone, and a minor version like v1.37", v)
			}
		}
	}
	if d.Repeated != nil {
		checkPatterns(document, at+".repeated.match", d.Repeated.Match)
		if d.Repeated.Days < 1 || d.Repeated.Runs < d.Repeated.Days {
			document.Note(at+".repeated.runs", "there must be at least one day, and a run on each")
		}
	}
}

// checkRequirements notes what is wrong with ids of statements that are to prove
// something.
func checkRequirements(document *strict.Document, at, kep string, ids []string, requirements []reports.Requirement) {
	for i, id := range ids {
		q := slices.IndexFunc(requirements, func(q reports.Requirement) bool { return q.ID == id })
		path := fmt.Sprintf("%s[%d]", at, i)
		switch {
		case q < 0:
			document.Note(path, "no ledger states %s", id)
		case requirements[q].Manual != "" || requirements[q].Excluded != "":
			document.Note(path, "the ledger says that no check can prove %s: it needs a person", id)
		case !strings.HasPrefix(id, kep+"/"):
			document.Note(path, "%s is a statement of another ledger", id)
		}
	}
}

func checkPatterns(document *strict.Document, at string, patterns []cellid.Pattern) {
	if len(patterns) == 0 {
		document.Note(at, "it is empty: it would match nothing")
	}
}

// build makes the criterion. What is wrong with it has been reported.
func (c criterion) build(kep, source string, requirements []reports.Requirement) graduation.Criterion {
	built := graduation.Criterion{
		ID: c.ID, Stage: c.Stage, Source: source + ", " + c.Section, Statement: strings.TrimSpace(c.Statement),
		Requirements: slices.Clone(c.By.Requirements), Older: c.By.Older, Gap: strings.TrimSpace(c.By.Gap),
		Cells: c.By.Cells, Repeated: c.By.Repeated,
	}
	for _, q := range requirements {
		if q.KEP == kep && slices.Contains(c.By.Statements, q.Level) && !later(q.Stage, c.Stage) &&
			q.Manual == "" && q.Excluded == "" && !slices.Contains(built.Requirements, q.ID) {
			built.Requirements = append(built.Requirements, q.ID)
		}
	}
	if c.By.Person != nil {
		built.Person = &graduation.Person{Who: strings.TrimSpace(c.By.Person.Who), What: strings.TrimSpace(c.By.Person.What)}
	}
	return built
}

// later reports whether a stage comes after another.
func later(a, b string) bool {
	stages := graduation.Stages()
	return slices.Index(stages, a) > slices.Index(stages, b)
}

// minor reports whether a version is written as minor versions are: "v1.37".
func minor(v string) bool { return semver.IsValid(v) && semver.MajorMinor(v) == v }
