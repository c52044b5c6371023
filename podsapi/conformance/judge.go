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

// need is what must be so for something to be judged by a record.
type need struct {
	// otherwise is the outcome where it is not so.
	otherwise reports.Outcome
	// missing says what is missing. It is empty where nothing is.
	missing func(Record) string
}

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
		if judged.Outcome, judged.Reason = need.otherwise, need.missing(r); judged.Reason != "" {
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

var (
	// socket: there is something at the path.
	socket = need{reports.NotTestable, func(r Record) string {
		switch {
		case r.Closed:
			return "this user may not access " + r.Path + ": check as root, or as the owner of its directory"
		case r.Socket.Path == "":
			return "there is nothing at " + r.Path
		}
		return ""
	}}
	// served: a server serves the API, and knows the pods.
	served = need{reports.NotTestable, unserved}
	// listed: there is a list to compare with.
	listed = need{reports.NotTestable, func(r Record) string {
		if r.Before.Code != ok {
			return "ListPods was answered with " + r.Before.Code
		}
		return ""
	}}
	// pods: there is at least one.
	pods = need{reports.NotTestable, func(r Record) string {
		if len(r.Before.Pods) == 0 {
			return "there are no pods on this node"
		}
		return ""
	}}
	// steady: the same pods were there all the time.
	steady = need{reports.Unknown, func(r Record) string {
		switch {
		case r.After.Code != ok:
			return "the last list was answered with " + r.After.Code
		case !r.steady():
			return fmt.Sprintf("pods were added or deleted between the requests, %d times", rounds)
		}
		return ""
	}}
	// finished: nothing was refused, in the end, for the rate of other clients, nor
	// cut off.
	finished = need{reports.Unknown, unfinished}

	// whenListed, whenPods and whenSteady are what most checks need.
	whenListed = []need{socket, served, listed, finished}
	whenPods   = append(slices.Clone(whenListed), pods)
	whenSteady = append(slices.Clone(whenPods), steady)
)

func unserved(r Record) string {
	why := map[string]string{
		codes.Unavailable.String():        "no answer",
		codes.FailedPrecondition.String(): "the node is initializing, and doesn't know its pods yet: check again later",
		codes.Unimplemented.String():      "the Pods API v1alpha1 is not served there",
		codes.PermissionDenied.String():   "this user may not ask",
		codes.Canceled.String():           "it was interrupted",
		codes.ResourceExhausted.String():  "other clients use up the rate of requests",
	}[r.Before.Code]
	if why != "" && r.Before.Message != "" {
		why = fmt.Sprintf("%s (%s)", why, r.Before.Message)
	}
	return why
}

func unfinished(r Record) string {
	answered := []string{
		r.Watches[0].Code, r.Watches[1].Code, r.MaskedWatch.Code, r.Got.Code, r.MaskedGot.Code,
		r.Unknown.Code, r.MaskedList.Code, r.Malformed.Code, r.After.Code,
	}
	switch {
	case slices.Contains(answered, codes.ResourceExhausted.String()):
		return "other clients use up the rate of requests"
	case slices.Contains(answered, codes.Canceled.String()):
		return "it was interrupted"
	case r.After.Code == codes.Unavailable.String():
		return "the server went away meanwhile"
	}
	return ""
}
