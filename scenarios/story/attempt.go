package story

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/story"
	"github.com/skewrig/skewrig/scenarios/oracle"
)

// attempt is one that is to be told.
type attempt struct {
	story.Attempt
	probes []oracle.Probe // that may have made it
	owner  string         // the container whose probe it is, or that was asked
	same   string         // what it has in common with others that went the same way
	ended  float64
	said   bool // its kubelet has complained
	// unclear is true if a probe of several containers may have made it, and nothing
	// says that it failed for any of them.
	unclear bool
}

// exact is a time in the story, to the tenth of a millisecond.
func (t *teller) exact(when time.Time) float64 {
	return max(0, math.Round(when.Sub(t.began).Seconds()*1e4)/1e4)
}

// attempts are all attempts, and the lanes that have them as marks, by container.
func (t *teller) attempts() ([]story.Attempt, map[string][]story.Lane) {
	var all []attempt
	connections := oracle.Attempts(t.in.Cell, t.in.Events)
	for i, a := range connections {
		a.CutOff = a.CutOff && !askedAgain(connections[i+1:], a)
		all = append(all, t.connection(a))
	}
	for e, ran := range record.All[record.Exec](t.in.Events) {
		all = append(all, t.exec(e, ran))
	}
	slices.SortStableFunc(all, func(a, b attempt) int { return cmp.Compare(a.ended, b.ended) })
	all = append(all, t.complaints(all)...)
	slices.SortStableFunc(all, func(a, b attempt) int { return cmp.Compare(a.At, b.At) })
	return told(all), probeLanes(all)
}

// connection tells of a connection.
func (t *teller) connection(from oracle.Attempt) attempt {
	w := decoded(from.Connection, t.exact)
	a := attempt{ended: t.at(from.Closed), same: w.same.String(), probes: from.Probes, owner: owner(from)}
	a.Attempt = story.Attempt{
		At: t.exact(from.Opened), Took: took(from.Closed.Sub(from.Opened)), Container: from.Container, By: by(from),
		Expected: expected(from), Observed: seen(from), Tone: graded(from.Succeeded), Wire: w.lines,
	}
	unanswered := (!from.Answered() || from.Unended()) && !from.Succeeded
	switch {
	case !from.Expected():
		a.Observed, a.Tone = a.Observed+"; the model does not expect it to begin so", story.Bad
	case from.CutOff && t.kubeletEnded(a.At, a.ended):
		a.Observed, a.Tone = a.Observed+", because its kubelet ended", ""
	case unanswered && a.ended > t.over:
		a.Observed, a.Tone = a.Observed+", because the rig ended", ""
	case unanswered && from.First == record.FirstNothing && isSeveral(from.Probes):
		a.unclear, a.Tone = true, "" // a client may open more connections than it uses
	}
	return a
}

// askedAgain reports whether the probe that made an attempt asked again as soon as it
// had ended: then its kubelet had not.
func askedAgain(later []oracle.Attempt, a oracle.Attempt) bool {
	return slices.ContainsFunc(later, func(next oracle.Attempt) bool {
		return len(a.Probes) == 1 && slices.Equal(next.Probes, a.Probes) && math.Abs(next.Opened.Sub(a.Closed).Seconds()) < atOnce
	})
}

// noticing is how long it may take until it is recorded that a kubelet has ended,
// in seconds.
const noticing = 0.5

// kubeletEnded reports whether a kubelet ended between two times, so that what
// ended at the second may have ended with it.
func (t *teller) kubeletEnded(from, to float64) bool {
	for _, l := range t.components.all {
		for _, s := range l.Spans {
			if strings.HasPrefix(l.Name, "kubelet/") && s.Detail != "" && from <= s.To && s.To <= to+noticing {
				return true
			}
		}
	}
	return false
}

func took(d time.Duration) float64 { return math.Round(d.Seconds()*1e4) / 1e4 }

// by is what asked: probes, or who says to be somebody.
func by(a oracle.Attempt) string {
	switch {
	case len(a.Probes) > 0:
		return joined(a.Probes, a.Container)
	case len(a.Requests) > 0 && a.Requests[0].UserAgent != "":
		return fmt.Sprintf("%s :%d", a.Requests[0].UserAgent, a.Port)
	default:
		return fmt.Sprintf("somebody :%d", a.Port)
	}
}

// joined joins probes of which it was one: "liveness or readiness grpc :5000", and
// "one of: …" if they are of several containers. Those of another container than the
// one that was asked are told with its name.
func joined(probes []oracle.Probe, asked string) string {
	if isSeveral(probes) {
		return "one of: " + listed(probes, asked, ", ")
	}
	return listed(probes, asked, " or ")
}

// isSeveral reports whether probes are of several containers.
func isSeveral(probes []oracle.Probe) bool {
	return slices.ContainsFunc(probes, func(p oracle.Probe) bool { return p.Container != probes[0].Container })
}

func listed(probes []oracle.Probe, asked, between string) string {
	var whats []string
	names := make(map[string][]string)
	for _, p := range probes {
		name := p.Name
		if p.Container != asked {
			name += " of " + path.Base(p.Container)
		}
		if names[p.What] == nil {
			whats = append(whats, p.What)
		}
		names[p.What] = append(names[p.What], name)
	}
	for i, what := range whats {
		whats[i] = strings.Join(names[what], between) + " " + what
	}
	return strings.Join(whats, between)
}

// owner is the container whose probe an attempt is; the one that was asked if
// that is not certain.
func owner(a oracle.Attempt) string {
	if len(a.Probes) == 0 || isSeveral(a.Probes) {
		return a.Container
	}
	return a.Probes[0].Container
}

// expected is what the model expects, and of which releases. What a kubelet would
// have done that had ended is told only where that is what was seen.
func expected(a oracle.Attempt) string {
	isSeen := slices.ContainsFunc(a.Predicted, func(p oracle.Prediction) bool { return p.First == a.First && !p.Over })
	var all []string
	for _, p := range a.Predicted {
		if p.Over && (isSeen || p.First != a.First) {
			continue
		}
		text := fmt.Sprintf("%s (%s)", firsts[p.First], p.Kubelet)
		if !p.Understood {
			text += fmt.Sprintf(", in vain with a server of %s", a.Protocol)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", or ")
}

// seen is what came of a connection, in a few words.
func seen(a oracle.Attempt) string {
	words := firsts[a.First]
	switch n := len(a.Requests); {
	case a.Handshake != nil && a.Handshake.Error != "":
		return words + ": no TLS, " + strings.TrimPrefix(a.Handshake.Error, "tls: ")
	case n > 0:
		result, _ := answer(a.Requests[n-1], a.Unended())
		words += ": " + result
		if n > 1 {
			words += ", after " + reports.Counted(n-1, "other")
		}
	case a.First == record.FirstNothing && a.Succeeded:
		return "connected"
	}
	if !a.Answered() {
		words += ", ended " + closers[a.CloseReason]
	}
	return words
}

// exec tells of a command in a container.
func (t *teller) exec(e record.Event, ran record.Exec) attempt {
	a := attempt{ended: t.at(e.At), owner: e.Subject}
	duration := time.Duration(ran.DurationSeconds * float64(time.Second))
	a.Attempt = story.Attempt{
		At: t.exact(e.At.Add(-duration)), Took: took(duration), Container: e.Subject,
		By:       shortened("exec "+strings.Join(ran.Args, " "), maxText),
		Observed: fmt.Sprintf("exit %d", ran.ExitCode), Tone: graded(ran.ExitCode == 0 && ran.Error == ""),
	}
	if ran.Error != "" {
		a.Observed = shortened(ran.Error, maxText)
	}
	return a
}

// told leaves out the wire of those over whose wire the same went as over an
// earlier one's.
func told(all []attempt) (attempts []story.Attempt) {
	first := make(map[string]int)
	for i, a := range all {
		if earlier := first[a.same]; earlier > 0 && len(a.Wire) > 0 {
			a.Like, a.Wire = earlier, nil
		} else if len(a.Wire) > 0 {
			first[a.same] = i + 1
		}
		attempts = append(attempts, a.Attempt)
	}
	return attempts
}

// probeLanes are a lane for each probe of each container, with a mark for each
// attempt.
func probeLanes(all []attempt) map[string][]story.Lane {
	rows := make(map[string]*lanes)
	for i, a := range all {
		if rows[a.owner] == nil {
			rows[a.owner] = new(lanes)
		}
		name := a.owner + " " + strings.ReplaceAll(a.By, " of "+path.Base(a.owner)+" ", " ")
		l := rows[a.owner].named(story.Probe, name)
		l.Marks = append(l.Marks, story.Mark{At: a.At, Label: a.Observed, Tone: a.Tone, Attempt: i + 1})
	}
	probes := make(map[string][]story.Lane)
	for container, l := range rows {
		probes[container] = l.until(0)
	}
	return probes
}
