package story

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports/story"
	"github.com/skewrig/skewrig/scenarios/oracle"
)

// lateness is how long after the end of an attempt its kubelet's complaint may
// come, in seconds: it goes through the API server.
const lateness = 3

// complaint is what a kubelet says of an attempt.
type complaint struct {
	pod       string // namespace/name
	container string // namespace/pod/container
	combined  bool   // it may be any container of the pod
	probe     string // "readiness"
	port      string // that it names; empty if it names none
	status    string // "HTTP 500"; empty if it names none
	text      string
	at        float64
}

// combined is what begins a complaint that stands for several that look alike. It
// has the text of the last one, and the container of the first.
const combined = "(combined from similar events): "

var (
	changing = regexp.MustCompile(`:\d+->`) // the client's port
	// address is one with a port: of a URL, of a server.
	address = regexp.MustCompile(`(?:\d+\.\d+\.\d+\.\d+|\[[0-9a-fA-F:]+\]):(\d+)`)
)

func complaintOf(what happened) complaint {
	c := complaint{pod: what.namespace + "/" + what.name, at: what.at}
	c.container = c.pod + "/" + containerOf(what.field)
	c.text, c.combined = strings.CutPrefix(what.message, combined)
	c.probe, _, _ = strings.Cut(strings.ToLower(c.text), " ")
	if _, status, is := strings.Cut(c.text, "HTTP probe failed with statuscode: "); is {
		c.status = "HTTP " + status
	}
	if named := address.FindStringSubmatch(c.same()); named != nil {
		c.port = named[1]
	}
	return c
}

// same is what complaints have in common that say the same.
func (c complaint) same() string { return changing.ReplaceAllString(c.text, "->") }

// mayBe reports whether a complaint may be about a probe. A port tells the probes of
// several containers apart.
func (c complaint) mayBe(p oracle.Probe) bool {
	if !c.combined {
		return p.Name == c.probe && p.Container == c.container
	}
	return p.Name == c.probe && podOf(p.Container) == c.pod && (c.port == "" || strings.HasSuffix(p.What, " :"+c.port))
}

// among are the probes of some attempts that a complaint may be about, without
// repetition.
func (c complaint) among(attempts []attempt) (probes []oracle.Probe) {
	for _, a := range attempts {
		for _, p := range a.probes {
			if c.mayBe(p) && !slices.Contains(probes, p) {
				probes = append(probes, p)
			}
		}
	}
	return probes
}

// complaints gives each attempt what its kubelet says of it, and returns those
// attempts of which there is nothing but that.
func (t *teller) complaints(all []attempt) (without []attempt) {
	for _, what := range t.pods.unhealthy {
		c := complaintOf(what)
		line := story.Line{At: c.at, What: "the kubelet says", Text: c.text, Tone: story.Bad}
		i, may := blamed(all, c)
		if i < 0 {
			without = append(without, c.alone(c.among(all), line))
			continue
		}
		if isSeveral(may) {
			line.What += " of " + joined(may, all[i].Container)
		}
		all[i].complained(c, line)
		if isError(c.text) {
			all[i].Observed += gaveUp
			retried(all[:i], all[i], c)
		}
	}
	return without
}

// alone is an attempt of which there is nothing but what the kubelet says. Where it
// may be a probe of several containers, it is not for any of them that it is bad.
func (c complaint) alone(may []oracle.Probe, line story.Line) attempt {
	_, why, _ := strings.Cut(c.same(), ": ")
	a := attempt{same: c.same(), owner: c.container, ended: c.at, Attempt: story.Attempt{
		At: c.at, Container: c.container, By: c.probe, Observed: "no connection in the record: " + shortened(why, maxText),
		Tone: story.Bad, Wire: []story.Line{line},
	}}
	if isError(c.text) {
		a.Observed += gaveUp
	}
	switch {
	case isSeveral(may):
		a.owner, a.Container, a.By, a.Tone = may[0].Container, may[0].Container, joined(may, ""), story.Changed
	case len(may) > 0:
		a.owner, a.Container, a.By = may[0].Container, may[0].Container, joined(may, may[0].Container)
	case c.combined:
		a.By, a.Tone = c.probe+" of one of the pod's containers", story.Changed
	}
	return a
}

// complained adds what the kubelet says of an attempt. If it was not clear whose
// that was, it is now.
func (a *attempt) complained(c complaint, line story.Line) {
	a.Wire, a.said = append(a.Wire, line), true
	a.same += "\x00" + c.same()
	if a.unclear {
		may := c.among([]attempt{*a})
		a.Tone, a.By, a.unclear = story.Bad, joined(may, a.Container), isSeveral(may)
	}
}

// What came of a probe that was an error, not a failure, to its kubelet: it asks
// again at once, and after the last try throws the result away. It says "errored and
// resulted in failure state" of it, but no threshold and no metric counts it
// (kubernetes/kubernetes#113938).
const (
	tries    = 3    // for which a kubelet asks
	atOnce   = 0.25 // seconds that may be between two of them
	tryAgain = "; an error to its kubelet, which asked again"
	gaveUp   = "; an error to its kubelet, which gave up and counted neither a failure nor a success"
)

// isError reports whether a complaint is about an error instead of a failure.
func isError(message string) bool {
	_, after, _ := strings.Cut(message, " probe ")
	return strings.HasPrefix(after, "errored")
}

// retried tells of the tries before the last one of a probe that was an error: the
// kubelet says nothing of its own of them.
func retried(before []attempt, last attempt, c complaint) {
	left, next := tries-1, last.At
	for i := range slices.Backward(before) {
		a := &before[i]
		if left == 0 || a.ended < next-atOnce {
			return
		}
		if a.Tone != story.Bad || a.said || a.ended > next+atOnce || !a.mayBe(c) {
			continue
		}
		a.Observed, a.said = a.Observed+tryAgain, true
		left, next = left-1, a.At
	}
}

// blamed is the place of the attempt that a complaint is about, or -1: the one of
// the probe that failed and ended at about that time, with the status that the
// complaint has, and of which nothing was said yet. The next attempt may have begun.
// One that is certain to have failed comes before one that may have. Where other
// attempts may be meant as well, the probes are all that it may be about.
func blamed(all []attempt, c complaint) (found int, may []oracle.Probe) {
	found = -1
	var candidates []attempt
	for i := range slices.Backward(all) {
		a := &all[i]
		if a.ended < c.at-lateness {
			break
		}
		if !a.failed() || a.At > c.at || a.said || !a.mayBe(c) || !strings.Contains(a.Observed, c.status) {
			continue
		}
		candidates = append(candidates, *a)
		if found < 0 || a.nearer(all[found], c.at) {
			found = i
		}
	}
	slices.Reverse(candidates)
	return found, c.among(candidates)
}

// failed reports whether an attempt failed, or may have.
func (a *attempt) failed() bool { return a.Tone == story.Bad || a.unclear }

// nearer reports whether a complaint of a time is rather about this attempt than
// about another one.
func (a *attempt) nearer(other attempt, at float64) bool {
	if a.unclear != other.unclear {
		return other.unclear
	}
	return math.Abs(a.ended-at) < math.Abs(other.ended-at)
}

// mayBe reports whether an attempt may be what a complaint is about.
func (a *attempt) mayBe(c complaint) bool {
	switch {
	case strings.HasPrefix(a.By, "exec ") && c.combined:
		return podOf(a.Container) == c.pod
	case strings.HasPrefix(a.By, "exec "):
		return a.Container == c.container
	default:
		return slices.ContainsFunc(a.probes, c.mayBe)
	}
}

// containerOf is the container in the path of a field: spec.containers{app}.
func containerOf(field string) string {
	_, rest, _ := strings.Cut(field, "{")
	return strings.TrimSuffix(rest, "}")
}
