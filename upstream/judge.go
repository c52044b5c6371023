package upstream

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
)

// Rig is what the specs ran on.
type Rig struct {
	// ControlPlane and Kubelet are its releases.
	ControlPlane, Kubelet release.Version
	// Runtime is the container runtime of its node (record.Runtimes). If unset, the simulated one.
	Runtime string
}

// runtime is the name of its container runtime.
func (r Rig) runtime() string { return cmp.Or(r.Runtime, record.Simulated) }

// Area is the first segment of the ids of cells that are specs of upstream.
const Area = "upstream"

// CheckID is the id of the one check of such a cell.
const CheckID = "spec"

// CellID is the id of the cell that a spec is on a rig.
func (r Rig) CellID(s Spec) string {
	id := fmt.Sprintf("%s/%s/apiserver:%s/kubelet:%s", Area, s.ID, r.ControlPlane, r.Kubelet)
	if r.Runtime != "" {
		id += "/runtime:" + r.Runtime
	}
	return id
}

// axes are the axes of the cells on a rig, with their values.
func (r Rig) axes() map[string]string {
	axes := map[string]string{"apiserver": string(r.ControlPlane), "kubelet": string(r.Kubelet)}
	if r.Runtime != "" {
		axes["runtime"] = r.Runtime
	}
	return axes
}

// Attempt is one run of a spec, in a process of its own.
type Attempt struct {
	// Report is what Ginkgo reported. If unset, it reported nothing.
	Report Report
	// Ended says how the process ended, if there is no report of the spec.
	Ended string
	// BrokenOff is true if it ended because the whole run did.
	BrokenOff bool
}

// Judge turns an attempt at a spec into a cell. Without an attempt, the spec was not run, as
// was expected of it; if that was not expected, nothing is known of it.
func Judge(s Spec, on Rig, attempt *Attempt, expected *Expectation) reports.Cell {
	check := reports.Check{ID: CheckID, Expected: s.Name + " passes"}
	cell := reports.Cell{ID: on.CellID(s), Scenario: Area + "/" + s.ID, KEP: Area, Axes: on.axes()}
	switch {
	case attempt != nil:
		ran := attempt.of(s)
		check.Outcome, check.Observed, check.Reason = ran.verdict(attempt.Ended)
		cell.Started, cell.DurationSeconds = ran.Started, ran.Took.Seconds()
		cell.Unfinished = attempt.BrokenOff && check.Outcome == reports.Unknown
		if expected != nil {
			check = expected.apply(check)
		}
	case expected != nil && expected.NotRun:
		check.Outcome, check.Observed, check.Reason = reports.NotApplicable, "it was not run", "not run: "+expected.Reason
	default:
		check.Outcome, check.Observed, check.Reason = reports.Unknown, "it was not run", "the run ended before it"
		cell.Unfinished = true
	}
	cell.Checks = []reports.Check{check}
	return cell
}

// of is what the attempt reports of a spec: the worst, if there are several of its name.
func (a Attempt) of(s Spec) (worst Ran) {
	for _, r := range a.Report {
		if r.Name == s.Name && (worst.Name == "" || r.outcome().Compare(worst.outcome()) > 0) {
			worst = r
		}
	}
	return worst
}

func (r Ran) outcome() reports.Outcome {
	switch r.State {
	case Passed:
		return reports.Pass
	case Skipped, Pending:
		return reports.NotApplicable
	case Failed, TimedOut, Panicked:
		return reports.Fail
	}
	return reports.Unknown
}

// verdict is what comes of a run of a spec, by itself.
func (r Ran) verdict(ended string) (outcome reports.Outcome, observed, reason string) {
	outcome = r.outcome()
	said := r.said()
	switch outcome {
	case reports.Pass:
		return outcome, "it passed", ""
	case reports.NotApplicable:
		return outcome, "it skipped itself", cmp.Or(said, string(r.State))
	case reports.Fail:
		return outcome, cmp.Or(said, string(r.State)), ""
	}
	return outcome, cmp.Or(said, "there is no result of it"), cmp.Or(ended, "it did not come to its end: "+string(r.State))
}

// apply holds a check against an expectation.
func (e *Expectation) apply(check reports.Check) reports.Check {
	switch check.Outcome {
	case reports.Fail:
		check.Outcome, check.Reason = reports.ExpectedFail, e.Reason
	case reports.Pass:
		check.Outcome, check.Reason = reports.UnexpectedPass, "it was expected to fail: "+e.Reason
	}
	return check
}

// maxSaid is how much of a message is kept, in bytes: all of it is in the spec's own report.
const maxSaid = 300

// said is where and why a spec did not pass, in a line.
func (r Ran) said() string {
	var lines []string
	for line := range strings.Lines(r.Message) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	said := steady(strings.Join(lines, " "))
	if len(said) > maxSaid {
		said = strings.ToValidUTF8(said[:maxSaid], "") + "…"
	}
	if r.Place != "" && r.State != Skipped {
		said = r.Place + ": " + said
	}
	return said
}

// volatile is what is another one in each run of a spec.
var volatile = []struct {
	is   *regexp.Regexp
	text string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`\b\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d[^\s"]*`), "TIME"},
	{regexp.MustCompile(`\b0x[0-9a-f]{6,}\b`), "POINTER"},
	{regexp.MustCompile(`\b\d+\.\d+m?s\b`), "DURATION"},
	{regexp.MustCompile(`\b127\.\d+\.\d+\.\d+\b`), "ADDRESS"},
	{regexp.MustCompile(`([a-z])-\d{2,5}\b`), "$1-N"},
}

// steady is a text without what is another one in each run: reports of the same are the same.
func steady(text string) string {
	for _, v := range volatile {
		text = v.is.ReplaceAllString(text, v.text)
	}
	return text
}

// Problems are what is wrong with the list of expectations for a release whose specs are these.
func (all Expectations) Problems(specs []Spec) (problems []string) {
	for _, expression := range slices.Compact(slices.Sorted(slices.Values(all.Unmatched(specs)))) {
		problems = append(problems, fmt.Sprintf("no spec has a name that matches %q, of which the list of expectations says that it can't pass", expression))
	}
	return problems
}
