package reports

import (
	"cmp"
	"maps"
	"slices"

	"github.com/skewrig/skewrig/harness/release"
)

// WorstCase is how many statements of an enhancement are proved in every supported
// combination of releases that a run has of them.
type WorstCase struct {
	KEP string `json:"kep"`
	// Release is the newest release of the cells. If unset, it is all cells.
	Release string `json:"release,omitempty"`
	// Proved of Of statements are: those that some cell is to prove, and of an
	// enhancement as a whole those that the ledger wants a check of.
	Proved int `json:"proved"`
	Of     int `json:"of"`
	// Lacking are the cells that keep it from being all, and Untested the statements
	// that no cell of the run tests.
	Lacking  []string `json:"lacking,omitempty"`
	Untested []string `json:"untested,omitempty"`
}

// KeptBy is what keeps statements from being proved in every cell: the first cell, and
// how many more there are.
func (w WorstCase) KeptBy() string {
	switch {
	case len(w.Lacking) > 0:
		return Few(w.Lacking, 1)
	case len(w.Untested) > 0:
		return Counted(len(w.Untested), "statement") + " without a cell in this run"
	}
	return ""
}

// noTexts are ledgers of no enhancement.
var noTexts = []string{"ORACLE", Regressions}

// WorstCases returns the worst case of each enhancement, followed by those of its
// releases. Cells of the reference, and those of releases that no cluster may combine,
// don't count.
func WorstCases(r Report) (all []WorstCase) {
	cells := make(map[string]Cell)
	for _, c := range r.Cells {
		if !c.OfReference() && supportedSkew(c.Axes) {
			cells[c.ID] = c
		}
	}
	for _, of := range Grouped(r.Requirements, func(q Requirement) string { return q.KEP }) {
		if slices.Contains(noTexts, of[0].KEP) {
			continue
		}
		releases := make(map[string]bool)
		for _, q := range of {
			for _, id := range q.Cells {
				if c, counts := cells[id]; counts {
					releases[newestOf(c.Axes)] = true
				}
			}
		}
		delete(releases, "")
		whole := worstCase(of, cells, "")
		if len(releases) == 0 && whole.Proved == 0 && len(whole.Lacking) == 0 {
			continue // nothing of it ran
		}
		all = append(all, whole)
		byAge := func(a, b string) int { return release.Version(a).Compare(release.Version(b)) }
		for _, v := range slices.SortedFunc(maps.Keys(releases), byAge) {
			all = append(all, worstCase(of, cells, v))
		}
	}
	return all
}

// worstCase counts the statements that all cells of a release prove, or all cells. It does not
// count a statement with the outcome Ambiguous: the text contradicts it, and a release does what the
// other statement says, so no release can prove all statements.
func worstCase(statements []Requirement, cells map[string]Cell, of string) WorstCase {
	w := WorstCase{KEP: statements[0].KEP, Release: of}
	lacking := make(map[string]bool)
	for _, q := range statements {
		var serving []Cell
		for _, id := range q.Cells {
			if c, counts := cells[id]; counts && (of == "" || newestOf(c.Axes) == of) {
				serving = append(serving, c)
			}
		}
		outcome, _ := RequirementOutcome(q.ID, serving)
		switch {
		case q.Excluded != "" || q.Manual != "" || outcome == NotApplicable || outcome == Ambiguous || len(serving) == 0 && of != "":
			continue
		case len(serving) == 0:
			w.Untested = append(w.Untested, q.ID)
		case outcome == Pass:
			w.Proved++
		}
		w.Of++
		for _, c := range serving {
			if o, _ := RequirementOutcome(q.ID, []Cell{c}); o != Pass && o != NotApplicable && o != Ambiguous {
				lacking[c.ID] = true
			}
		}
	}
	w.Lacking = slices.Sorted(maps.Keys(lacking))
	return w
}

// newestOf is the newest release among the values of axes.
func newestOf(axes map[string]string) (newest string) {
	for _, value := range axes {
		if v, err := release.Parse(value); err == nil && (newest == "" || v.Compare(release.Version(newest)) > 0) {
			newest = value
		}
	}
	return newest
}

// supportedSkew reports whether a cluster may combine the releases of axes.
func supportedSkew(axes map[string]string) bool {
	apiserver, err := release.Parse(axes["apiserver"])
	kubelet, kubeletErr := release.Parse(axes["kubelet"])
	if cmp.Or(err, kubeletErr) != nil {
		return true
	}
	return release.SkewOf(release.Effective{Version: apiserver}, kubelet) == release.SkewSupported
}
