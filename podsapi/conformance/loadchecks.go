package conformance

import (
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/skewrig/skewrig/reports"
)

var loadChecks = []check{
	{
		"too-many-are-refused", "load/rate-limit", fmt.Sprintf("some of %d lists at once are ResourceExhausted", many), whenListed,
		func(r Record) (reports.Outcome, string) { return answeredWith(r.Lists, codes.ResourceExhausted) },
	},
	{
		"some-are-answered", "load/rate-limit", fmt.Sprintf("some of %d lists at once are OK", many), whenListed,
		func(r Record) (reports.Outcome, string) { return answeredWith(r.Lists, codes.OK) },
	},
	{
		"too-many-watches-are-refused", "load/watch-rate-limit", fmt.Sprintf("some of %d watches opened at once are ResourceExhausted", many), whenListed,
		func(r Record) (reports.Outcome, string) { return answeredWith(r.Opened, codes.ResourceExhausted) },
	},
}

// answeredWith says whether a code was among the answers. How often is a matter of
// the machine.
func answeredWith(counts map[string]int, code codes.Code) (reports.Outcome, string) {
	return held(counts[code.String()] > 0), strings.Join(names(counts), " and ")
}
