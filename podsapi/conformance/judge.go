package conformance

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/skewrig/skewrig/reports"
)

// Cell is the id of the cell that the checks are those of.
const Cell = "kep-4188/socket/check"

// check is one promise of the KEP.
type check struct {
	id, requirement, expected string
	// needs are what must be so for the promise to be judged.
	needs []need
	// judge says how the promise was kept, and what was seen.
	judge func(Record) (reports.Outcome, string)
}

// need says why something can't be judged by a record. The reason is empty where it
// can.
type need func(Record) (otherwise reports.Outcome, reason string)

// Judge judges a record: all checks, always in the same order.
func Judge(r Record) []reports.Check {
	var judged []reports.Check
	for _, c := range slices.Concat(socketChecks, listChecks, getChecks, watchChecks, maskChecks, loadChecks) {
		judged = append(judged, c.of(r))
	}
	return judged
}

func (c check) of(r Record) reports.Check {
	judged := reports.Check{ID: c.id, Requirement: "KEP-4188/" + c.requirement, Expected: c.expected}
	for _, need := range c.needs {
		if judged.Outcome, judged.Reason = need(r); judged.Reason != "" {
			return judged
		}
	}
	judged.Outcome, judged.Observed = c.judge(r)
	return judged
}

// held is the outcome of something that had to be so.
func held(is bool) reports.Outcome {
	if is {
		return reports.Pass
	}
	return reports.Fail
}

// none is the verdict over complaints: there must be none, and then what is seen is
// what is said of the good case.
func none(complaints []string, good string) (reports.Outcome, string) {
	if len(complaints) == 0 {
		return reports.Pass, good
	}
	return reports.Fail, some(complaints)
}

// some names a few of many.
func some(all []string) string {
	const few = 3
	if len(all) <= few {
		return strings.Join(all, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(all[:few], "; "), len(all)-few)
}

// socket: there is something at the path.
func socket(r Record) (reports.Outcome, string) {
	switch {
	case r.Closed:
		return reports.NotTestable, "this user may not look at " + r.Path + ": check as root, or as the owner of its directory"
	case r.Socket.Path == "":
		return reports.NotTestable, "there is nothing at " + r.Path
	}
	return reports.NotTestable, ""
}

// served: somebody serves the API, and knows the pods.
func served(r Record) (reports.Outcome, string) {
	why := map[string]string{
		codes.Unavailable.String():        "nobody answers",
		codes.FailedPrecondition.String(): "the node is initializing, and doesn't know its pods yet: check again later",
		codes.Unimplemented.String():      "the Pods API v1alpha1 is not served there",
		codes.PermissionDenied.String():   "this user may not ask",
		codes.Canceled.String():           "it was interrupted",
		codes.ResourceExhausted.String():  "other clients use up the rate of requests",
	}[r.Before.Code]
	if why != "" && r.Before.Message != "" {
		why = fmt.Sprintf("%s (%s)", why, r.Before.Message)
	}
	return reports.NotTestable, why
}

// listed: there is a list to compare with.
func listed(r Record) (reports.Outcome, string) {
	if r.Before.Code != ok {
		return reports.NotTestable, "ListPods was answered with " + r.Before.Code
	}
	return reports.NotTestable, ""
}

// pods: there is at least one.
func pods(r Record) (reports.Outcome, string) {
	if len(r.Before.Pods) == 0 {
		return reports.NotTestable, "there are no pods on this node"
	}
	return reports.NotTestable, ""
}

// steady: the same pods were there all the time.
func steady(r Record) (reports.Outcome, string) {
	if r.After.Code != ok {
		return reports.Unknown, "the list that came last was answered with " + r.After.Code
	}
	if !r.steady() {
		return reports.Unknown, fmt.Sprintf("pods came or went while they were looked at, %d times", rounds)
	}
	return reports.Unknown, ""
}

// finished: nothing was refused, in the end, for the rate of other clients, nor cut
// off.
func finished(r Record) (reports.Outcome, string) {
	answered := []string{
		r.Watches[0].Code, r.Watches[1].Code, r.MaskedWatch.Code, r.Got.Code, r.MaskedGot.Code,
		r.Unknown.Code, r.MaskedList.Code, r.Malformed.Code, r.After.Code,
	}
	switch {
	case slices.Contains(answered, codes.ResourceExhausted.String()):
		return reports.Unknown, "other clients use up the rate of requests"
	case slices.Contains(answered, codes.Canceled.String()):
		return reports.Unknown, "it was interrupted"
	case r.After.Code == codes.Unavailable.String():
		return reports.Unknown, "the server went away meanwhile"
	}
	return reports.Unknown, ""
}

var (
	// whenListed, whenPods and whenSteady are what most checks need.
	whenListed = []need{socket, served, listed, finished}
	whenPods   = append(slices.Clone(whenListed), pods)
	whenSteady = append(slices.Clone(whenPods), steady)
)
