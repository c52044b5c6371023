package narrate

import (
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
)

// lateness is how long after the end of an attempt its kubelet's event may come, in
// seconds: it goes through the API server.
const lateness = 3

// probeFailure is an event with which a kubelet reports that a probe failed.
type probeFailure struct {
	pod       string // namespace/name
	container string // namespace/pod/container
	combined  bool   // it may be any container of the pod
	probe     string // "readiness"
	port      string // that it names; empty if it names none
	status    string // "HTTP 500"; empty if it names none
	text      string
	at        float64
	// from and until are between which times the attempt ended, by the event itself.
	from, until float64
}

// kubeletEvent is what an event of a kubelet is called. Its time is when the API server had it.
const kubeletEvent = "seen: kubelet event"

// combined begins an event that stands for several that look alike. It
// has the text of the last one, and the container of the first.
const combined = "(combined from similar events): "

var (
	changing = regexp.MustCompile(`:\d+->`) // the client's port
	// address is one with a port: of a URL, of a server.
	address = regexp.MustCompile(`(?:\d+\.\d+\.\d+\.\d+|\[[0-9a-fA-F:]+\]):(\d+)`)
)

func newProbeFailure(event timeline.Happening, at float64) probeFailure {
	c := probeFailure{pod: event.About.Namespace + "/" + event.About.Name, at: at, from: at, until: at}
	// It has whole seconds, of the kubelet's clock, which a scenario may set.
	if said := at - event.Time.Sub(event.Said).Seconds(); !event.Said.IsZero() && said <= at && at <= said+1+lateness {
		c.from, c.until = said, min(at, said+1)
	}
	c.container = c.pod + "/" + containerOf(event.About.FieldPath)
	c.text, c.combined = strings.CutPrefix(event.Message, combined)
	c.probe, _, _ = strings.Cut(strings.ToLower(c.text), " ")
	if _, status, is := strings.Cut(c.text, "HTTP probe failed with statuscode: "); is {
		c.status = "HTTP " + status
	}
	if named := address.FindStringSubmatch(c.same()); named != nil {
		c.port = named[1]
	}
	return c
}

// same is what events have in common that say the same.
func (c probeFailure) same() string { return changing.ReplaceAllString(c.text, "->") }

// mayBe reports whether an event may be about a probe. A port distinguishes the probes
// of several containers.
func (c probeFailure) mayBe(p reports.Probe) bool {
	if !c.combined {
		return p.Name == c.probe && p.Container == c.container
	}
	return p.Name == c.probe && timeline.PodOf(p.Container) == c.pod && (c.port == "" || strings.HasSuffix(p.What, " :"+c.port))
}

// to is the event without its port if an attempt is known by that: one to which a redirect
// led, whose probe names another port.
func (c probeFailure) to(a *attempt) probeFailure {
	if a.port == c.port {
		c.port = ""
	}
	return c
}

// among are the probes of some attempts that an event may be about, without
// repetition.
func (c probeFailure) among(attempts []attempt) (probes []reports.Probe) {
	for _, a := range attempts {
		for _, p := range a.probes {
			if c.to(&a).mayBe(p) && !slices.Contains(probes, p) {
				probes = append(probes, p)
			}
		}
	}
	return probes
}

// probeFailures gives each attempt the event of its kubelet, and returns those
// attempts of which there is nothing but an event.
func (b *builder) probeFailures(all []attempt) (without []attempt) {
	for _, event := range b.pods.unhealthy {
		c := newProbeFailure(event, b.at(event.Time))
		line := Line{At: c.at, What: kubeletEvent, Text: c.text, Tone: Bad}
		i, may := matching(all, c)
		if at := redirectOf(all, c); i < 0 && at >= 0 {
			all[at].failedBy(c, line)
			all[at].Tone, all[at].Observed, all[at].lost = Bad, all[at].Observed+ledToFailure, false
			continue
		}
		if i < 0 {
			missing := "no connection in the record"
			if slices.ContainsFunc(all, func(a attempt) bool { return a.At <= c.at && a.ended >= c.from-lateness && a.mayBe(c) }) {
				missing = "no failed connection in the record"
			}
			without = append(without, c.alone(c.among(all), line, missing))
			continue
		}
		if isSeveral(may) {
			line.What += " of " + joined(may, all[i].Container)
		}
		all[i].failedBy(c, line)
		if isError(c.text) {
			all[i].Observed += gaveUp
			retried(all[:i], all[i], c)
		}
	}
	return without
}

// redirectOf is the place of the redirect that an event is about which no connection
// shows, or -1: the last one of its probe of which it is not known where it led.
func redirectOf(all []attempt, c probeFailure) int {
	for i, a := range slices.Backward(all) {
		if a.ended < c.from-lateness {
			break
		}
		if a.lost && !a.reported && a.At <= c.at && a.mayBe(c) {
			return i
		}
	}
	return -1
}

// alone is an attempt of which there is nothing but the event. Where that
// may be a probe of several containers, it is not for any of them that it is bad. What
// is missing begins what was observed.
func (c probeFailure) alone(may []reports.Probe, line Line, missing string) attempt {
	_, why, _ := strings.Cut(c.same(), ": ")
	a := attempt{same: c.same(), own: []Line{line}, owner: c.container, ended: c.at, alone: true, Attempt: Attempt{
		At: c.at, Container: c.container, By: c.probe, Observed: missing + ": " + shortened(why, maxText),
		Tone: Bad, Wire: []Line{line},
	}}
	if isError(c.text) {
		a.Observed += gaveUp
	}
	switch {
	case isSeveral(may):
		a.owner, a.Container, a.By, a.Tone = may[0].Container, may[0].Container, joined(may, ""), Changed
	case len(may) > 0:
		a.owner, a.Container, a.By = may[0].Container, may[0].Container, joined(may, may[0].Container)
	case c.combined:
		a.By, a.Tone = c.probe+" of one of the pod's containers", Changed
	}
	return a
}

// failedBy adds the event of an attempt. If it was not clear whose attempt
// that was, it is now.
func (a *attempt) failedBy(c probeFailure, line Line) {
	a.Wire, a.own, a.reported = append(a.Wire, line), append(a.own, line), true
	a.same += "\x00" + line.What + "\x00" + c.same()
	if a.unclear {
		may := c.among([]attempt{*a})
		a.Tone, a.By, a.unclear = Bad, joined(may, a.Container)+a.hop, isSeveral(may)
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

// isError reports whether an event is about an error instead of a failure.
func isError(message string) bool {
	_, after, _ := strings.Cut(message, " probe ")
	return strings.HasPrefix(after, "errored")
}

// retried marks the tries before the last one of a probe that was an error: the
// kubelet has no event of them.
func retried(before []attempt, last attempt, c probeFailure) {
	left, next := tries-1, last.At
	for i := range slices.Backward(before) {
		a := &before[i]
		if left == 0 || a.ended < next-atOnce {
			return
		}
		if a.Tone != Bad || a.reported || a.ended > next+atOnce || !a.mayBe(c) {
			continue
		}
		a.Observed, a.reported = a.Observed+tryAgain, true
		left, next = left-1, a.At
	}
}

// matching is the place of the attempt that an event is about, or -1: the one of
// the probe that failed and ended at about that time, with the status that the event
// has, and which has no event yet. The next attempt may have begun.
// One that is certain to have failed comes before one that may have. Where other
// attempts may be meant as well, the probes are all that it may be about.
func matching(all []attempt, c probeFailure) (found int, may []reports.Probe) {
	found = -1
	var candidates []attempt
	for i := range slices.Backward(all) {
		a := &all[i]
		if a.ended < c.from-lateness {
			break
		}
		if !a.failed() || a.At > c.at || a.reported || !a.mayBe(c) || !strings.Contains(a.Observed, c.status) {
			continue
		}
		candidates = append(candidates, *a)
		if found < 0 || a.nearer(all[found], c) {
			found = i
		}
	}
	slices.Reverse(candidates)
	return found, c.among(candidates)
}

// failed reports whether an attempt failed, or may have.
func (a *attempt) failed() bool { return a.Tone == Bad || a.unclear }

// nearer reports whether an event is rather about this attempt than about a later one.
func (a *attempt) nearer(later attempt, c probeFailure) bool {
	if a.unclear != later.unclear {
		return later.unclear
	}
	return c.off(a.ended) <= c.off(later.ended)
}

// off is how far a time is from when the attempt ended that an event is about.
func (c probeFailure) off(at float64) float64 { return max(c.from-at, at-c.until, 0) }

// mayBe reports whether an attempt may be what an event is about.
func (a *attempt) mayBe(c probeFailure) bool {
	if a.port != "" && c.port != "" && a.port != c.port {
		return false
	}
	c = c.to(a)
	switch {
	case strings.HasPrefix(a.By, "exec ") && c.combined:
		return timeline.PodOf(a.Container) == c.pod
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
