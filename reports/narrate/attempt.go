package narrate

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
)

// attempt is one that is shown, beside what it is compared by.
type attempt struct {
	Attempt
	probes   []reports.Probe // that may have made it
	owner    string          // the container whose probe it is, or that was asked
	id       int             // from 1; that of the one that redirected to it is follows
	follows  int
	port     string // that was asked, if the probe asks two since one redirects to the other
	same     string // what it has in common with others that went the same way
	own      []Line // of its wire, what others that went the same way do not share
	ended    float64
	reported bool // its kubelet has an event of it
	// unclear is true if a probe of several containers may have made it, and nothing
	// says that it failed for any of them.
	unclear bool
	// hop is what is said behind its probe if a redirect led to it: ", after a redirect to
	// :8443". If unset, none did.
	hop string
	// alone is true if there is nothing of it but an event, lost for a redirect of which no
	// connection shows where it led.
	alone, lost bool
	// gone and bare are true if the attempt, or what went over its wire, is left out.
	gone, bare bool
}

// exact is a time in the narration, to the tenth of a millisecond.
func (b *builder) exact(when time.Time) float64 {
	return max(0, math.Round(when.Sub(b.began).Seconds()*1e4)/1e4)
}

// attempts are all attempts, and the lanes that have them as marks, by container.
func (b *builder) attempts() ([]attempt, map[string][]Lane) {
	var all []attempt
	for i, a := range b.in.Attempts {
		a.CutOff = a.CutOff && !askedAgain(b.in.Attempts[i+1:], a)
		seen := b.connection(a)
		seen.id, seen.follows = i+1, a.Follows
		all = append(all, seen)
	}
	redirected(all, b.in.Attempts)
	all = append(all, b.execs...)
	slices.SortStableFunc(all, func(a, b attempt) int { return cmp.Compare(a.ended, b.ended) })
	all = append(all, b.probeFailures(all)...)
	slices.SortStableFunc(all, func(a, b attempt) int { return cmp.Compare(a.At, b.At) })
	return all, probeLanes(all)
}

// connection is an attempt that reached a server.
func (b *builder) connection(from reports.Attempt) attempt {
	w := decoded(from.Connection, b.exact)
	a := attempt{ended: b.at(from.Closed), same: w.same.String(), own: w.own, probes: from.Probes, owner: owner(from)}
	a.Attempt = Attempt{
		At: b.exact(from.Opened), Took: took(from.Closed.Sub(from.Opened)), Container: from.Container, By: askerOf(from),
		Expected: expected(from), Observed: outcomeOf(from), Tone: graded(from.Succeeded), Wire: w.lines,
	}
	unanswered := (!from.Answered() || from.Unended()) && !from.Succeeded
	switch {
	case !from.Expected():
		a.Observed, a.Tone = a.Observed+"; the model does not expect it to begin so", Bad
	case from.CutOff && b.kubeletEnded(a.At, a.ended):
		a.Observed, a.Tone = a.Observed+", because its kubelet ended", ""
	case unanswered && a.ended > b.over:
		a.Observed, a.Tone = a.Observed+", because the rig ended", ""
	case unanswered && isSeveral(from.Probes) && (from.First == record.FirstNothing || len(from.Predicted) == 0):
		// A client may open more connections than it uses, and several redirects may have led here.
		a.unclear, a.Tone = true, ""
	}
	return a
}

// ledToFailure is said of a redirect of which nothing good came.
const ledToFailure = "; what it redirects to failed"

// afterRedirect begins what is said behind the probe of an attempt that a redirect led to.
const afterRedirect = ", after a redirect"

// redirected says of attempts what redirects led to which others, and what came of it.
func redirected(all []attempt, from []reports.Attempt) {
	for i, a := range from {
		n := len(a.Requests)
		all[i].lost = n > 0 && a.Requests[n-1].Redirected()
	}
	for i, a := range from {
		if a.Follows == 0 {
			if isSeveral(a.Probes) && len(a.Predicted) == 0 { // that of one of several redirects
				next := &all[i]
				next.port = fmt.Sprint(a.Port)
				next.hop = afterRedirect + " to :" + next.port
				next.By += next.hop
			}
			continue
		}
		all[a.Follows-1].lost = false
		first, next := &all[a.Follows-1], &all[i]
		first.port, next.port = fmt.Sprint(from[a.Follows-1].Port), fmt.Sprint(a.Port)
		next.hop = afterRedirect
		if first.port != next.port {
			next.hop += " to :" + next.port
		}
		next.By += next.hop
		if next.Tone == Bad {
			first.Observed += ledToFailure
		}
	}
}

// askedAgain reports whether the probe that made an attempt asked again as soon as it
// had ended: then its kubelet had not.
func askedAgain(later []reports.Attempt, a reports.Attempt) bool {
	return slices.ContainsFunc(later, func(next reports.Attempt) bool {
		return len(a.Probes) == 1 && slices.Equal(next.Probes, a.Probes) && math.Abs(next.Opened.Sub(a.Closed).Seconds()) < atOnce
	})
}

// noticing is how long it may take until it is recorded that a kubelet has ended,
// in seconds.
const noticing = 0.5

// kubeletEnded reports whether a kubelet ended between two times, so that what
// ended at the second may have ended with it.
func (b *builder) kubeletEnded(from, to float64) bool {
	for _, name := range b.Components() {
		for _, life := range b.Lives(name) {
			ended := b.at(life.Until.Time)
			if strings.HasPrefix(name, "kubelet/") && life.Stopped != nil && from <= ended && ended <= to+noticing {
				return true
			}
		}
	}
	return false
}

func took(d time.Duration) float64 { return math.Round(d.Seconds()*1e4) / 1e4 }

// askerOf is what asked: probes, or the user agent.
func askerOf(a reports.Attempt) string {
	switch {
	case len(a.Probes) > 0:
		return joined(a.Probes, a.Container)
	case len(a.Requests) > 0 && a.Requests[0].UserAgent != "":
		return fmt.Sprintf("%s :%d", a.Requests[0].UserAgent, a.Port)
	default:
		return fmt.Sprintf("unknown client :%d", a.Port)
	}
}

// joined joins probes of which it was one: "liveness or readiness grpc :5000", and
// "one of: …" if they are of several containers. Those of another container than the
// one that was asked are listed with its name.
func joined(probes []reports.Probe, asked string) string {
	if isSeveral(probes) {
		return "one of: " + listed(probes, asked, ", ")
	}
	return listed(probes, asked, " or ")
}

// isSeveral reports whether probes are of several containers.
func isSeveral(probes []reports.Probe) bool {
	return slices.ContainsFunc(probes, func(p reports.Probe) bool { return p.Container != probes[0].Container })
}

func listed(probes []reports.Probe, asked, between string) string {
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
func owner(a reports.Attempt) string {
	if len(a.Probes) == 0 || isSeveral(a.Probes) {
		return a.Container
	}
	return a.Probes[0].Container
}

// expected is what the model expects, and of which releases. What a kubelet would
// have done that had ended is listed only where that is what was seen.
func expected(a reports.Attempt) string {
	isSeen := slices.ContainsFunc(a.Predicted, func(p reports.Prediction) bool { return p.First == a.First && !p.Over })
	var all []string
	for _, p := range a.Predicted {
		if p.Over && (isSeen || p.First != a.First) {
			continue
		}
		text := fmt.Sprintf("%s (%s)", protocolNames[p.First], p.Kubelet)
		if !p.Understood {
			text += fmt.Sprintf(", cannot succeed against a server of %s", a.Protocol)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", or ")
}

// outcomeOf is what came of a connection, in a few words.
func outcomeOf(a reports.Attempt) string {
	words := protocolNames[a.First]
	switch n := len(a.Requests); {
	case a.Handshake != nil && a.Handshake.Error != "":
		return words + ": " + failedHandshake(a)
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

// failedHandshake is how TLS failed, and by whom.
func failedHandshake(a reports.Attempt) string {
	client := "client"
	if len(a.Probes) > 0 {
		client = "kubelet"
	}
	alert, sent := strings.CutPrefix(a.Handshake.Error, "remote error: tls: ")
	switch {
	case sent && strings.Contains(alert, "certificate"):
		return fmt.Sprintf("handshake failed: the %s refused the server's certificate (%s)", client, alert)
	case sent:
		return fmt.Sprintf("handshake failed: the %s ended it (%s)", client, alert)
	case a.First != record.FirstTLS:
		return "no TLS, " + strings.TrimPrefix(a.Handshake.Error, "tls: ")
	default:
		return "handshake failed: " + strings.TrimPrefix(a.Handshake.Error, "tls: ")
	}
}

// exec is an attempt that ran a command in a container.
func (b *builder) exec(e timeline.Entry, ran record.Exec) attempt {
	a := attempt{ended: b.at(e.At), owner: e.Subject}
	duration := time.Duration(ran.DurationSeconds * float64(time.Second))
	a.Attempt = Attempt{
		At: b.exact(e.At.Add(-duration)), Took: took(duration), Container: e.Subject,
		By:       shortened("exec "+strings.Join(ran.Args, " "), maxText),
		Observed: fmt.Sprintf("exit %d", ran.ExitCode), Tone: graded(ran.ExitCode == 0 && ran.Error == ""),
	}
	if ran.Error != "" {
		a.Observed = shortened(ran.Error, maxText)
	}
	return a
}

// probeLanes are a lane for each probe of each container, with a mark for each
// attempt.
func probeLanes(all []attempt) map[string][]Lane {
	rows := make(map[string]*lanes)
	for i, a := range all {
		if rows[a.owner] == nil {
			rows[a.owner] = new(lanes)
		}
		name := a.owner + " " + strings.ReplaceAll(a.By, " of "+path.Base(a.owner)+" ", " ")
		l := rows[a.owner].named(Probe, name)
		l.Marks = append(l.Marks, Mark{At: a.At, Label: a.Observed, Tone: a.Tone, Attempt: i + 1})
	}
	probes := make(map[string][]Lane)
	for container, l := range rows {
		probes[container] = l.until(0)
	}
	return probes
}
