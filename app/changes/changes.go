// Package changes says what a release changes, as far as the stages of skewrig release have
// shown it: reports, sweeps, gates and graduations go in, and a document comes out, the worst
// first. It is pure.
package changes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/changed"
	"github.com/skewrig/skewrig/reports/graduation"
	"github.com/skewrig/skewrig/sweep/gated"
	"github.com/skewrig/skewrig/sweep/trial"
)

// Input is what the stages have left. What is unset has not run.
type Input struct {
	Release, Since release.Version
	Stages         []changed.Stage
	// Gates are how the gates and the API differ.
	Gates *gated.Difference
	// Catalog and Upstream are the reports of skewrig's own cells, and of Kubernetes' own specs.
	Catalog, Upstream *reports.Report
	// Baseline is the report of the catalog on Since.
	Baseline *reports.Report
	// Sweeps are by the names of their stages.
	Sweeps      map[string]trial.Result
	Graduations []graduation.Result
}

// Of makes the document. A section without lines is left out.
func Of(in Input) changed.Document {
	d := changed.Document{Release: in.Release, Since: in.Since, Sections: []changed.Section{}, Stages: in.Stages}
	for _, s := range slices.Concat(in.judged(), in.differences(), in.rest()) {
		if len(s.Lines) > 0 {
			d.Sections = append(d.Sections, s)
		}
	}
	return d
}

// judged are the sections of what does not do what it should.
func (in Input) judged() []changed.Section {
	return []changed.Section{
		{Title: "New nonconformances", Note: "A check that is not known to fail. Read the page of the cell first: it may be the scenario that supposes too much.", Lines: append(in.checks(in.Catalog, CatalogStage, reports.Fail), in.checks(in.Catalog, CatalogStage, reports.Flaky)...)},
		{Title: "Findings of sweeps", Note: "Objects with a gated field that something does wrong with: each was seen again with the gates of the field alone.", Lines: in.swept()},
		{Title: "Specs of Kubernetes itself that fail", Note: "Its own tests, on this release's components.", Lines: in.checks(in.Upstream, UpstreamStage, reports.Fail)},
		{Title: "Done otherwise than before", Note: "The outcome of a check is another one than on the release before, whatever is known of it.", Lines: in.otherwise()},
		{Title: "Known deviations that are gone", Note: "The release does what the text says. Look whether the check still looked at anything, then close the range.", Lines: in.checks(in.Catalog, CatalogStage, reports.UnexpectedPass)},
	}
}

// The names of the stages.
const (
	BuildStage    = "build"
	GatesStage    = "gates"
	CatalogStage  = "catalog"
	UpstreamStage = "upstream"
	SweepStage    = "sweep"
	RollbackStage = "rollback"
	UpgradeStage  = "upgrade"
)

// checks are those of a report that came out so.
func (in Input) checks(r *reports.Report, stage string, outcome reports.Outcome) (lines []changed.Line) {
	if r == nil {
		return nil
	}
	for _, c := range r.Cells {
		for _, check := range c.Checks {
			if check.Outcome == outcome {
				lines = append(lines, changed.Line{What: c.ID + ": " + check.ID, Detail: cmp.Or(check.Observed, check.Reason), Link: stage + "/index.html"})
			}
		}
	}
	return lines
}

func (in Input) swept() (lines []changed.Line) {
	for _, stage := range []string{RollbackStage, UpgradeStage, SweepStage} {
		s, ran := in.Sweeps[stage]
		if !ran {
			continue
		}
		for _, f := range s.Findings {
			lines = append(lines, changed.Line{What: f.Signature(), Detail: fmt.Sprintf("%s, in %s", reports.Counted(len(f.Items), "place"), change(s)), Link: stage + "/index.html"})
		}
	}
	return lines
}

// change is what a sweep did.
func change(s trial.Result) string {
	if s.To == "" {
		return fmt.Sprintf("a sweep of the gates of %s, turned off and on", s.Version)
	}
	return fmt.Sprintf("a sweep from %s to %s and back", s.Version, s.To)
}

// otherwise are the checks of cells that ran on the release before as well, with another outcome.
func (in Input) otherwise() (lines []changed.Line) {
	if in.Catalog == nil || in.Baseline == nil {
		return nil
	}
	was := make(map[string]reports.Outcome)
	for _, c := range in.Baseline.Cells {
		for _, check := range c.Checks {
			was[in.asNow(c.ID)+" "+check.ID] = check.Outcome
		}
	}
	for _, c := range in.Catalog.Cells {
		for _, check := range c.Checks {
			before, ran := was[c.ID+" "+check.ID]
			if ran && before != check.Outcome && before.Judged() && check.Outcome.Judged() {
				lines = append(lines, changed.Line{What: c.ID + ": " + check.ID, Detail: fmt.Sprintf("%s, was %s: %s", check.Outcome, before, cmp.Or(check.Observed, check.Reason)), Link: CatalogStage + "/index.html"})
			}
		}
	}
	return lines
}

// asNow is the id of a cell of the baseline with the releases of today in the place of its own.
func (in Input) asNow(id string) string {
	newest, previous := in.Baseline.Reproduce.Newest, in.Baseline.Reproduce.Previous
	var parts []string
	for part := range strings.SplitSeq(id, "/") {
		axis, value, is := strings.Cut(part, ":")
		switch {
		case is && value == string(newest):
			part = axis + ":" + string(in.Release)
		case is && value == string(previous):
			part = axis + ":" + string(in.Since)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "/")
}

// differences are the sections of what is otherwise by intention.
func (in Input) differences() []changed.Section {
	if in.Gates == nil {
		return nil
	}
	short := in.Gates.Short()
	link := GatesStage + "/index.json"
	var defaults, gone, locked, fields []changed.Line
	for _, c := range short.Gates {
		switch c.What {
		case gated.Removed:
			gone = append(gone, changed.Line{What: c.Name, Detail: "was " + c.From, Link: link})
		case "lock":
			locked = append(locked, changed.Line{What: c.Name, Detail: c.To, Link: link})
		case gated.Added:
			defaults = append(defaults, changed.Line{What: c.Name, Detail: "new: " + c.To, Link: link})
		default:
			defaults = append(defaults, changed.Line{What: c.Name, Detail: c.From + " -> " + c.To, Link: link})
		}
	}
	for _, c := range short.Fields {
		fields = append(fields, changed.Line{What: c.Name, Detail: c.To, Link: link})
	}
	return []changed.Section{
		{Title: "Defaults that change", Note: "What is on now, and was not, acts in each cluster that is upgraded.", Lines: defaults},
		{Title: "Gates that are gone", Note: "A component that sets one does not start: take them out of command lines.", Lines: gone},
		{Title: "Gates that are locked", Note: "A component that sets one otherwise does not start.", Lines: locked},
		{Title: "Fields that are new", Note: "With the gate that guards them, if one does.", Lines: fields},
	}
}

// rest are the sections of what is known besides.
func (in Input) rest() []changed.Section {
	var graduations, unfit, lost []changed.Line
	for _, r := range in.Graduations {
		detail := fmt.Sprintf("%d met, %d contradicted, %d without evidence", r.Count(graduation.Met), r.Count(graduation.Contradicted), r.Count(graduation.NoEvidence))
		if r.Gate != nil {
			detail = r.Gate.Of(r.GateName) + "; " + detail
		}
		graduations = append(graduations, changed.Line{What: r.KEP + ", " + r.Stage, Detail: detail, Link: GraduateStage(r.KEP) + "/index.json"})
	}
	if in.Catalog != nil {
		for _, c := range in.Catalog.Cells {
			switch {
			case c.Outcome == reports.NotApplicable:
				unfit = append(unfit, changed.Line{What: c.ID, Detail: c.Reason})
			case !c.Outcome.Judged():
				lost = append(lost, changed.Line{What: c.ID, Detail: c.Reason, Link: CatalogStage + "/index.html"})
			}
		}
	}
	for _, s := range in.Stages {
		if s.Exit != nil && !s.Ended() {
			lost = append(lost, changed.Line{What: "stage " + s.Name, Detail: s.Said})
		}
	}
	return []changed.Section{
		{Title: "Enhancements", Note: "What the gate is, and what the next stage has of its criteria.", Lines: graduations},
		{Title: "Not judged", Note: "Nothing is said of these. What is missing is no difference between the releases.", Lines: lost},
		{Title: "Scenarios that don't fit", Note: "The pair of releases can't run them: the rule says why.", Lines: unfit},
	}
}

// GraduateStage is the name of the stage that judges an enhancement.
func GraduateStage(kep string) string { return "graduate-" + strings.ToLower(kep) }
