// Package finding gathers what a run found, one finding at a time: what a statement
// says, what happens instead, on which releases and with which gates that was seen,
// and how to see it again. It is pure: a report with its facts goes in.
package finding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/evidence"
)

// Finding is what a run found of one thing.
type Finding struct {
	reports.Finding
	Statement

	// Also are further statements that releases don't do as they say for the same
	// reason, such as the other reading of a text.
	Also []Statement `json:"also,omitempty"`
	// Releases and Gates are those with which it was seen.
	Releases []string `json:"releases"`
	Gates    []string `json:"gates,omitempty"`
	// Observed is what its checks saw, also on releases that do as the statement says.
	Observed []Observation `json:"observed"`
	// Said is what a check saw, in a sentence with what was expected. It is empty if it is
	// not known.
	Said string `json:"said,omitempty"`
	// Shown is what the record of a cell has of it. Without a cell, nothing is recorded.
	Shown Shown `json:"-"`
	// ShownIn is the id of the cell that shows it best.
	ShownIn string `json:"-"`
	// Reproduce is the command that shows it.
	Reproduce string `json:"reproduce"`
}

// Statement is what a text says.
type Statement struct {
	Requirement string `json:"requirement,omitempty"`
	Statement   string `json:"statement,omitempty"`
	// Source is the text by name, Document its address, and Line the first line that
	// says it. If no text says it, there is no line.
	Source   string `json:"source,omitempty"`
	Document string `json:"document,omitempty"`
	Line     int    `json:"line,omitempty"`
	// Beyond is where else the statement is from, if no sentence says it.
	Beyond string `json:"beyond,omitempty"`
	// Sentence is what the reader's own copy of the text has there, word for word.
	Sentence string `json:"sentence,omitempty"`
}

// Observation is what a check saw in a cell.
type Observation struct {
	Cell  string `json:"cell"`
	Check string `json:"check"`
	// Releases and Gates are those of the components that took part. A component that
	// was restarted as something else has both, in order.
	Releases string          `json:"releases"`
	Gates    string          `json:"gates,omitempty"`
	Outcome  reports.Outcome `json:"outcome"`
	Expected string          `json:"expected"`
	Observed string          `json:"observed"`
}

// Deviates reports whether a release did not do as the statement says.
func (o Observation) Deviates() bool { return deviates(o.Outcome) }

func deviates(o reports.Outcome) bool {
	return o.Recorded() || o == reports.Fail || o == reports.Flaky
}

// New are the observations of a finding that no list has: those of checks that failed and
// are not of another finding.
func (f Finding) New() []Observation {
	if f.Class != reports.Unlisted {
		return nil
	}
	return reports.Only(f.Observed, func(o Observation) bool { return o.Deviates() && !o.Outcome.Recorded() })
}

// All returns the findings of a run by weight. Sentences are those of the reader's
// copies of the texts, by the ids of the requirements. The reference is no release:
// its cells are left out.
func All(run evidence.Run, sentences map[string][]string) []Finding {
	all := []Finding{}
	for _, of := range reports.Grouped(redChecks(run.Report), func(s redCheck) string { return s.key() }) {
		f := Finding{Finding: reports.FindingOf(run.Report.Findings, of[0].check.Finding)}
		if f.ID == "" {
			f.Finding = unlisted(of[0])
		}
		f.state(of, run.Report.Requirements, sentences)
		if f.Class == reports.Unlisted {
			f.Headline = headline(of[0], f.Statement)
		}
		f.observe(of, run)
		all = append(all, f)
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return a.Compare(b.Finding) })
	return all
}

// Concerned returns what tells the cells of a report whose facts All uses: those of
// scenarios in which a release deviates.
func Concerned(r reports.Report) func(reports.Cell) bool {
	scenarios := make(map[string]bool)
	for _, s := range redChecks(r) {
		scenarios[s.cell.Scenario] = true
	}
	return func(c reports.Cell) bool { return scenarios[c.Scenario] && !c.OfReference() }
}

// redCheck is a check of a cell that deviates.
type redCheck struct {
	cell  reports.Cell
	check reports.Check
}

// key is the finding that a check is of. Without one, each requirement is its own.
func (s redCheck) key() string {
	return cmp.Or(s.check.Finding, s.check.Requirement+" "+s.check.ID)
}

func redChecks(r reports.Report) (red []redCheck) {
	for _, c := range r.Cells {
		for _, check := range c.Checks {
			if deviates(check.Outcome) && !c.OfReference() {
				red = append(red, redCheck{c, check})
			}
		}
	}
	return red
}

// unlisted is a finding of which nothing more is known than its check.
func unlisted(s redCheck) reports.Finding {
	id := strings.ReplaceAll(cmp.Or(s.check.Requirement, s.cell.Scenario)+"/"+s.check.ID, "/", ".")
	return reports.Finding{ID: id, Class: reports.Unlisted, Headline: s.check.ID, Instead: reports.ReasonOf(s.check)}
}

// maxHeadline is how long the statement in a headline may be, in runes.
const maxHeadline = 90

// headline says in words what nothing more is known of than its check: by the statement
// that does not hold or, without one, by the check's name.
func headline(s redCheck, of Statement) string {
	where := "in " + cmp.Or(s.cell.Scenario, s.cell.ID)
	if releases := ofAxes(s.cell.Axes); releases != "" {
		where = "with " + releases
	}
	if of.Statement == "" {
		return fmt.Sprintf("The check “%s” fails %s", strings.ReplaceAll(s.check.ID, "-", " "), where)
	}
	subject, _, _ := strings.Cut(of.Requirement, "/")
	return fmt.Sprintf("Not as %s says %s: %s", subject, where, brief(reports.WithoutReading(of.Statement), maxHeadline))
}

// brief is the beginning of a statement, as far as there is room for it, in runes.
func brief(statement string, most int) string {
	statement = strings.TrimSuffix(strings.Join(strings.Fields(statement), " "), ".")
	if len([]rune(statement)) <= most {
		return statement
	}
	cut := string([]rune(statement)[:most])
	if at := strings.LastIndex(cut, " "); at > 0 {
		cut = cut[:at]
	}
	return strings.TrimRight(cut, ",;: ") + " …"
}

// state adds the statements that the checks serve, each once. In a contradiction, each is
// followed by the readings that contradict it.
func (f *Finding) state(checks []redCheck, requirements []reports.Requirement, sentences map[string][]string) {
	var stated []reports.Requirement
	readings := reports.ReadingsOf(requirements)
	for _, of := range reports.Grouped(checks, func(s redCheck) string { return s.check.Requirement }) {
		at := slices.IndexFunc(requirements, func(q reports.Requirement) bool { return q.ID == of[0].check.Requirement })
		if at < 0 || strings.HasPrefix(of[0].check.ID, oracle) {
			continue
		}
		stated = append(stated, requirements[at])
		if f.Class == reports.Contradiction {
			stated = append(stated, readings[requirements[at].ID]...)
		}
	}
	var all []Statement
	for _, of := range reports.Grouped(stated, func(q reports.Requirement) string { return q.ID }) {
		q := of[0]
		s := Statement{Requirement: q.ID, Statement: q.Statement, Source: q.Source, Document: q.Document, Beyond: q.Beyond, Sentence: strings.Join(sentences[q.ID], " ")}
		if len(q.Lines) > 0 {
			s.Line = q.Lines[0]
		}
		all = append(all, s)
	}
	if len(all) > 0 {
		f.Statement, f.Also = all[0], all[1:]
	}
}

// oracle is how the ids of checks begin that every cell has: they are no statement of
// a text.
const oracle = "oracle:"

// observe adds what the checks saw in all cells of their scenarios.
func (f *Finding) observe(red []redCheck, run evidence.Run) {
	kind := func(c reports.Cell, check reports.Check) string { return c.Scenario + " " + check.ID }
	kinds, own := make(map[string]bool), make(map[string]bool)
	for _, s := range red {
		kinds[kind(s.cell, s.check)], own[s.cell.ID+" "+s.check.ID] = true, true
	}
	for _, c := range run.Report.Cells {
		releases, gates := releasesAndGates(run.Facts[c.ID], c.Axes)
		for _, check := range c.Checks {
			if !kinds[kind(c, check)] || !check.Outcome.Judged() || c.OfReference() {
				continue
			}
			f.Observed = append(f.Observed, Observation{
				Cell: c.ID, Check: check.ID, Releases: releases, Gates: gates,
				Outcome: check.Outcome, Expected: check.Expected, Observed: check.Observed,
			})
			if !own[c.ID+" "+check.ID] { // it does as stated, or is of another finding
				continue
			}
			f.Releases, f.Gates = append(f.Releases, cmp.Or(releasesInID(run.Facts[c.ID], c.Axes), releases)), append(f.Gates, gates)
		}
	}
	f.Releases, f.Gates = distinct(f.Releases), distinct(f.Gates)
	shown := shownOf(red, run.Facts)
	f.ShownIn, f.Reproduce = shown.ID, again(run, shown)
}

// again is the command that runs a cell again, as the page of the run has it.
func again(run evidence.Run, c reports.Cell) string {
	command, _ := run.Report.Reproduce.CellAgain(c, reports.DirFor(evidence.SourcesOf(run).Taken, c.ID))
	return command
}

// distinct sorts texts and leaves out those that are empty, or there before.
func distinct(all []string) []string {
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(s string) bool { return s == "" })
}

// releasesAndGates is what took part in a cell: releases, and the gates that were set.
func releasesAndGates(facts evidence.Facts, axes map[string]string) (releases, gates string) {
	versions, set := new(valueHistory), new(valueHistory)
	for _, c := range facts.Components {
		program := c.Program()
		if program == "etcd" || program == "seed" {
			continue
		}
		if !alike(facts, program) {
			program = c.Name
		}
		for _, start := range c.Starts {
			versions.add(start.Release(), program)
			for gate, on := range start.Gates {
				set.add(map[bool]string{true: "on", false: "off"}[on], program+" "+gate)
			}
		}
	}
	return cmp.Or(versions.String(), ofAxes(axes)), set.String()
}

// alike reports whether all components of a program were the same releases, one after the
// other.
func alike(facts evidence.Facts, program string) bool {
	var first []string
	for _, c := range facts.Components {
		if c.Program() != program {
			continue
		}
		versions := reports.Each(c.Starts, evidence.Start.Release)
		if first == nil {
			first = versions
		}
		if !slices.Equal(first, versions) {
			return false
		}
	}
	return true
}

// releasesInID is the releases that a cell's id names, by the programs that they are of: those that it is about. If one is of no
// program that ran, such as that of the axis release, it is empty.
func releasesInID(facts evidence.Facts, axes map[string]string) string {
	versions := new(valueHistory)
	for axis, value := range axes {
		if _, err := release.Parse(value); err != nil {
			continue
		}
		at := slices.IndexFunc(facts.Components, func(c evidence.Component) bool {
			return c.Program() == axis || strings.HasSuffix(c.Program(), "-"+axis)
		})
		if at < 0 {
			return ""
		}
		versions.add(value, facts.Components[at].Program())
	}
	return versions.String()
}

// ofAxes is the releases that a cell's id names, by its axes.
func ofAxes(axes map[string]string) string {
	versions := new(valueHistory)
	for axis, value := range axes {
		if _, err := release.Parse(value); err == nil {
			versions.add(value, axis)
		}
	}
	return versions.String()
}

// valueHistory has the values of things, one after the other.
type valueHistory struct{ things, values []string }

// add adds what a thing is now.
func (c *valueHistory) add(value, thing string) {
	at := slices.Index(c.things, thing)
	if at < 0 {
		c.things, c.values = append(c.things, thing), append(c.values, value)
		return
	}
	if before := strings.Split(c.values[at], " → "); !slices.Contains(before, value) || before[len(before)-1] != value {
		c.values[at] += " → " + value
	}
}

// String has things of one value together.
func (c *valueHistory) String() string {
	var at []int
	for i := range c.things {
		at = append(at, i)
	}
	var texts []string
	for _, alike := range reports.Grouped(at, func(i int) string { return c.values[i] }) {
		things := reports.Each(alike, func(i int) string { return c.things[i] })
		slices.Sort(things)
		texts = append(texts, strings.Join(things, ", ")+" "+c.values[alike[0]])
	}
	slices.Sort(texts)
	return strings.Join(texts, "; ")
}
