package narrate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// failedCheck is what a check that does not hold saw of a cell.
type failedCheck struct {
	reports.Check

	b        *builder
	compared []Compared
	history  fieldHistory // of what was compared first
	named    reports.Names
	step     int     // that opened it
	from, to float64 // its window
	lanes    []Lane
	attempts []attempt // those that it is about, until its window closed
	later    []attempt // those after that
	steps    []Step
	tally    Tally
	bad      float64   // when it went wrong; 0 if that is not known
	objects  []string  // that it is about, and what they are made from
	members  members   // that it counts by how their names begin; without numbers if none
	earlier  []trigger // what led to it
}

// explainer explains what happened to what an expression is about.
type explainer struct {
	about   string
	explain func(failedCheck) string
}

// explainers are asked in the order in which an expression names what they are about, until one
// has an explanation. Without one, the value alone is shown.
var explainers = []explainer{
	{"connections[", failedCheck.probes},
	{"containers[", failedCheck.failedProbes},
	{"pods[", failedCheck.failedProbes},
	{"watches[", failedCheck.podsAPI},
	{"podsAPI[", failedCheck.podsAPI},
	{"polls[", failedCheck.podsAPI},
	{"requests[", failedCheck.requests},
	{"dependents", failedCheck.scaled},
	{"calls", failedCheck.calls},
	{"nodes", failedCheck.nodes},
	{"pods", failedCheck.pods},
	{"history[", failedCheck.pods},
	{"metrics[", nil},
	{"logs[", nil},
	{"sockets[", nil},
	{"stored[", nil},
}

// oracle is how the ids of checks begin that every cell has: what they observe is said in
// words.
const oracle = "oracle:"

// caused are the checks, each that does not hold with its cause, and the courses of fields
// that they are about.
func (b *builder) caused(lanes []Lane, attempts []attempt) (checks []Check, courses []Lane) {
	checks = slices.Clone(b.checks)
	joined := make(joiner)
	for i, c := range checks {
		at := slices.IndexFunc(b.in.Result.Checks, func(r reports.Check) bool { return r.ID == c.ID })
		if at < 0 {
			continue
		}
		t := failedCheck{Check: b.in.Result.Checks[at], b: b, compared: b.in.Compared[c.ID], named: c.Named, step: c.Step, from: c.From, to: c.To, lanes: lanes, steps: b.steps}
		if met, judged := isMet(t.Outcome); met || !judged {
			continue
		}
		t.members = t.countedMembers()
		about := relevantTo(attempts, t.named)
		for _, a := range attempts {
			switch {
			case !t.named.Known() || !about(&a):
			case a.At <= c.To:
				t.attempts = append(t.attempts, a)
			default:
				t.later = append(t.later, a)
			}
		}
		if len(t.compared) > 0 {
			first := t.compared[0]
			if since := b.at(first.Since); !first.Since.IsZero() && since < c.To-instant {
				checks[i].Bad = since
			}
			t.history, checks[i].Field = t.fieldHistory(first), b.inLogs(first)
			if checks[i].History = t.history.lines; t.history.cause() != "" && t.history.left.at > 0 {
				checks[i].Bad = t.history.left.at
			}
			if len(t.history.lines) > 0 {
				courses = append(courses, t.history.lane(b.end))
			}
		}
		t.tally = t.tallied()
		if t.awaits() && t.ofProbes() {
			checks[i].Bad = max(checks[i].Bad, t.tally.First) // before, nothing had gone wrong
		}
		t.bad, t.objects, checks[i].Tally = checks[i].Bad, t.objectsOf(), t.tally
		checks[i].Probes = t.probeSettings()
		before, after := t.led()
		t.earlier = before
		checks[i].Led, checks[i].After, checks[i].Seen = inList(before), inList(after), t.seenObjects()
		checks[i].Cause, checks[i].Because = t.cause()
		checks[i].Same, checks[i].Models = joined.first(t), t.models()
	}
	return checks, courses
}

// cause is why a check does not hold: what it compared and what that was, and then what led
// to it, and what the scenario did before.
func (t failedCheck) cause() (cause string, because []string) {
	if strings.HasPrefix(t.ID, oracle) {
		return reports.Sentence(t.Observed), nil
	}
	if len(t.compared) == 0 {
		return timed([]string{reports.Sentence(t.happened())})[0], nil
	}
	c := t.compared[0]
	all := t.sentences(c)
	if isScaling(c) {
		all = append(strings.SplitN(t.scaled(), ". ", 2), t.replicas()) // what it did says more than how often
	}
	if n := len(t.compared) - 1; n > 0 {
		all = append(all, fmt.Sprintf("so it is with %s, too", reports.Counted(n, "other comparison")))
	}
	before := t.before()
	if lost := t.history.cause(); lost != "" {
		all, before = append([]string{lost}, all...), "" // the step that lost it says more
	}
	course := cmp.Or(t.history.shownOnly(), t.history.earlier(), t.missing(c), t.messages(c))
	if course == "" && !isScaling(c) {
		course = t.happened()
	}
	if course != "" && t.counts(c) {
		all = append([]string{course + t.scaledBy()}, all...) // what was counted says more than how many
		course = ""
	}
	all = timed(append(all, course, before))
	for _, text := range all[1:] {
		if text != "" {
			because = append(because, reports.Sentence(text))
		}
	}
	return reports.Sentence(all[0]), because
}

// counts reports whether a comparison counts members of something by a long condition.
func (t failedCheck) counts(c Compared) bool {
	return len(c.What) > maxExpression && counted.MatchString(c.What)
}

// happened is what happened of what the expression is about.
func (t failedCheck) happened() string {
	place := func(x explainer) int { return strings.Index(t.Expected, x.about) }
	named := reports.Only(explainers, func(x explainer) bool { return place(x) >= 0 })
	slices.SortStableFunc(named, func(x, y explainer) int { return place(x) - place(y) })
	for _, x := range named {
		if x.explain == nil {
			return ""
		}
		if said := x.explain(t); said != "" {
			return said
		}
	}
	return ""
}
