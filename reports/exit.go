package reports

// Exit codes of a program that made or read a report. A usage error, 3, is the
// program's own affair.
const (
	// ExitExpected: all outcomes are as expected, and something was judged.
	ExitExpected = 0
	// ExitNonconforming: something does not conform, or the known-deviation
	// list does not match what was seen.
	ExitNonconforming = 1
	// ExitNotJudged: no nonconformance was seen, but not everything was judged,
	// or nothing was.
	ExitNotJudged = 2
)

// ExitCode returns the exit code for a report. Where something failed and
// something else was not judged, it is ExitNonconforming: a nonconformance that
// was seen stays true whatever the rest would have said, while the opposite
// would let an outage of the rig hide it.
//
// A partial report is not judged at best. A shard may have no cells at all: those
// that there are are in the others, and merging them sees to it that none is
// missing.
//
// Requirements have no say: those that a partial run does not serve are
// unknown, and that is no fault of the run.
func ExitCode(r Report) int {
	worst, judged := NotApplicable, false
	for _, c := range r.Cells {
		worst = Worst(worst, c.Outcome)
		judged = judged || c.Outcome.Judged()
	}
	switch {
	case len(r.Problems) > 0 || worst.Nonconforming():
		return ExitNonconforming
	case r.Partial != "":
		return ExitNotJudged
	case r.EmptyShard():
		return ExitExpected
	case !judged || !worst.Expected():
		return ExitNotJudged
	default:
		return ExitExpected
	}
}

// EmptyShard reports whether the report is that of a shard which got no cells.
func (r Report) EmptyShard() bool { return r.Shard != Shard{} && len(r.Cells) == 0 }
