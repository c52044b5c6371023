package conformance

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/skewrig/skewrig/reports"
)

var loadChecks = []check{
	load("too-many-are-refused", "load/rate-limit", "lists at once", lists, codes.ResourceExhausted),
	load("some-are-answered", "load/rate-limit", "lists at once", lists, codes.OK),
	load("too-many-watches-are-refused", "load/watch-rate-limit", "watches opened at once", opened, codes.ResourceExhausted),
}

func lists(r Record) map[string]int  { return r.Lists }
func opened(r Record) map[string]int { return r.Opened }

// load is the check that a code is among the answers to many requests. How often is a
// matter of the machine.
func load(id, requirement, requests string, counts func(Record) map[string]int, code codes.Code) check {
	return check{
		id, requirement, fmt.Sprintf("some of %d %s are %s", many, requests, code),
		append(slices.Clone(whenListed), reached(counts, code)),
		func(r Record) (reports.Outcome, string) {
			answers := counts(r)
			return held(answers[code.String()] > 0), strings.Join(names(answers), " and ")
		},
	}
}

// unreached are the codes of requests that no server has decided on.
var unreached = []codes.Code{codes.Unavailable, codes.DeadlineExceeded, codes.Canceled}

// reached: the server was there for all requests, unless the code is among the answers
// all the same.
func reached(counts func(Record) map[string]int, code codes.Code) need {
	return need{reports.Unknown, func(r Record) string {
		answers := counts(r)
		if answers[code.String()] > 0 {
			return ""
		}
		for _, u := range unreached {
			if n := answers[u.String()]; n > 0 {
				return fmt.Sprintf("%d of %d requests were not answered: %s", n, many, u)
			}
		}
		return ""
	}}
}
