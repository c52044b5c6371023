package prr

import (
	"cmp"
	"slices"

	"golang.org/x/mod/semver"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/evidence"
	"github.com/skewrig/skewrig/reports/graduation"
)

// Result is the answers for one enhancement.
type Result struct {
	KEP      string    `json:"kep"`
	Gate     Gate      `json:"gate"`
	Reports  []Report  `json:"reports"`
	Programs []Program `json:"programs"`
	// LeftOut are the cells that did not count as evidence.
	LeftOut []evidence.LeftOut `json:"leftOut"`
	Answers []Answer           `json:"answers"`
	// Cells are those that an answer names, sorted by id: the runs of each.
	Cells []Cell `json:"cells"`
}

// Gate is the feature gate as cells had it.
type Gate struct {
	Name string `json:"name"`
	// Depend are the components that have it, as the KEP says.
	Depend []string `json:"depend"`
	// On and Off count the cells in which a component had it set so.
	On  int `json:"on"`
	Off int `json:"off"`
}

// Report is a report that was given.
type Report struct {
	Dir     string `json:"dir"`
	Command string `json:"command"`
	Skewrig string `json:"skewrig"`
}

// Program is a binary that took part in a cell that an answer names.
type Program struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Digest  string `json:"digest"`
}

// Answer is what is known of a question.
type Answer struct {
	Section  string `json:"section"`
	Question string `json:"question"`
	// Answer begins with "Yes.", "No." or "Open.", unless the question asks for more.
	Answer string `json:"answer"`
	// Statements are those of the ledger that answer it, in its order.
	Statements []Statement `json:"statements"`
}

// Why an answer is open though one is written: of the statements that prove it, the
// worst decides.
const (
	OpenContradicted = "Open. What the text says of it does not hold in every cell."
	OpenAmbiguous    = "Open. The text says two things, of which no release can do both."
	OpenNotRun       = "Open. No run has shown it yet."
	OpenUnasked      = "Open. No run and no text answers it."
)

// Says is what cells say of a statement.
type Says string

// The closed set.
const (
	Holds       Says = "holds"
	DoesNotHold Says = "does not hold"
	Ambiguous   Says = "ambiguous"  // the text also says the opposite, which releases do
	NotRun      Says = "not run"    // a run would show it
	NotShown    Says = "not shown"  // no run can show it
	ForPerson   Says = "for person" // a person has to do something
)

// Statement is a statement that answers a question, and what cells say of it.
type Statement struct {
	// ID is that of the ledger. If unset, whole cells decide.
	ID   string `json:"id,omitempty"`
	Text string `json:"text"`
	Says Says   `json:"says"`
	// Proves is true if the answer rests on it.
	Proves bool `json:"proves,omitempty"`
	// Also is what the same text says, and no release can do along with it.
	Also []string `json:"also,omitempty"`
	// Why is the ledger's own word on why no run shows it, or what a person has
	// to do.
	Why string `json:"why,omitempty"`
	// Findings are what cells say.
	Findings []evidence.Finding `json:"findings,omitempty"`
	// Command would run what is missing.
	Command string `json:"command,omitempty"`
}

// Name is its id, or, if whole cells decide, its text.
func (s Statement) Name() string { return cmp.Or(s.ID, s.Text) }

// Refs are the cells that say something of the statement.
func (s Statement) Refs() (all []evidence.Ref) {
	for _, f := range s.Findings {
		all = append(all, f.In...)
		for _, c := range slices.Concat(f.Against, f.Ambiguous) {
			all = append(all, c.Ref)
		}
	}
	return all
}

// Cell is a run of a cell that an answer names.
type Cell struct {
	evidence.Ref
	Facts evidence.Facts `json:"facts"`
	// File is its scenario's, in the catalog. If unset, it is not known.
	File string `json:"file,omitempty"`
}

// Answers returns what runs say of each question. Catalog are the cells that could
// be run, to say how what is missing would be.
func Answers(e graduation.Enhancement, requirements []reports.Requirement, runs []evidence.Run, catalog []evidence.Planned) Result {
	subject := evidence.Subject{Components: e.Components, Since: e.Milestones[graduation.Stages()[0]]}
	a := asked{evidence.GroundOf(runs, catalog, subject, e.Concerns), requirements}
	result := Result{
		KEP: e.KEP, Gate: Gate{Name: e.Gate, Depend: e.Components},
		LeftOut: a.LeftOut, Reports: []Report{}, Programs: []Program{}, Cells: []Cell{},
	}
	for _, run := range runs {
		result.Reports = append(result.Reports, Report{Dir: run.Dir, Command: run.Report.Reproduce.Command, Skewrig: run.Report.Reproduce.Skewrig})
	}
	for _, section := range Questionnaire() {
		for _, question := range section.Questions {
			result.Answers = append(result.Answers, a.answer(e, section.Heading, question))
		}
	}
	result.name(a.Cells, catalog)
	return result
}

// Command runs cells, given as ids or patterns. Who reads a KEP has no report that it
// could overwrite, so that it names no directory.
func Command(cells ...string) string {
	return reports.RunCommand("", cells...)
}

// asked has what there is to answer from.
type asked struct {
	evidence.Ground
	requirements []reports.Requirement
}

func (a asked) answer(e graduation.Enhancement, section, question string) Answer {
	var written graduation.Question
	if i := slices.IndexFunc(e.Questions, func(q graduation.Question) bool { return q.Question == question }); i >= 0 {
		written = e.Questions[i]
	}
	answer := Answer{Section: section, Question: question, Answer: cmp.Or(written.Answer, OpenUnasked), Statements: []Statement{}}
	for _, q := range a.requirements {
		proves := slices.Contains(written.By, q.ID)
		if !proves && (q.KEP != e.KEP || q.PRR != question) {
			continue
		}
		s := a.statement(q)
		s.Proves = proves
		answer.Statements = append(answer.Statements, s)
	}
	if written.Statement != "" {
		answer.Statements = append(answer.Statements, a.whole(written))
	}
	answer.rest()
	return answer
}

// rest opens an answer that rests on what is not proved.
func (a *Answer) rest() {
	for _, worst := range []struct {
		says Says
		open string
	}{{DoesNotHold, OpenContradicted}, {Ambiguous, OpenAmbiguous}, {NotRun, OpenNotRun}} {
		if slices.ContainsFunc(a.Statements, func(s Statement) bool { return s.Proves && s.Says == worst.says }) {
			a.Answer = worst.open
			return
		}
	}
}

func (a asked) statement(q reports.Requirement) Statement {
	s := Statement{ID: q.ID, Text: q.Statement}
	for _, other := range a.requirements {
		if slices.Contains(q.Contradicts, other.ID) || slices.Contains(other.Contradicts, q.ID) {
			s.Also = append(s.Also, other.Statement)
		}
	}
	switch {
	case q.Manual != "":
		s.Says, s.Why = ForPerson, q.Manual
	case q.Excluded != "":
		s.Says, s.Why = NotShown, q.Excluded
	default:
		s.Findings = []evidence.Finding{evidence.Statement(q.ID, a.Cells)}
		s.decide()
		if s.Says == NotRun {
			if cells, nowhere := evidence.Cover(a.Catalog, []string{q.ID}); len(nowhere) == 0 {
				s.Command = Command(cells...)
			}
		}
	}
	return s
}

// whole answers by cells as a whole.
func (a asked) whole(q graduation.Question) Statement {
	s := Statement{Text: q.Statement}
	var ids, patterns []string
	for _, p := range q.Match {
		patterns = append(patterns, p.String())
		for _, c := range a.Cells {
			if p.Match(c.ID) && !slices.Contains(ids, c.ID) {
				ids = append(ids, c.ID)
			}
		}
	}
	for _, id := range ids {
		s.Findings = append(s.Findings, evidence.Whole(id, a.Cells))
	}
	s.decide()
	if s.Says == NotRun {
		s.Command = Command(patterns...)
	}
	return s
}

// decide says what the findings amount to: one check against it is enough.
func (s *Statement) decide() {
	proved, ambiguous := len(s.Findings) > 0, false
	for _, f := range s.Findings {
		if len(f.Against) > 0 {
			s.Says = DoesNotHold
			return
		}
		proved, ambiguous = proved && f.Proved(), ambiguous || len(f.Ambiguous) > 0
	}
	switch {
	case ambiguous:
		s.Says = Ambiguous
	case proved:
		s.Says = Holds
	default:
		s.Says = NotRun
	}
}

// name gathers the cells that answers name, what ran in them, and how the gate
// was set.
func (r *Result) name(cells []evidence.Cell, catalog []evidence.Planned) {
	named := make(map[evidence.Ref]bool)
	for _, a := range r.Answers {
		for _, s := range a.Statements {
			for _, ref := range s.Refs() {
				named[ref] = true
			}
		}
	}
	for _, c := range cells {
		if !named[c.Ref()] {
			continue
		}
		cell := Cell{Ref: c.Ref(), Facts: c.Facts}
		if slices.ContainsFunc(catalog, func(p evidence.Planned) bool { return p.ID == c.ID }) {
			cell.File = c.File
		}
		r.Cells = append(r.Cells, cell)
		on, off := false, false
		for _, component := range c.Facts.Components {
			for _, s := range component.Starts {
				if p := (Program{component.Program(), s.Version, s.Digest}); !slices.Contains(r.Programs, p) {
					r.Programs = append(r.Programs, p)
				}
				set, is := s.Gates[r.Gate.Name]
				on, off = on || is && set, off || is && !set
			}
		}
		r.Gate.On += count(on)
		r.Gate.Off += count(off)
	}
	slices.SortStableFunc(r.Cells, func(a, b Cell) int { return cmp.Compare(a.Cell, b.Cell) })
	slices.SortFunc(r.Programs, func(a, b Program) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), semver.Compare(a.Version, b.Version), cmp.Compare(a.Digest, b.Digest))
	})
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
