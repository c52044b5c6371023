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

	b        *builder
	compared []Compared
	course   fieldCourse // of what was compared first
	named    reports.Names
	step     int     // that opened it
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

// caused are the checks, each that does not hold with its cause, and the courses of fields
// that they are about.
func (b *builder) caused(lanes []Lane, attempts []attempt) (checks []Check, courses []Lane) {
	checks = slices.Clone(b.checks)
	for i, c := range checks {
		at := slices.IndexFunc(b.in.Result.Checks, func(r reports.Check) bool { return r.ID == c.ID })
		if at < 0 {
			continue
		}
		t := told{Check: b.in.Result.Checks[at], b: b, compared: b.in.Compared[c.ID], named: c.Named, step: c.Step, from: c.From, to: c.To, lanes: lanes, steps: b.steps}
		if met, judged := isMet(t.Outcome); met || !judged {
			continue
		}
		about := relevantTo(attempts, t.named)
		for _, a := range attempts {
			if a.At <= c.To && t.named.Known() && about(&a) {
				t.attempts = append(t.attempts, a)
			}
		}
		if len(t.compared) > 0 {
			first := t.compared[0]
			if since := b.at(first.Since); !first.Since.IsZero() && since < c.To-instant {
				checks[i].Bad = since
			}
			t.course = t.fieldCourse(first)
			if checks[i].History = t.course.lines; t.course.lost != "" {
				checks[i].Bad = t.course.lostAt
			}
			if len(t.course.lines) > 0 {
				courses = append(courses, t.course.lane(b.end))
			}
		}
		checks[i].Cause, checks[i].Because = t.cause()
	}
	return checks, courses
}

// cause is why a check does not hold: what it compared and what that was, and then what led
// to it, and what the scenario did before.
func (t told) cause() (cause string, because []string) {
	if strings.HasPrefix(t.ID, oracle) {
		return sentence(t.Observed), nil
	}
	if len(t.compared) == 0 {
		return sentence(t.happened()), nil
	}
	c := t.compared[0]
	all := t.said(c)
	if isScaling(c) {
		all = append(strings.SplitN(t.scaled(), ". ", 2), t.replicas()) // what it did says more than how often
	}
	if n := len(t.compared) - 1; n > 0 {
		all = append(all, fmt.Sprintf("so it is with %s, too", reports.Counted(n, "other comparison")))
	}
	before := t.before()
	if lost := t.course.cause(); lost != "" {
		all, before = append([]string{lost}, all...), "" // the step that lost it says more
	}
	course := cmp.Or(t.course.shownOnly(), t.messages(c))
	if course == "" && !isScaling(c) {
		course = t.happened()
	}
	all = append(all, course, before, t.twins())
	for _, text := range all[1:] {
		if text != "" {
			because = append(because, sentence(text))
		}
	}
	return sentence(all[0]), because
}

// isScaling reports whether a comparison is about what the watchdog scaled, and about no
// field.
func isScaling(c Compared) bool { return c.Path == nil && strings.HasPrefix(c.What, "dependents") }

// twins are checks of the same requirement in the same cell that hold.
func (t told) twins() string {
	var ids []string
	for _, c := range t.b.in.Result.Checks {
		if met, judged := isMet(c.Outcome); judged && met && c.Requirement != "" && c.Requirement == t.Requirement {
			ids = append(ids, c.ID)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return "of the same requirement, this holds here: " + strings.Join(ids, ", ")
}

// happened is what happened of what the expression is about.
func (t told) happened() string {
	place := func(x teller) int { return strings.Index(t.Expected, x.about) }
	named := slices.DeleteFunc(slices.Clone(tellers), func(x teller) bool { return place(x) < 0 })
	slices.SortStableFunc(named, func(x, y teller) int { return place(x) - place(y) })
	for _, x := range named {
		if x.tell == nil {
			return ""
		}
		if said := x.tell(t); said != "" {
			return said
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
// Where a redirect led is told apart, as are events without a connection.
func (t told) failedProbes() string {
	all := t.within()
	isBad := func(a attempt) bool { return a.Tone == Bad }
	direct, hops, alone := only(all, func(a attempt) bool { return a.hop == "" && !a.alone }), only(all, func(a attempt) bool { return a.hop != "" }), only(all, func(a attempt) bool { return a.alone })
	said := commonest(only(direct, isBad), len(direct), "failed")
	if bad := only(hops, isBad); len(bad) > 0 {
		then := commonest(bad, len(hops), "failed")
		said = strings.TrimPrefix(said+". Of what redirects led to, "+then, ". Of what redirects led to, ")
	}
	switch {
	case len(only(alone, isBad)) == 0:
	case said == "":
		return commonest(only(alone, isBad), len(alone), "failed")
	default:
		said += fmt.Sprintf(". Of %s, there is an event and no connection in the record", reports.Counted(len(alone), "other failure"))
	}
	if event := lastEvent(all); event != "" && said != "" {
		said += ". The kubelet said last: " + event
	}
	return said
}

func only(all []attempt, which func(attempt) bool) []attempt {
	return slices.DeleteFunc(slices.Clone(all), func(a attempt) bool { return !which(a) })
}

// lastEvent is the last event of a kubelet about attempts.
func lastEvent(all []attempt) string {
	for _, a := range slices.Backward(all) {
		for _, l := range slices.Backward(a.Wire) {
			if strings.HasPrefix(l.What, kubeletEvent) && l.Tone == Bad {
				return shortened(l.Text, maxText)
			}
		}
	}
	return ""
}

// probes is what most attempts have in common: of those that failed, if any did.
func (t told) probes() string {
	return cmp.Or(t.failedProbes(), commonest(t.within(), len(t.within()), "got an answer"))
}

// within are the attempts in the window, or all until its end if none is.
func (t told) within() []attempt {
	in := only(t.attempts, func(a attempt) bool { return a.At >= t.from })
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
	for _, name := range t.named.Of("watches", "podsAPI", "polls") {
		for _, l := range t.lanes {
			if l.Kind != Agent || path.Base(l.Name) != name {
				continue
			}
			heard := slices.DeleteFunc(slices.Clone(l.Marks), func(m Mark) bool { return m.At > t.to })
			if n := len(heard); n > 0 {
				return fmt.Sprintf("until %.1f s, the Pods API had sent client %q %s; the last was %s at %.1f s", t.to, name, reports.Counted(n, "message"), heard[n-1].Label, heard[n-1].At)
			}
			if s, found := l.state(t.to); found {
				return fmt.Sprintf("from %.1f s, the Pods API answered client %q: %s", s.From, name, s.Label)
			}
		}
	}
	return ""
}

// requests is what the last step was answered that the expression names.
func (t told) requests() string {
	names := t.named.Of("requests")
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

// scaled is what the watchdog scaled in the window, why, and what it scaled later.
func (t told) scaled() string {
	type scaling struct {
		at   float64
		text string
	}
	var in, later []scaling
	for _, l := range t.lanes {
		name, is := strings.CutPrefix(l.Name, "seed/deployments/")
		if !is {
			continue
		}
		for i, s := range l.Spans {
			one := scaling{s.From, fmt.Sprintf("%s to %s at %.1f s", name, s.Label, s.From)}
			switch {
			case i == 0 || s.From < t.from-instant:
			case s.From <= t.to+instant:
				in = append(in, one)
			default:
				later = append(later, one)
			}
		}
	}
	joined := func(all []scaling) string {
		slices.SortStableFunc(all, func(a, b scaling) int { return cmp.Compare(a.at, b.at) })
		var texts []string
		for _, s := range all {
			texts = append(texts, s.text)
		}
		return strings.Join(texts, ", ")
	}
	watchdog := cmp.Or(t.running(watchdogName, t.to), "the watchdog")
	said := fmt.Sprintf("from %.1f s to %.1f s, %s scaled nothing", t.from, t.to, watchdog)
	decided := t.to
	if len(in) > 0 {
		said, decided = fmt.Sprintf("%s scaled %s", watchdog, joined(in)), in[0].at
	}
	if len(later) > 0 {
		said += ", and after the check had been decided " + joined(later)
	}
	return strings.TrimSuffix(said+". "+sentence(t.decision(decided)), ". ")
}

// decision is the last list of leases that the watchdog got before a time, and what
// followed from it.
func (t told) decision(before float64) string {
	for _, l := range t.lanes {
		if l.Name != toShoot+": "+expiredRow {
			continue
		}
		last := Mark{At: -1}
		for _, m := range l.Marks {
			if m.At <= before {
				last = m
			}
		}
		if last.At < 0 {
			return ""
		}
		said := fmt.Sprintf("before that, it listed the leases at %.3f s: %s of them count as expired, and the threshold is %g %%", last.At, last.Label, 100*t.b.in.Leases.Threshold)
		if t.b.in.Leases.Expiry > 0 {
			said += fmt.Sprintf("; older than %s is expired", t.b.in.Leases.Expiry)
		}
		said += t.ages(last.At)
		if t.b.in.Leases.Clocks != "" {
			said += "; the clocks of the nodes are " + t.b.in.Leases.Clocks
		}
		return said
	}
	return ""
}

// ages are how old the oldest lease was in the last list until a time, as the watchdog read it
// and by the clock of the machine.
func (t told) ages(until float64) string {
	oldest := func(l Lane) (age float64, is bool) {
		for _, s := range l.Series {
			for _, p := range s.Points {
				if s.Label == "oldest" && p[0] <= until {
					age, is = p[1], true
				}
			}
		}
		return age, is
	}
	read, real := "", 0.0
	for _, l := range t.lanes {
		age, is := oldest(l)
		switch {
		case l.Kind != Leases || !is:
		case l.Name == readRow:
			read = fmt.Sprintf("%.1f s", age)
		default:
			real = max(real, age)
		}
	}
	if read == "" {
		return ""
	}
	return fmt.Sprintf("; the oldest was renewed %.1f s before, and the watchdog read %s", real, read)
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
	for _, l := range t.lanes {
		if l.Kind != ObjectState || l.Name != "nodes" && (!strings.HasPrefix(l.Name, "nodes/") || !t.named.HasObject(l.Name)) {
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
	if !strings.Contains(t.Expected, "eady") && !strings.Contains(t.Expected, "phase") && len(t.compared) > 0 {
		return "" // it is about something else
	}
	for _, l := range t.lanes {
		pod, is := strings.CutPrefix(l.Name, "pods/")
		if !is || !t.named.HasObject(l.Name) {
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
