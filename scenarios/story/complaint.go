package story

import (
	"cmp"
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

var changing = regexp.MustCompile(`:\d+->`) // the client's port

// complaints gives each attempt what its kubelet says of it, and returns those
// attempts of which there is nothing but that.
func (t *teller) complaints(all []attempt) (without []attempt) {
	called := names(all)
	for _, what := range t.pods.unhealthy {
		container := what.namespace + "/" + what.name + "/" + containerOf(what.field)
		message := strings.TrimPrefix(what.message, "(combined from similar events): ")
		probe, _, _ := strings.Cut(strings.ToLower(message), " ")
		same := changing.ReplaceAllString(message, "->")
		line := story.Line{At: what.at, What: "the kubelet says", Text: message, Tone: story.Bad}
		if i := blamed(all, container, probe, message, what.at); i >= 0 {
			all[i].complained(line, same)
			if isError(message) {
				all[i].Observed += gaveUp
				retried(all[:i], all[i], container, probe)
			}
			continue
		}
		_, why, _ := strings.Cut(same, ": ")
		observed := "no connection in the record: " + shortened(why, maxText)
		if isError(message) {
			observed += gaveUp
		}
		without = append(without, attempt{same: same, owner: container, ended: what.at, Attempt: story.Attempt{
			At: what.at, Container: container, By: cmp.Or(called[oracle.Probe{Container: container, Name: probe}], probe), Observed: observed,
			Tone: story.Bad, Wire: []story.Line{line},
		}})
	}
	return without
}

// complained adds what the kubelet says of an attempt. What varies between
// complaints that say the same is not in same.
func (a *attempt) complained(line story.Line, same string) {
	a.Wire, a.said = append(a.Wire, line), true
	a.same += "\x00" + same
}

// What came of a probe that was an error, not a failure, to its kubelet: it asks
// again at once, and after the last try throws the result away. It says "errored and
// resulted in failure state" of it, but no threshold and no metric counts it
// (kubernetes/kubernetes#113938).
const (
	tries      = 3    // for which a kubelet asks
	atOnce     = 0.25 // seconds that may be between two of them
	askedAgain = "; an error to its kubelet, which asked again"
	gaveUp     = "; an error to its kubelet, which gave up and counted neither a failure nor a success"
)

// isError reports whether a complaint is about an error instead of a failure.
func isError(message string) bool {
	_, after, _ := strings.Cut(message, " probe ")
	return strings.HasPrefix(after, "errored")
}

// retried tells of the tries before the last one of a probe that was an error: the
// kubelet says nothing of its own of them.
func retried(before []attempt, last attempt, container, probe string) {
	left, next := tries-1, last.At
	for i := range slices.Backward(before) {
		a := &before[i]
		if left == 0 || a.ended < next-atOnce {
			return
		}
		if a.Tone != story.Bad || a.said || a.ended > next+atOnce || !a.mayBe(container, probe) {
			continue
		}
		a.Observed, a.said = a.Observed+askedAgain, true
		left, next = left-1, a.At
	}
}

// blamed is the place of the attempt that a complaint is about, or -1: the one of
// the probe that failed and ended at about that time, with the status that the
// complaint has, and of which nothing was said yet. The next attempt may have begun.
func blamed(all []attempt, container, probe, message string, at float64) int {
	_, status, is := strings.Cut(message, "HTTP probe failed with statuscode: ")
	if is {
		status = "HTTP " + status
	}
	found, nearest := -1, math.Inf(1)
	for i := range slices.Backward(all) {
		a := &all[i]
		if a.ended < at-lateness {
			break
		}
		distance := math.Abs(a.ended - at)
		if distance < nearest && a.Tone == story.Bad && a.At <= at && !a.said && a.mayBe(container, probe) && strings.Contains(a.Observed, status) {
			found, nearest = i, distance
		}
	}
	return found
}

// mayBe reports whether an attempt may be that of a container's probe.
func (a *attempt) mayBe(container, probe string) bool {
	if strings.HasPrefix(a.By, "exec ") {
		return a.Container == container
	}
	return slices.ContainsFunc(a.probes, func(p oracle.Probe) bool { return p.Container == container && p.Name == probe })
}

// names are what the attempts of each probe are called that can be no other's.
func names(all []attempt) map[oracle.Probe]string {
	called := make(map[oracle.Probe]string)
	for _, a := range all {
		if len(a.probes) == 1 {
			called[oracle.Probe{Container: a.probes[0].Container, Name: a.probes[0].Name}] = a.By
		}
	}
	return called
}

// containerOf is the container in the path of a field: spec.containers{app}.
func containerOf(field string) string {
	_, rest, _ := strings.Cut(field, "{")
	return strings.TrimSuffix(rest, "}")
}
