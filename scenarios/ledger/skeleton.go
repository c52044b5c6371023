package ledger

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Starter is a statement that the checks of a first scenario prove.
type Starter struct {
	// Name ends its id: KEP-1234/start/<name>.
	Name string
	// Statement is what must hold, and PRR the question of the production-readiness review that
	// this answers.
	Statement string
	PRR       string
}

// Skeleton is the ledger of a KEP before its author has looked at it, from the README in the format
// of the enhancements repository: the starters, the criteria of its graduation as statements that
// are decided by hand, the questions of its production-readiness review, and each sentence of the
// text with its line. What a release can contradict is for the author to say in own words.
func Skeleton(kep KEP, starters []Starter) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("# The ledger of %s. Each statement is something that a release can do or not do.", kep.ID())
	p("kep: %s", kep.ID())
	p("source: %s", strconv.Quote(kep.Title))
	p("statements:")
	for _, s := range starters {
		p("- id: %s/start/%s", kep.ID(), s.Name)
		p("  level: provisional\n  stage: alpha\n  section: Production Readiness")
		p("  prr: %s", strconv.Quote(s.PRR))
		p("  statement: %s", strconv.Quote(s.Statement))
	}
	stages := make(map[string]int)
	for _, s := range kep.sentences("Graduation Criteria") {
		stage, is := stageOf[s.heading]
		if !is {
			continue
		}
		stages[stage]++
		p("# line %d", s.Line)
		p("- id: %s/graduation/%s-%d", kep.ID(), stage, stages[stage])
		p("  level: extended\n  stage: %s\n  section: %s", stage, strconv.Quote("Graduation Criteria, "+s.heading))
		p("  statement: %s", strconv.Quote(s.Text))
		p("  manual: decide it by hand, or write a check that proves it and take this line away")
	}
	p("\n# The questions of its production-readiness review. A statement answers one by prr.")
	for _, s := range kep.headings() {
		if strings.HasSuffix(s.Text, "?") {
			p("# line %d: %s", s.Line, s.Text)
		}
	}
	p("\n# Its sentences. Make a statement of each that a release can contradict, in your own words:")
	p("# - {id: %s/api/…, level: core, stage: alpha, section: …, statement: …}", kep.ID())
	last := ""
	for _, s := range kep.all {
		if s.heading != last {
			last = s.heading
			p("#\n# %s", last)
		}
		if !s.isHeading {
			p("# line %d: %s", s.Line, s.Text)
		}
	}
	return b.String()
}

// stageOf are the stages by the headings of the graduation criteria.
var stageOf = map[string]string{
	"Alpha": "alpha", "Beta": "beta", "GA": "stable", "Stable": "stable", "Alpha -> Beta Graduation": "beta", "Beta -> GA Graduation": "stable",
}

// KEP is the README of an enhancement.
type KEP struct {
	// Number is 4939 of KEP-4939.
	Number int
	// Title is its first heading.
	Title string

	all []placed
}

// ID is KEP-4939.
func (k KEP) ID() string { return fmt.Sprintf("KEP-%d", k.Number) }

// placed is a sentence with the headings that it is below: the nearest, and all.
type placed struct {
	Sentence
	isHeading bool
	heading   string
	path      []string
}

var (
	titleLine   = regexp.MustCompile(`(?m)^# \[?KEP-(\d+)(?:\]\([^)]*\))?:? +(.*)$`)
	headingLine = regexp.MustCompile(`^(#{1,6})\s+(.*)$`)
)

// ReadKEP reads the README of an enhancement.
func ReadKEP(text string) (KEP, error) {
	title := titleLine.FindStringSubmatch(text)
	if title == nil {
		return KEP{}, fmt.Errorf("this is no README of an enhancement: no line begins with # KEP-<number>: <title>")
	}
	number, err := strconv.Atoi(title[1])
	if err != nil {
		return KEP{}, err
	}
	k := KEP{Number: number, Title: fmt.Sprintf("KEP-%d: %s", number, strings.TrimSpace(title[2]))}
	var path []string
	for _, s := range Sentences(text) {
		is := headingLine.FindStringSubmatch(s.Text)
		if is != nil {
			s.Text = strings.TrimSpace(is[2])
			path = append(slices.Clone(path[:min(len(path), len(is[1])-1)]), s.Text)
		}
		if len(path) < 2 {
			continue // before the first section there are a title and a table of contents
		}
		k.all = append(k.all, placed{Sentence: s, isHeading: is != nil, heading: path[len(path)-1], path: path})
	}
	if len(k.all) == 0 {
		return KEP{}, fmt.Errorf("this is no README of an enhancement: it has no sections")
	}
	return k, nil
}

// sentences are those below a heading.
func (k KEP) sentences(heading string) (all []placed) {
	for _, s := range k.all {
		if !s.isHeading && slices.Contains(s.path, heading) {
			all = append(all, s)
		}
	}
	return all
}

// headings are the headings.
func (k KEP) headings() (all []placed) {
	for _, s := range k.all {
		if s.isHeading {
			all = append(all, s)
		}
	}
	return all
}
