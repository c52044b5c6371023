// Package reports holds what a run found: one tree of cells, checks and
// requirements, of which every output format is a projection. The outcomes are
// a closed set, and whatever can be computed from the checks is computed here,
// never typed. Two runs that saw the same differ only in the fields marked
// volatile.
package reports

import (
	"maps"
	"slices"
	"time"

	"github.com/skewrig/skewrig/harness/release"
)

// APIVersion and Kind say what a report file is, as Kubernetes objects do.
const (
	APIVersion = "skewrig.dev/v1alpha1"
	Kind       = "ConformanceReport"
)

// Report is the result of one run. Assemble makes it; Read reads it back.
type Report struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Reproduce is what it takes to run the same again.
	Reproduce Reproduce `json:"reproduce"`
	// Summary counts the cells by outcome, those of the reference apart.
	Summary Summary `json:"summary"`
	// Problems are what is wrong with the run as a whole rather than with one
	// cell, such as an entry of the known-deviation list that matches nothing.
	// A run with a problem is never reported as expected.
	Problems []string `json:"problems,omitempty"`
	// Partial says why the report is not about all that was asked for: the run was
	// broken off, a shard is missing. Such a report never counts as expected. If
	// unset, it is about everything.
	Partial string `json:"partial,omitempty"`
	// BrokenOff is why cells did not run as often as they were to, as Partial says. If unset, all did, or the report is of
	// a skewrig that did not write it down.
	BrokenOff string `json:"brokenOff,omitempty"`
	// MissingShards are those of which no report was merged, as Partial says. If unset, none is
	// missing, or the report is of a skewrig that did not write them down.
	MissingShards []Shard `json:"missingShards,omitempty"`
	// Shard is which part of the cells was to be run. If unset, all of them.
	Shard Shard `json:"shard,omitzero"`
	// Cells are sorted by id.
	Cells []Cell `json:"cells"`
	// Requirements are sorted by id. A requirement that no cell serves is
	// listed too, as unknown.
	Requirements []Requirement `json:"requirements"`
	// Findings are what is known of deviations that checks name, by weight.
	Findings []Finding `json:"findings,omitempty"`
}

// Reproduce is what it takes to run the same again.
type Reproduce struct {
	// Command is the command line, ready to be pasted into a shell. That of a
	// report that was merged has a line for each command that it took.
	Command string `json:"command"`
	// Files are the scenario files that the command names. If unset, it names none, or
	// is that of a skewrig which did not write them down.
	Files []string `json:"files,omitempty"`
	// Skewrig and Go are the versions of this program and of the toolchain
	// that built it.
	Skewrig string `json:"skewrig"`
	Go      string `json:"go"`
	// Components are sorted by name, then version.
	Components []Component `json:"components"`
	// Provider is what the cells ran on: "cluster" is one that others run. If unset, rigs
	// of skewrig. That of a report that was merged has all, with commas between them.
	Provider string `json:"provider,omitempty"`
	// AllowHost is true if scenarios could reach files, programs and addresses of this machine. If unset, they
	// could not.
	AllowHost bool `json:"allowHost,omitempty"`
	// Sources are the checkouts that stood in for releases. If unset, there were none.
	Sources []Source `json:"sources,omitempty"`
	// Newest and Previous are the releases that scenarios call so. If unset, they are those that this
	// Skewrig has by default.
	Newest   release.Version `json:"newest,omitempty"`
	Previous release.Version `json:"previous,omitempty"`
	// Gates are the feature gates of releases that this Skewrig has no table of, by release, as Source has those of a
	// checkout. If unset, it has all tables.
	Gates map[release.Version]string `json:"gates,omitempty"`
	// Seed is what every random choice of the run derives from.
	Seed int64 `json:"seed"`
	// Host is volatile: the same run on another machine is the same run.
	Host Host `json:"host"`
}

// Shard is a part of the cells, of several that together are all of them.
type Shard struct {
	// Index is which one it is, from 1.
	Index int `json:"index"`
	// Of is how many there are.
	Of int `json:"of"`
}

// Has reports whether a thing of a number, counted from 0, is a shard's own if each takes one in turn. All is if there is one part.
func (s Shard) Has(number int) bool { return s.Of == 0 || number%s.Of == s.Index-1 }

// Component is one binary that took part.
type Component struct {
	// Name is the component's own: "kubelet", "etcd".
	Name string `json:"name"`
	// Version is what the running binary said of itself.
	Version string `json:"version"`
	// Source is where it was built from: a module and its version, or a local
	// checkout and its commit. How it was made otherwise than others of its version
	// stands in parentheses at the end.
	Source string `json:"source"`
	// Digest identifies the binary: "sha256:" and 64 hexadecimal digits.
	Digest string `json:"digest"`
	// Go is the Go that compiled it, as the binary says: HTTP/2 and TLS are Go's. If unset, it is not known.
	Go string `json:"go,omitempty"`
}

// Host is the machine a run took place on.
type Host struct {
	OS          string `json:"os"`
	Arch        string `json:"arch"`
	CPUs        int    `json:"cpus"`
	MemoryBytes int64  `json:"memoryBytes"`
	Kernel      string `json:"kernel"`
}

// Summary counts cells.
type Summary struct {
	// Cells is how many there are, without those of the reference.
	Cells int `json:"cells"`
	// Outcomes has an entry for each outcome, also where the count is zero.
	Outcomes map[Outcome]int `json:"outcomes"`
	// Reference counts the cells of the reference. If unset, there are none, or
	// the report is of a skewrig that counted them with the others.
	Reference ReferenceSummary `json:"reference,omitzero"`
}

// ReferenceSummary counts cells whose subject is no release, but the project's own
// reference.
type ReferenceSummary struct {
	Cells int `json:"cells"`
	// Expected is how many of them have an outcome that is as expected.
	Expected int `json:"expected"`
}

// Cell is one scenario at one point of its axes.
type Cell struct {
	// ID is a path, unique in the report. See package cellid.
	ID string `json:"id"`
	// Scenario names the scenario that the cell was expanded from.
	Scenario string `json:"scenario"`
	// File is the scenario file. If unset, the report is of a skewrig that did not write it
	// down, or the cell is of none.
	File string `json:"file,omitempty"`
	// KEP is the enhancement under test, as "KEP-4939", or the area where
	// there is none.
	KEP string `json:"kep"`
	// Again is the command that runs the cell again, without the report directory. If unset,
	// skewrig run does.
	Again string `json:"again,omitempty"`
	// Axes are the values that make this cell of the scenario.
	Axes map[string]string `json:"axes"`
	// Reference is true if a node of the cell is of version reference: what is
	// judged is the project's own, and is counted apart. See OfReference.
	Reference bool `json:"reference,omitempty"`
	// Outcome follows from the checks (see Cell.Settled). A runner sets it
	// only to say something of the cell as a whole: HarnessError, Unknown,
	// NotTestable or NotApplicable. If unset, the checks decide.
	Outcome Outcome `json:"outcome"`
	// Reason says in a few words why the outcome is not Pass. If unset,
	// Assemble takes it from the check that decided.
	Reason string `json:"reason,omitempty"`
	// StandIns are the components that were compiled with other modules than their releases ask for, with these: what is
	// said of them may be said of a module that stood in. If unset, there were none.
	StandIns []string `json:"standIns,omitempty"`
	// Requirements are the ids that the cell's checks serve, sorted. A runner
	// sets them to what the scenario promises to serve, so that a cell that
	// never got as far as a check is held against them; Assemble adds those of
	// the checks.
	Requirements []string `json:"requirements"`
	// Checks are in the scenario's order.
	Checks []Check `json:"checks"`
	// Observed is what the probes of the cell did, in order. See Matrix.
	Observed []Observation `json:"observed,omitempty"`
	// Leases are how old the leases of simulated nodes got, by zone.
	Leases []ZoneLeases `json:"leases,omitempty"`
	// Pictures are SVG files that older releases of skewrig left. It is read so that
	// their reports can be.
	Pictures []string `json:"pictures,omitempty"`
	// Unfinished is true if the cell did not run to its end because the whole run
	// was broken off. It says nothing of the subject then, and another run of the
	// cell takes its place. See Join.
	Unfinished bool `json:"unfinished,omitempty"`
	// MissingRuns is how many of its runs did not come about because the whole run was broken off. If unset, none.
	MissingRuns int `json:"missingRuns,omitempty"`
	// Runs are the runs of a cell that was run more than once, sorted by number.
	// Everything above then follows from them, and so does Rate. If unset, the
	// cell is its only run.
	Runs []Run `json:"runs,omitempty"`
	// Rate is in how many of its runs the cell failed, and how often it may be
	// expected to. If unset, there are no Runs, or none of them was judged.
	Rate Rate `json:"rate,omitzero"`
	// Differs is where good and bad runs first differ. If unset, there are not both, or
	// no such place was found.
	Differs Difference `json:"differs,omitzero"`
	// Compared is how it differs from another cell. If unset, it is compared with none.
	Compared Compared `json:"compared,omitzero"`
	// Started is volatile. It is in UTC, to the millisecond, and zero for a
	// cell that never started. Of a cell with Runs it is that of the first.
	Started time.Time `json:"started,omitzero"`
	// DurationSeconds is volatile. It is rounded to the millisecond. Of a cell
	// with Runs it is their mean.
	DurationSeconds float64 `json:"durationSeconds"`
}

// Check is the judgement of one promise. None of its texts may say when
// something happened, or how long it took: they are not volatile.
type Check struct {
	// ID is unique in its cell. It is made of the same characters as the id of
	// a cell: see package cellid.
	ID string `json:"id"`
	// Requirement is the id of the requirement that the check serves. Empty
	// where it serves none.
	Requirement string  `json:"requirement,omitempty"`
	Outcome     Outcome `json:"outcome"`
	// Asserts is what must hold, as data: Expected says it in a sentence. If unset, the check is none of a
	// scenario, or the report is of a skewrig that had only the sentence. See Expectation.
	Asserts Assertion `json:"asserts,omitzero"`
	// Expected and Observed are what should have been seen and what was.
	Expected string `json:"expected"`
	Observed string `json:"observed"`
	// Reason says why the outcome is what it is, where that is not plain from
	// the two: the entry of the known-deviation list, why a check does not
	// apply, what kept it from being judged, how many of how many runs failed.
	Reason string `json:"reason,omitempty"`
	// Finding is the id of the known deviation that explains the outcome. If unset,
	// none does, or one without an id.
	Finding string `json:"finding,omitempty"`
	// Like is the id of a known deviation of the same check in other cells of the
	// scenario, of one that failed and that none explains. If unset, there is none.
	Like string `json:"like,omitempty"`
}

// Requirement is one sentence of an enhancement proposal, and what the run's
// cells say about it.
type Requirement struct {
	ID string `json:"id"`
	// KEP is the enhancement that the sentence is from.
	KEP string `json:"kep"`
	// Level is how binding the sentence is: "core", "extended" or
	// "provisional".
	Level string `json:"level"`
	// Stage is the graduation stage from which it holds: "alpha", "beta" or
	// "stable".
	Stage string `json:"stage"`
	// Statement is the sentence, as its source has it.
	Statement string `json:"statement"`
	// Source is where the sentence stands: a link with a commit in it.
	Source string `json:"source"`
	// Document is the text that the sentence is from, Lines where in it the words
	// stand that say it, from 1. If no text says it, both are empty and Beyond says
	// where else it is from.
	Document string `json:"document,omitempty"`
	Lines    []int  `json:"lines,omitempty"`
	Beyond   string `json:"beyond,omitempty"`
	// Contradicts are the ids of statements of the same text that no release can
	// satisfy together with this one. If unset, there are none. See Readings.
	Contradicts []string `json:"contradicts,omitempty"`
	// PRR is the question of the production-readiness review that the sentence
	// answers. If unset, none.
	PRR string `json:"prr,omitempty"`
	// Excluded is why no check can prove the sentence, Manual who must do what
	// instead of a check. If both are unset, a check must prove it.
	Excluded string `json:"excluded,omitempty"`
	Manual   string `json:"manual,omitempty"`
	// Outcome is computed by Assemble (see RequirementOutcome).
	Outcome Outcome `json:"outcome"`
	// Cells are the ids of the cells that serve the requirement, sorted. It is
	// computed by Assemble.
	Cells []string `json:"cells"`
}

// Unfinished is how many cells did not run to their end because the whole run was
// broken off.
func (r Report) Unfinished() (n int) {
	for _, c := range r.Cells {
		if c.Unfinished {
			n++
		}
	}
	return n
}

// finished is how many runs of a cell have ended.
func (c Cell) finished() int {
	if c.Unfinished {
		return 0
	}
	return len(c.EachRun())
}

// wanted is how often a cell was to run.
func (c Cell) wanted() int { return max(c.finished()+c.MissingRuns, 1) }

func (c Cell) clone() Cell {
	c.Axes = maps.Clone(c.Axes)
	c.StandIns = slices.Clone(c.StandIns)
	c.Requirements = slices.Clone(c.Requirements)
	c.Checks = slices.Clone(c.Checks)
	c.Observed = slices.Clone(c.Observed)
	c.Leases = slices.Clone(c.Leases)
	c.Compared.Distinctions = slices.Clone(c.Compared.Distinctions)
	c.Runs = slices.Clone(c.Runs)
	for i, run := range c.Runs {
		c.Runs[i].Checks = slices.Clone(run.Checks)
	}
	return c
}
