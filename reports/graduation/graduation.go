// Package graduation judges whether an enhancement has what its next stage asks
// for: criteria and saved runs go in, verdicts are returned. It is pure. What is not
// shown by a cell is not met, and what no run can show is left to a person.
package graduation

import (
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports/cellid"
	"github.com/skewrig/skewrig/reports/evidence"
)

// Stages are the stages of an enhancement, in order.
func Stages() []string { return []string{"alpha", "beta", "stable"} }

// Enhancement is an enhancement (KEP) with its criteria.
type Enhancement struct {
	// KEP is "KEP-4939".
	KEP string
	// Gate is the feature gate, as releases call it.
	Gate string
	// Components are the programs that have the gate.
	Components []string
	// Milestones are the releases in which it reaches a stage, such as "v1.90". A
	// stage without one has no release yet.
	Milestones map[string]string
	// Released is the gate in the newest release of the runs. If unset, it is not known.
	Released *Released
	Criteria []Criterion
	// Questions are those of the production readiness review.
	Questions []Question
}

// Released is a feature gate in a release.
type Released struct {
	Release release.Version `json:"release"`
	// Stage is "alpha", "beta", "stable" or "deprecated". If unset, the release has no such gate.
	Stage string `json:"stage,omitempty"`
	// Default is whether it is on unless it is set, and Locked whether it can't be set to anything else.
	Default bool `json:"default"`
	Locked  bool `json:"locked"`
}

// Question is a question of the production readiness review, with its answer.
type Question struct {
	Question string `json:"question"`
	// Answer is a sentence or two that say no more than the statements of By prove.
	// It begins with "Yes.", "No." or "Open.", unless the question asks for more.
	Answer string `json:"answer"`
	// By are the ids of statements. If unset, the answer is open.
	By []string `json:"by,omitempty"`
	// Statement, if given, holds if the cells that match pass. They are cells
	// outside the enhancement's ledger.
	Statement string           `json:"statement,omitempty"`
	Match     []cellid.Pattern `json:"match,omitempty"`
}

// Criterion is one thing that a stage asks for. It is met when everything that
// is set below Source is.
type Criterion struct {
	ID    string
	Stage string
	// Statement is in our own words, Source the section that asks for it.
	Statement string
	Source    string
	// Requirements are statements of the ledger that must all be proved.
	Requirements []string
	Cells        *Cells
	Repeated     *Repeated
	// Older is true where older releases are the point: cells on all releases that
	// have the feature count.
	Older bool
	// Gap is what nothing in the catalog shows yet. If set, there is no evidence.
	Gap    string
	Person *Person
}

// Cells are cells that must have run, and passed.
type Cells struct {
	Match []cellid.Pattern `json:"match"`
	// Releases are those of which each minor version must have taken part in one of them: words
	// such as newest, previous and n-2, milestone for that of the stage, or a minor version.
	Releases []string `json:"releases,omitempty"`
}

// Repeated are cells that must have passed again and again.
type Repeated struct {
	Match []cellid.Pattern `json:"match"`
	// Runs is how often at least, Days on how many different days (in UTC).
	Runs int `json:"runs"`
	Days int `json:"days"`
}

// Person is who has to do what no run can.
type Person struct {
	Who  string `json:"who"`
	What string `json:"what"`
}

// Status is the outcome of a criterion.
type Status string

// The closed set.
const (
	// Contradicted means that a check did not hold.
	Contradicted Status = "contradicted"
	// NoEvidence means that nothing contradicts it, and that something has not run,
	// was not judged, or is not in the catalog.
	NoEvidence Status = "no evidence"
	// Ambiguous means that the text also asks for the opposite, which releases do. Only
	// its authors can mend that.
	Ambiguous Status = "ambiguous"
	// NeedsPerson means that no run decides it.
	NeedsPerson Status = "needs a person"
	Met         Status = "met"
)

// Statuses are all of them, what is to be done first.
func Statuses() []Status { return []Status{Contradicted, NoEvidence, Ambiguous, NeedsPerson, Met} }

// Verdict is the status of a criterion, and its evidence.
type Verdict struct {
	ID        string `json:"id"`
	Statement string `json:"statement"`
	Source    string `json:"source"`
	Status    Status `json:"status"`
	// Proof is what holds, Against what does not, Missing what is not known.
	Proof   []evidence.Finding       `json:"proof"`
	Against []evidence.Contradiction `json:"against"`
	Missing []Missing                `json:"missing"`
	// Ambiguous is what does not hold because the text asks for the opposite, too.
	Ambiguous []evidence.Contradiction `json:"ambiguous,omitempty"`
	Repeats   []Repeats                `json:"repeats,omitempty"`
	Person    *Person                  `json:"person,omitempty"`
}

// Missing is something that no run shows.
type Missing struct {
	What string `json:"what"`
	// Command would run it. If unset, nothing in the catalog would.
	Command string `json:"command,omitempty"`
}

// Repeats is how often a cell ran, and when.
type Repeats struct {
	Cell string `json:"cell"`
	Runs int    `json:"runs"`
	// Days are the dates, as 2026-11-22, on which it did.
	Days []string `json:"days"`
}

// Result is what runs show of an enhancement's next stage.
type Result struct {
	KEP   string `json:"kep"`
	Stage string `json:"stage"`
	// Milestone is the release that is to have the stage. If unset, it is not
	// known.
	Milestone string `json:"milestone,omitempty"`
	// Gate is the gate in the newest release of the runs. If unset, it is not known.
	Gate *Released `json:"gate,omitempty"`
	// GateName is what releases call it.
	GateName string `json:"gateName,omitempty"`
	// Since is the first release that counted as evidence: that of the milestone
	// if it ran, otherwise that of the stage before.
	Since string `json:"since"`
	// Releases are those that counted, with the number of cells.
	Releases []Release `json:"releases"`
	Reports  []Report  `json:"reports"`
	// LeftOut are the cells that did not count.
	LeftOut  []evidence.LeftOut `json:"leftOut"`
	Verdicts []Verdict          `json:"verdicts"`
}

// Release is a release that ran in some cells.
type Release struct {
	Version string `json:"version"`
	Cells   int    `json:"cells"`
}

// Report is a report that was given.
type Report struct {
	Dir string `json:"dir"`
	// Command is what made it; Cells is how many of its cells counted.
	Command string `json:"command"`
	Cells   int    `json:"cells"`
}

// Count returns how many criteria have a status.
func (r Result) Count(s Status) int {
	n := 0
	for _, v := range r.Verdicts {
		if v.Status == s {
			n++
		}
	}
	return n
}

// The exit codes of a result.
const (
	ExitMet       = 0
	ExitUnmet     = 1
	ExitNotJudged = 2
)

// ExitCode is 0 if all criteria are met, but for those that need a person or are
// ambiguous; 1 if a cell contradicts one; 2 if none does, and evidence is missing.
// Strict makes one that needs a person, or is ambiguous, 1.
func (r Result) ExitCode(strict bool) int {
	switch {
	case r.Count(Contradicted) > 0:
		return ExitUnmet
	case len(r.Verdicts) == 0 || r.Count(NoEvidence) > 0:
		return ExitNotJudged
	case strict && r.Count(NeedsPerson)+r.Count(Ambiguous) > 0:
		return ExitUnmet
	default:
		return ExitMet
	}
}
