package reports

import (
	"cmp"
	"slices"
)

// TraceStatus says what is known of a requirement.
type TraceStatus string

// What can be known of a requirement.
const (
	// Proved means that checks serve it, and that all of them agree with it.
	Proved TraceStatus = "proved"
	// Deviates means that a release is known not to do what it says, which the
	// list of known deviations explains.
	Deviates TraceStatus = "deviates"
	// IsAmbiguous means that the text contradicts itself, and that releases do as
	// another statement of it says.
	IsAmbiguous TraceStatus = "ambiguous"
	// Refuted means that a check that serves it did not.
	Refuted TraceStatus = "refuted"
	// Unjudged means that a check that serves it could not be judged.
	Unjudged TraceStatus = "unjudged"
	// Untested means that no check serves it, and nothing says why.
	Untested TraceStatus = "untested"
	// IsExcluded and IsManual mean that the ledger says why no check serves it.
	IsExcluded TraceStatus = "excluded"
	IsManual   TraceStatus = "manual"
	// Contradicted means that a check serves it although the ledger says that
	// none can.
	Contradicted TraceStatus = "contradicted"
	// Unstated means that checks serve an id that no ledger states.
	Unstated TraceStatus = "unstated"
)

// TraceStatuses lists all of them, those that need no attention last.
func TraceStatuses() []TraceStatus {
	return []TraceStatus{Refuted, Unjudged, Unstated, Contradicted, Untested, Deviates, IsAmbiguous, IsManual, IsExcluded, Proved}
}

// Settled reports whether nothing is left to do about a requirement.
func (s TraceStatus) Settled() bool {
	return s == Proved || s == Deviates || s == IsAmbiguous || s == IsExcluded || s == IsManual
}

// Traced is a requirement with what runs showed of it.
type Traced struct {
	Requirement

	Status TraceStatus `json:"status"`
	// Checks is how many checks served it, over all runs.
	Checks int `json:"checks"`
	// Sentences are the words of the text that say it, from the reader's own copy. If
	// the reader gave none, it is empty.
	Sentences []string `json:"sentences,omitempty"`
}

// Trace joins the requirements of the ledgers to the checks that runs emitted,
// in the order of the ids. Several reports count as one: the most severe
// outcome of a requirement decides.
func Trace(requirements []Requirement, reports []Report) []Traced {
	emitted := make(map[string][]Outcome)
	cells := make(map[string][]string)
	for _, r := range reports {
		for _, c := range r.Cells {
			for _, check := range c.Checks {
				if id := check.Requirement; id != "" {
					emitted[id] = append(emitted[id], check.Outcome)
					cells[id] = append(cells[id], c.ID)
				}
			}
		}
	}
	var all []Traced
	stated := make(map[string]bool)
	for _, q := range requirements {
		stated[q.ID] = true
		all = append(all, trace(q, emitted[q.ID], cells[q.ID]))
	}
	for id := range emitted {
		if !stated[id] {
			t := trace(Requirement{ID: id}, emitted[id], cells[id])
			t.Status = Unstated
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b Traced) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

func trace(q Requirement, outcomes []Outcome, cells []string) Traced {
	slices.Sort(cells)
	q.Cells = append([]string{}, slices.Compact(cells)...)
	t := Traced{Requirement: q, Checks: len(outcomes)}
	explained := q.Excluded != "" || q.Manual != ""
	switch {
	case len(outcomes) > 0 && explained:
		t.Status = Contradicted
	case q.Excluded != "":
		t.Status = IsExcluded
	case q.Manual != "":
		t.Status = IsManual
	case len(outcomes) == 0:
		t.Status = Untested
	case Worst(outcomes...).Expected() && slices.Contains(outcomes, ExpectedFail):
		t.Status = Deviates
	case Worst(outcomes...) == Ambiguous:
		t.Status = IsAmbiguous
	case Worst(outcomes...).Expected():
		t.Status = Proved
	case Worst(outcomes...).Nonconforming():
		t.Status = Refuted
	default:
		t.Status = Unjudged
	}
	if len(outcomes) > 0 {
		t.Outcome = Worst(outcomes...)
	}
	return t
}
