// Package evidence says what saved runs show of an enhancement: which cells
// count, and what their checks say of a statement. It is pure: reports and facts
// go in, findings are returned.
//
// Not every cell counts. The reference is no evidence of a release;
// neither is a release from before the feature; and where a scenario ran on
// several releases, the newest of them decides.
package evidence

import (
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports"
)

// Run is a saved run.
type Run struct {
	// Dir is the report directory, as it was named.
	Dir    string
	Report reports.Report
	// Facts are what the records of cells say, by the ids of the cells. A cell
	// without a record that can be read has none.
	Facts map[string]Facts
}

// Releases are those of the runs with the newest pair. Without runs that say so, they are the default ones.
func Releases(runs []Run) (r release.Releases) {
	for _, run := range runs {
		if of := run.Report.Reproduce; of.Newest.Compare(r.Newest) > 0 {
			r = release.Releases{Newest: of.Newest, Previous: of.Previous}
		}
	}
	return r
}

// Facts are what the record of a cell says, beyond its checks.
type Facts struct {
	// Components are in the order in which they were first started.
	Components []Component `json:"components"`
	// Steps are the steps of the plan as it was printed, with what changes by each,
	// and without what is checked. If unset, they are not known.
	Steps []string `json:"steps,omitempty"`
	// Traffic is what was sent.
	Traffic Traffic `json:"traffic"`
}

// Component is a component that took part in a cell.
type Component struct {
	// Name is as the record has it: "kubelet/node-a".
	Name string `json:"name"`
	// Starts are what it was started as, in order. A start as what it was before
	// is not among them.
	Starts []Start `json:"starts"`
}

// Start is what a component was started as.
type Start struct {
	// Version is what the binary said of itself, or "reference".
	Version string `json:"version"`
	// EmulatedVersion is the minor version that it emulated. If unset, none.
	EmulatedVersion string `json:"emulatedVersion,omitempty"`
	// Digest identifies the binary. If unset, it is not known.
	Digest string          `json:"digest,omitempty"`
	Gates  map[string]bool `json:"gates,omitempty"`
}

// Release is the version, with what it emulated.
func (s Start) Release() string {
	return release.Effective{Version: release.Version(s.Version), Emulated: release.Version(s.EmulatedVersion)}.String()
}

// Traffic counts what was sent in a cell.
type Traffic struct {
	// Containers were connected to by probes or others, Connections so often,
	// with so many Requests in them.
	Containers  int `json:"containers"`
	Connections int `json:"connections"`
	Requests    int `json:"requests"`
	// APICalls are requests of the scenario's steps to the API server.
	APICalls int `json:"apiCalls"`
	// PodsAPIAnswers are answers of a kubelet's Pods API that were recorded, and
	// events of its watches. An answer that repeats the one before is not.
	PodsAPIAnswers int `json:"podsAPIAnswers"`
}

// reference is the version of a kubelet that has our Pods API server.
const reference = "reference"

// Started adds what the component was started as, unless it was that before.
func (c *Component) Started(s Start) {
	if n := len(c.Starts); n > 0 && c.Starts[n-1].Release() == s.Release() && maps.Equal(c.Starts[n-1].Gates, s.Gates) {
		return
	}
	c.Starts = append(c.Starts, s)
}

// Program is the component's name without its node.
func (c Component) Program() string {
	name, _, _ := strings.Cut(c.Name, "/")
	return name
}

// Releases are the minor versions of all components of Kubernetes that took
// part, such as "v1.90", sorted. That of etcd is not among them.
func (f Facts) Releases() []string {
	var all []string
	for _, c := range f.Components {
		for _, s := range c.Starts {
			if c.Program() != "etcd" && semver.IsValid(s.Version) {
				all = append(all, semver.MajorMinor(s.Version))
			}
		}
	}
	semver.Sort(all)
	return slices.Compact(all)
}

// Subject is the feature that evidence is wanted of.
type Subject struct {
	// Components are the programs that have the feature, such as "kubelet".
	Components []string
	// Since is the first release that counts, such as "v1.90".
	Since string
	// Older is true where older releases are the point, as in a question of skew:
	// what ran on one is not left out for a newer one.
	Older bool
}

// release returns the newest release of the subject's components in a cell,
// empty if none is known, and whether the reference took part.
func (s Subject) release(facts Facts, axes map[string]string) (newest string, ofReference bool) {
	consider := func(component, version string) {
		ofReference = ofReference || version == reference
		if slices.Contains(s.Components, component) && semver.IsValid(version) && semver.Compare(version, newest) > 0 {
			newest = version
		}
	}
	for _, c := range facts.Components {
		for _, start := range c.Starts {
			consider(c.Program(), start.Version)
		}
	}
	if len(facts.Components) > 0 {
		return newest, ofReference
	}
	// Without a record, what the cell's id says is the least that ran.
	consider("kubelet", axes["kubelet"])
	consider("kube-apiserver", axes["apiserver"])
	return newest, ofReference
}

// Cell is a cell that counts.
type Cell struct {
	reports.Cell

	// Report is the directory of the report that it is from.
	Report string
	Facts  Facts
	// Release is the newest release of the subject's components that took part.
	Release string
}

// Planned is a cell that can be run.
type Planned struct {
	ID, Scenario string
	Axes         map[string]string
	// Requirements are those that its checks serve.
	Requirements []string
	// Facts have the components that it starts.
	Facts Facts
}

// Why a cell does not count.
const (
	OfReference = "the reference took part: it shows that a check can pass, and nothing of a release"
	Unrecorded  = "which releases ran is not known: the cell's record is missing"
	Before      = "it ran on releases before the feature, or before its stage"
	Superseded  = "the same scenario ran on a newer release, which decides"
	Again       = "the same runs appear twice"
)

// LeftOut is a reason for which cells do not count.
type LeftOut struct {
	Why   string   `json:"why"`
	Cells []string `json:"cells"`
}

// Select returns the cells of runs that count as evidence of a subject, in the
// order of the runs, and why the others don't. Wanted says which cells are of
// interest.
func Select(runs []Run, s Subject, wanted func(reports.Cell) bool) (cells []Cell, leftOut []LeftOut) {
	left := make(map[string][]string)
	for _, run := range runs {
		for _, c := range run.Report.Cells {
			if !wanted(c) {
				continue
			}
			facts := run.Facts[c.ID]
			release, why := s.counts(facts, c.Axes)
			if why != "" {
				left[why] = append(left[why], c.ID)
				continue
			}
			cells = append(cells, Cell{Cell: c, Report: run.Dir, Facts: facts, Release: release})
		}
	}
	cells, left[Again] = withoutAgain(cells)
	newest := make(map[string]string)
	for _, c := range cells {
		newest[c.Scenario] = newer(newest[c.Scenario], c.Release)
	}
	cells = slices.DeleteFunc(cells, func(c Cell) bool {
		old := !s.Older && semver.Compare(c.Release, newest[c.Scenario]) < 0
		if old {
			left[Superseded] = append(left[Superseded], c.ID)
		}
		return old
	})
	for _, why := range []string{OfReference, Unrecorded, Before, Superseded, Again} {
		if ids := left[why]; len(ids) > 0 {
			slices.Sort(ids)
			leftOut = append(leftOut, LeftOut{Why: why, Cells: slices.Compact(ids)})
		}
	}
	return cells, leftOut
}

// Ground is what a subject is judged on: the cells that count, why others don't, and the planned cells that would
// count if they ran.
type Ground struct {
	Cells   []Cell
	LeftOut []LeftOut
	Catalog []Planned
}

// GroundOf is what runs and a catalog have of a subject. Wanted says which cells are of interest at all.
func GroundOf(runs []Run, catalog []Planned, s Subject, wanted func(reports.Cell) bool) Ground {
	cells, leftOut := Select(runs, s, wanted)
	return Ground{cells, append([]LeftOut{}, leftOut...), Eligible(catalog, s)}
}

// Eligible returns those of the planned cells that would count if they ran.
func Eligible(planned []Planned, s Subject) []Planned {
	newest := make(map[string]string)
	var eligible []Planned
	for _, p := range planned {
		if release, why := s.counts(p.Facts, p.Axes); why == "" {
			eligible = append(eligible, p)
			newest[p.Scenario] = newer(newest[p.Scenario], release)
		}
	}
	return slices.DeleteFunc(eligible, func(p Planned) bool {
		release, _ := s.counts(p.Facts, p.Axes)
		return !s.Older && semver.Compare(release, newest[p.Scenario]) < 0
	})
}

func newer(a, b string) string {
	if semver.Compare(a, b) < 0 {
		return b
	}
	return a
}

// counts returns the release of a cell, and why it does not count, if so.
func (s Subject) counts(facts Facts, axes map[string]string) (release, why string) {
	release, ofReference := s.release(facts, axes)
	switch {
	case ofReference:
		why = OfReference
	case release == "":
		why = Unrecorded
	case semver.Compare(release, s.Since) < 0:
		why = Before
	}
	return release, why
}

// Ref is a cell of a run, as something to look up.
type Ref struct {
	Cell string `json:"cell"`
	// Report is the directory of the report, Path that of the cell below it.
	Report  string          `json:"report"`
	Path    string          `json:"path"`
	Release string          `json:"release"`
	Outcome reports.Outcome `json:"outcome"`
	Started time.Time       `json:"started,omitzero"`
}

// Ref returns where the cell can be looked up.
func (c Cell) Ref() Ref {
	return Ref{
		Cell: c.ID, Report: c.Report, Path: path.Join(c.Report, reports.RunDir(c.ID, 1)),
		Release: c.Release, Outcome: c.Outcome, Started: c.Started,
	}
}
