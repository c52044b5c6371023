package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/expr"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// tooLateMean and tooLateWorst are the lateness beyond which a machine is not trusted to
// tell "too late" from "never", in seconds.
const tooLateMean, tooLateWorst = 0.25, 3.0

// lateness returns why a machine can't be trusted, if it can't. That threads wait is no
// reason: deadlines are longer then, and they may be those of others, since the queue is
// that of the whole host.
func lateness(events []record.Event) string {
	for _, l := range record.All[record.Lateness](events) {
		if l.Mean > tooLateMean || l.Worst > tooLateWorst {
			return fmt.Sprintf("the machine was too late to be trusted: timers fired %.2f s late on average and %.2f s at worst, with %.1f threads for each processor", l.Mean, l.Worst, l.Queue)
		}
	}
	return ""
}

// Trusted returns what was judged on a history otherwise, as far as the machine
// was fast enough to say so. That nothing was seen in a run that did not get to its end proves
// nothing.
func Trusted(events []record.Event, checks []reports.Check) []reports.Check {
	if outcome, why := brokenOff(events); outcome == reports.Unknown {
		for i := range checks {
			if checks[i].Outcome == reports.Pass {
				checks[i].Outcome, checks[i].Reason = reports.Unknown, why
			}
		}
	}
	if late := lateness(events); late != "" {
		for i := range checks {
			if checks[i].Outcome != reports.Pass {
				checks[i].Outcome, checks[i].Reason = reports.Unknown, late
			}
		}
	}
	return checks
}

// distrusted returns why a verdict on a machine that was late says nothing of the subject.
// It is empty if the verdict counts.
func distrusted(late string, c action.Check, outcome reports.Outcome, cell plan.Cell, t *timeline.Timeline) string {
	switch {
	case late == "":
		return ""
	case missed(c.Mode, outcome):
		return late
	case outcome != reports.Fail:
		return ""
	case measuresTime(c):
		return late + "; the check measures a time"
	}
	if waited := spoiledBy(cell, c, t); waited != nil {
		return fmt.Sprintf("%s; at %.1f s a client waited in vain for %s, whose server was to answer at once", late, waited.At, timeline.Name(waited.Container))
	}
	return ""
}

// missed reports whether a verdict rests on something that did not happen in time: on a
// machine that is late it may have come later. What was seen is true however late.
func missed(mode record.Mode, outcome reports.Outcome) bool {
	switch {
	case mode == record.Now:
		return false
	case mode.Awaits():
		return outcome == reports.Fail
	default:
		return outcome == reports.Pass
	}
}

// measuresTime reports whether a check computes how long something took, or reads it.
func measuresTime(c action.Check) bool {
	subtracts, moments, length := false, false, false
	expr.Visit(c, func(e ast.Expr) {
		_, field, _ := expr.FieldOf(e)
		length = length || field == "seconds"
		moments = moments || slices.Contains([]string{"at", "opened", "closed"}, field) || e.Kind() == ast.IdentKind && e.AsIdent() == "since"
		if e.Kind() == ast.CallKind {
			called := e.AsCall().FunctionName()
			subtracts, moments = subtracts || called == operators.Subtract, moments || called == "timestamp"
		}
	})
	return length || subtracts && moments
}

// spoiledBy returns a connection of the pods that a check looks at on which the machine,
// and not the server, had a client wait: what a kubelet then does to the pod is no fault of
// the kubelet. It is nil if there is none, or if the check looks at nothing that
// probes change.
func spoiledBy(cell plan.Cell, c action.Check, t *timeline.Timeline) *timeline.Connection {
	if !showsProbes(c) {
		return nil
	}
	var pods []string
	for _, n := range append(expr.Scope{}.Names(c.Observe), expr.Seeing(c.Observe).Names(c.Must)...) {
		if strings.HasPrefix(n.Object, "pods/") {
			pods = append(pods, n.Object)
		}
	}
	for _, connection := range t.Connections {
		looked := len(pods) == 0 || slices.Contains(pods, "pods/"+timeline.PodOf(connection.Container))
		ended := !slices.Contains(t.Connected[timeline.Name(connection.Container)], connection) // by the end of its kubelet
		if looked && !ended && !delaysAnswers(cell, connection.Port) && waitedInVain(connection) {
			return connection
		}
	}
	return nil
}

// showsProbes reports whether a check looks at something that depends on how probes end.
func showsProbes(c action.Check) (shows bool) {
	expr.Visit(c, func(e ast.Expr) {
		_, field, _ := expr.FieldOf(e)
		shows = shows || field == "status"
	})
	return shows || slices.ContainsFunc([]string{"containers", "connections", "events", "metrics", "scrapes"}, func(variable string) bool { return expr.Reads(c, variable) })
}

// shortestTimeout is that of a probe which sets none, and the shortest that one can set.
const shortestTimeout = time.Second

// waitedInVain reports whether a server let a client wait for as long as a probe may
// although its behavior does not say so.
func waitedInVain(c *timeline.Connection) bool {
	if c.Fault != "" || !c.Protocol.HTTP() && !c.Protocol.GRPC() {
		return false
	}
	late := slices.ContainsFunc(c.Requests, func(r record.Request) bool { return time.Duration(r.Duration) >= shortestTimeout })
	return late || c.GivenUp() && (len(c.Requests) > 0 || c.Closed.Sub(c.Opened) >= shortestTimeout)
}

// delaysAnswers reports whether the scenario sets a server on a port to delay its answers.
func delaysAnswers(cell plan.Cell, port int32) bool {
	for _, image := range cell.Images {
		for _, l := range image.Listen {
			if l.Port == port && l.LongestDelay() >= shortestTimeout {
				return true
			}
		}
	}
	return false
}
