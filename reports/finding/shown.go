package finding

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// Shown is what the record of a cell has of a finding.
type Shown struct {
	Cell, Check string
	// Cause is what happened, and Because what led to it, in sentences.
	Cause   string
	Because []string
	// Led is what led to it, in time.
	Led []Moment
	// Controls are checks of the cell that passed, those first that are most like the one
	// that did not. More is how many others passed.
	Controls []reports.Check
	More     int
	// Config is what the rig was made of, and the probes that matter, a line each.
	Config []string
	// Fake says what was not real.
	Fake string
	// NotRun are the releases that the texts of the finding name and that did not run.
	NotRun []string
	// Cells is in how many cells of the run the checks of the finding were judged, and Values
	// are those of the cell's axes.
	Cells  int
	Values []string
}

// maxControls is how many checks are shown that passed.
const maxControls = 3

// shownBy is what a narration has of a check that a finding explains.
func shownBy(n *narrate.Narration, s redCheck, f Finding) Shown {
	seen := viewOf(n, s.check)
	of := Shown{Cell: s.cell.ID, Check: s.check.ID, Cause: seen.looked.Cause, Because: seen.looked.Because, Led: seen.led(), Values: valuesOf(s.cell), Fake: fakeIn(n)}
	of.Controls, of.More = controls(s.cell, s.check)
	of.Config = slices.Clone(n.Rig)
	for _, p := range seen.looked.Probes {
		of.Config = append(of.Config, p.What+": "+p.Text)
	}
	cells := make(map[string]bool)
	for _, o := range f.Observed {
		cells[o.Cell] = true
	}
	of.Cells = len(cells)
	of.NotRun = notRun(f, n)
	return of
}

// controls are checks of a cell that pass: the one that is most like another check, and those of
// its requirement; without any, the others. More is how many there are besides.
func controls(c reports.Cell, check reports.Check) (shown []reports.Check, more int) {
	passed := reports.Only(c.Checks, func(k reports.Check) bool { return k.Outcome == reports.Pass && !strings.HasPrefix(k.ID, oracle) })
	twin := reports.ClosestCheck(c, check)
	rank := func(k reports.Check) int {
		switch {
		case k.ID == twin.ID:
			return 0
		case k.Requirement != "" && k.Requirement == check.Requirement:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(passed, func(a, b reports.Check) int { return rank(a) - rank(b) })
	n := 0
	for n < min(len(passed), maxControls) && (rank(passed[n]) < 2 || rank(passed[0]) == 2) {
		n++
	}
	return passed[:n], len(passed) - n
}

// fakeIn says in a line what of a rig was not real.
func fakeIn(n *narrate.Narration) string {
	kubelet := slices.ContainsFunc(n.Lanes, func(l narrate.Lane) bool {
		return l.Kind == narrate.Component && strings.HasPrefix(l.Name, "kubelet/")
	})
	var all []string
	if n.SimulatedNodes > 0 {
		all = append(all, fmt.Sprintf("%d nodes were simulated: no kubelet ran for them, only their leases were renewed.", n.SimulatedNodes))
	}
	if kubelet {
		all = append(all, "The kubelets had a fake container runtime: containers were programs of skewrig, and no image ran.")
	}
	return strings.Join(all, " ")
}

// namedRelease is a release of Kubernetes in a text: 1.36, v1.90.1. HTTP/1.1 is none.
var namedRelease = regexp.MustCompile(`(?:^|[^/\w.])v?(1\.\d{2})\b`)

// notRun are the minor releases of Kubernetes that the texts of a finding name, and that did
// not run in any of its cells.
func notRun(f Finding, n *narrate.Narration) (all []string) {
	there := slices.Concat(n.Rig, f.Releases)
	for _, o := range f.Observed {
		there = append(there, o.Releases)
	}
	ran := strings.Join(there, "\n")
	for _, text := range []string{f.Headline, f.Instead, f.Effect, f.Since, f.FixedBy} {
		for _, m := range namedRelease.FindAllStringSubmatch(text, -1) {
			minor := "v" + m[1]
			if !strings.Contains(ran, minor+".") && !slices.Contains(all, minor) {
				all = append(all, minor)
			}
		}
	}
	slices.Sort(all)
	return all
}

// Scope says in a sentence what was run of what the texts of a finding are about.
func (s Shown) Scope() string {
	cells := "one cell"
	if s.Cells > 1 {
		cells = fmt.Sprintf("one of %d cells", s.Cells)
	}
	said := fmt.Sprintf("This is %s of this run", cells)
	if len(s.Values) > 0 {
		said += ", with " + strings.Join(s.Values, ", ")
	}
	said += ". What the text above says of other releases, gates or settings was not seen in it"
	if len(s.NotRun) > 0 {
		said += "; not run here: Kubernetes " + strings.Join(s.NotRun, ", ")
	}
	return said + "."
}
