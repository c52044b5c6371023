package keps

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports/prr"
)

// Beside is how the answer of a proposal compares with that of a run.
type Beside string

// The closed set.
const (
	Disagrees  Beside = "text and run disagree"
	NoAnswer   Beside = "the text has no answer"
	NotApplied Beside = "the text says n/a"
	ByHand     Beside = "the text says that it was tested by hand"
	Planned    Beside = "the text plans a test"
)

var (
	notApplied = regexp.MustCompile(`(?i)^(n/?a|none|not applicable|tbd|todo|to be (determined|defined|filled|done))\b`)
	byHand     = regexp.MustCompile(`(?i)\bmanual(ly)?\b|\bby hand\b`)
	planned    = regexp.MustCompile(`(?i)\bwill\b|\bwe'll\b|\bnot yet\b|\bto be tested\b|\b(before|prior to) (beta|ga)\b`)
	former     = regexp.MustCompile(`(?i)\block(s|ed)?\b|\b(was|were) possible\b`) // an answer that speaks of earlier stages
	no         = regexp.MustCompile(`(?i)^no\b`)
)

// compared says how the proposal's answer compares. A run that tried nothing has nothing to compare.
func compared(a Answer) Beside {
	if a.Verdict == NotTried || a.Verdict == NotReachable {
		return ""
	}
	text := strings.TrimLeft(a.Written.Text, "*_`- ")
	switch {
	case text == "":
		return NoAnswer
	case notApplied.MatchString(text):
		return NotApplied
	case a.Question == prr.Upgrades && planned.MatchString(text):
		return Planned
	case a.Verdict == Contradicted && promises(a.Question, text), a.Verdict == Shown && a.Command != "" && denies(a.Question, text):
		return Disagrees
	case byHand.MatchString(text) && a.Question == prr.Upgrades:
		return ByHand
	}
	return ""
}

// promises reports whether an answer says that nothing goes wrong.
func promises(question, text string) bool {
	switch question {
	case prr.Disabled, prr.Upgrades:
		return !no.MatchString(text) && !former.MatchString(text)
	case prr.Defaults:
		return no.MatchString(text)
	default:
		return question == prr.Reenabled
	}
}

// denies reports whether an answer says that something can't be done which a run did.
func denies(question, text string) bool {
	return slices.Contains([]string{prr.Disabled, prr.Upgrades, prr.Tests}, question) && no.MatchString(text)
}

// Criterion is a criterion that recurs in proposals, decided by the same answers for all.
type Criterion struct {
	Text     string    `json:"text"`
	Verdicts []Verdict `json:"verdicts"` // of the answers that it rests on
	Verdict  Verdict   `json:"verdict"`
}

// Criteria decides the criteria that recur: each by the worst of the answers that it rests on.
func (r Result) Criteria() (all []Criterion) {
	for _, of := range []struct {
		text      string
		questions []string
	}{
		{"What the gate guards works with the gate on, off, and on again.", []string{prr.Disabled, prr.Reenabled}},
		{"Upgrade and rollback were tried, and upgrade again.", []string{prr.Upgrades}},
		{"A rollout that is half done does no harm.", []string{prr.Rollouts}},
		{"Who does not use the feature sees no change.", []string{prr.Defaults}},
		{"The metrics that it names exist, and move.", []string{prr.Indicators}},
	} {
		c := Criterion{Text: of.text, Verdict: Shown}
		for _, q := range of.questions {
			c.Verdicts = append(c.Verdicts, cmp.Or(r.Answer(q).Verdict, NotTried))
		}
		for _, worst := range Verdicts() {
			if slices.Contains(c.Verdicts, worst) {
				c.Verdict = worst
				break
			}
		}
		all = append(all, c)
	}
	return all
}

// Change is an answer that another run had otherwise.
type Change struct {
	KEP, Question string
	Was, Is       Verdict
}

// Changed are the answers whose verdict is another one than before.
func Changed(before, after []Result) (all []Change) {
	for _, r := range after {
		n := slices.IndexFunc(before, func(b Result) bool { return b.ID() == r.ID() })
		if n < 0 {
			continue
		}
		for _, a := range r.Answers {
			if was := before[n].Answer(a.Question).Verdict; was != "" && was != a.Verdict {
				all = append(all, Change{r.ID(), a.Question, was, a.Verdict})
			}
		}
	}
	return all
}

// Count is how many proposals have an answer with one of some verdicts to a question.
func Count(all []Result, question string, verdicts ...Verdict) (n int) {
	for _, r := range all {
		if slices.Contains(verdicts, r.Answer(question).Verdict) {
			n++
		}
	}
	return n
}

// Rows are the answers that their owners should read: where the text and the run disagree, and where the run has an answer and the
// text has none.
func (r Result) Rows() []Answer {
	return slices.DeleteFunc(slices.Clone(r.Answers), func(a Answer) bool { return a.Beside == "" })
}

// WorstFirst sorts results: contradicted answers first, then what disagrees with the text, then what could not be tried.
func WorstFirst(all []Result) []Result {
	weight := func(r Result) (w int) {
		for _, a := range r.Answers {
			switch {
			case a.Verdict == Contradicted:
				w += 100
			case a.Beside == Disagrees:
				w += 50
			case a.Beside != "":
				w += 5
			}
		}
		if r.Why != "" {
			w -= 1000
		}
		return w
	}
	return slices.SortedStableFunc(slices.Values(all), func(a, b Result) int { return weight(b) - weight(a) })
}
