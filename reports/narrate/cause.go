package narrate

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// told is what a check that does not hold saw of a cell.
type told struct {
	reports.Check

	from, to float64 // its window
	lanes    []Lane
	attempts []attempt // those that it is about, until its window closed
	steps    []Step
}

// teller says what happened of what an expression is about.
type teller struct {
	about string
	tell  func(told) string
}

// tellers are heard in the order in which an expression names what they are about, as long
// as nothing is said. Where there is none, the value says all there is.
var tellers = []teller{
	{"connections[", told.probes},
	{"containers[", told.failedProbes},
	{"pods[", told.failedProbes},
	{"watches[", told.podsAPI},
	{"podsAPI[", told.podsAPI},
	{"polls[", told.podsAPI},
	{"requests[", told.requests},
	{"dependents", told.scaled},
	{"calls", told.calls},
	{"nodes", told.nodes},
	{"pods", told.pods},
	{"history[", told.pods},
	{"metrics[", nil},
	{"logs[", nil},
	{"sockets[", nil},
	{"stored[", nil},
}

// oracle is how the ids of checks begin that every cell has: what they observe is said in
// words.
const oracle = "oracle:"

// caused are the checks, each that does not hold with its cause.
func (b *builder) caused(lanes []Lane, attempts []attempt) []Check {
	checks := slices.Clone(b.checks)
	for i, c := range checks {
		at := slices.IndexFunc(b.in.Result.Checks, func(r reports.Check) bool { return r.ID == c.ID })
		if at < 0 {
			continue
		}
		t := told{Check: b.in.Result.Checks[at], from: c.From, to: c.To, lanes: lanes, steps: b.steps}
		if met, judged := isMet(t.Outcome); met || !judged {
			continue
		}
		about := relevantTo(attempts, t.Expected)
		for _, a := range attempts {
			if a.At <= c.To && len(namesIn(t.Expected)) > 0 && about(&a) {
				t.attempts = append(t.attempts, a)
			}
		}
		checks[i].Cause = t.cause()
	}
	return checks
}

func (t told) cause() string {
	if strings.HasPrefix(t.ID, oracle) {
		return sentence(t.Observed)
	}
	place := func(x teller) int { return strings.Index(t.Expected, x.about) }
	named := slices.DeleteFunc(slices.Clone(tellers), func(x teller) bool { return place(x) < 0 })
	slices.SortStableFunc(named, func(x, y teller) int { return place(x) - place(y) })
	for _, x := range named {
		if x.tell == nil {
			return ""
		}
		if said := x.tell(t); said != "" {
			return sentence(said)
		}
	}
	return ""
}

// sentence is a text with the form of one. A name at its beginning stays as it is.
func sentence(said string) string {
	if said == "" {
		return ""
	}
	said = strings.TrimSuffix(said, ".") + "."
	word, _, _ := strings.Cut(said, " ")
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyz,") != "" {
		return said
	}
	return strings.ToUpper(said[:1]) + said[1:]
}

// failedProbes is what most of the attempts that failed have in common; empty if none did.
func (t told) failedProbes() string {
	bad := slices.DeleteFunc(t.within(), func(a attempt) bool { return a.Tone != Bad })
	return commonest(bad, len(t.within()), "failed")
}

// probes is what most attempts have in common: of those that failed, if any did.
func (t told) probes() string {
	return cmp.Or(t.failedProbes(), commonest(t.within(), len(t.within()), "got an answer"))
}

// within are the attempts in the window, or all until its end if none is.
func (t told) within() []attempt {
	in := slices.DeleteFunc(slices.Clone(t.attempts), func(a attempt) bool { return a.At < t.from })
	if len(in) == 0 {
		return slices.Clone(t.attempts)
	}
	return in
}

// commonest is what came of most of some attempts, which are as many of all as their number
// says.
func commonest(attempts []attempt, all int, fate string) string {
	if len(attempts) == 0 {
		return ""
	}
	groups := reports.Grouped(attempts, func(a attempt) [3]string { return [3]string{a.Container, a.By, a.Observed} })
	most := slices.MaxFunc(groups, func(a, b []attempt) int { return len(a) - len(b) })
	return fmt.Sprintf("%d of %s of %s %s; most often (%d), %s: %s", len(attempts), reports.Counted(all, "attempt"), most[0].Container, fate, len(most), most[0].By, most[0].Observed)
}

// podsAPI is the last that a Pods API answered to a client that the expression names.
func (t told) podsAPI() string {
	for _, name := range keysIn(t.Expected) {
		for _, l := range t.lanes {
			if l.Kind != Agent || path.Base(l.Name) != name {
				continue
			}
			heard := slices.DeleteFunc(slices.Clone(l.Marks), func(m Mark) bool { return m.At > t.to })
			if n := len(heard); n > 0 {
				return fmt.Sprintf("until %.1f s, %s had %s from the Pods API; the last was %s at %.1f s", t.to, name, reports.Counted(n, "message"), heard[n-1].Label, heard[n-1].At)
			}
			if s, found := l.state(t.to); found {
				return fmt.Sprintf("from %.1f s, the Pods API answered %s: %s", s.From, name, s.Label)
			}
		}
	}
	return ""
}

// keysIn are what expressions name: watches["late"].
func keysIn(expression string) (keys []string) {
	for _, quoted := range key.FindAllStringSubmatch(expression, -1) {
		keys = append(keys, quoted[1])
	}
	return keys
}

// requests is what the last step was answered that the expression names.
func (t told) requests() string {
	names := keysIn(t.Expected)
	for _, s := range slices.Backward(t.steps) {
		if !slices.Contains(names, s.Name) {
			continue
		}
		for _, a := range slices.Backward(s.Answers) {
			if a.Tone == Changed {
				return fmt.Sprintf("step %d, %s, was answered %s", s.Number, s.Name, a.Text)
			}
		}
	}
	return ""
}

// scaled is what the watchdog scaled in the window.
func (t told) scaled() string {
	var parts []string
	for _, l := range t.lanes {
		name, is := strings.CutPrefix(l.Name, "seed/deployments/")
		if !is {
			continue
		}
		for i, s := range l.Spans {
			if i > 0 && t.from-instant <= s.From && s.From <= t.to+instant {
				parts = append(parts, fmt.Sprintf("%s to %s at %.1f s", name, s.Label, s.From))
			}
		}
	}
	if len(parts) == 0 {
		return fmt.Sprintf("from %.1f s to %.1f s, the watchdog scaled nothing", t.from, t.to)
	}
	return "the watchdog scaled " + strings.Join(parts, ", ")
}

// calls is what the watchdog asked the API server in the window.
func (t told) calls() string {
	n, last := 0, Mark{}
	for _, l := range t.lanes {
		if l.Kind != Link || !strings.HasPrefix(l.Name, toShoot) {
			continue
		}
		for _, m := range l.Marks {
			if t.from <= m.At && m.At <= t.to {
				n, last = n+1, m
			}
		}
	}
	if n == 0 {
		return fmt.Sprintf("from %.1f s to %.1f s, the watchdog asked the API server nothing", t.from, t.to)
	}
	return fmt.Sprintf("from %.1f s to %.1f s, the watchdog asked the API server %s; the last was %s at %.1f s", t.from, t.to, times(n), last.Label, last.At)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// nodes is how many nodes were not Ready, or when a node that is named was not.
func (t told) nodes() string {
	names := []string{"nodes"}
	for _, name := range keysIn(t.Expected) {
		names = append(names, "nodes/"+name)
	}
	for _, l := range t.lanes {
		if l.Kind != ObjectState || !slices.Contains(names, l.Name) {
			continue
		}
		for _, s := range slices.Backward(l.Spans) {
			if s.Tone == Bad && s.From <= t.to {
				return fmt.Sprintf("%s: %s, from %.1f s", l.Name, s.Label, s.From)
			}
		}
		if s, found := l.state(t.to); found {
			return fmt.Sprintf("%s: %s until %.1f s", l.Name, s.Label, t.to)
		}
	}
	return ""
}

// pods is when a pod that is named was not ready, or what became of it.
func (t told) pods() string {
	names := namesIn(t.Expected)
	for _, l := range t.lanes {
		pod, is := strings.CutPrefix(l.Name, "pods/")
		if !is || !slices.Contains(names, path.Base(pod)) {
			continue
		}
		for _, s := range l.Spans {
			if s.Tone == Bad && s.From <= t.to {
				return fmt.Sprintf("pod %s was %s from %.1f s to %.1f s%s", pod, s.Label, s.From, min(s.To, t.to), because(s.Detail))
			}
		}
		if s, found := l.state(t.to); found {
			return fmt.Sprintf("pod %s was %s at %.1f s%s", pod, s.Label, t.to, because(s.Detail))
		}
	}
	return ""
}

func because(detail string) string {
	if detail == "" {
		return ""
	}
	return " (" + detail + ")"
}

// state is the last span that began until a time.
func (l Lane) state(at float64) (found Span, is bool) {
	for _, s := range l.Spans {
		if s.From <= at {
			found, is = s, true
		}
	}
	return found, is
}
