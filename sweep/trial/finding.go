package trial

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Finding is something that should not be, with all items that show it.
type Finding struct {
	// What says it of an item: Endless, Refused, Lost, Stays or Stored.
	What  string `json:"what"`
	Touch Touch  `json:"touch"`
	// Items are sorted by kind and field.
	Items []Found `json:"items"`
}

// Found is an item that shows a finding.
type Found struct {
	Item

	// Detail says how.
	Detail string `json:"detail"`
	// Alone is how often it was seen again in a scenario with the gates of the field alone turned
	// off, and Control how often with them left on. If unset, it was not tried.
	Alone   *Rate `json:"alone,omitempty"`
	Control *Rate `json:"control,omitempty"`
}

// Rate is how many of some runs were red.
type Rate struct {
	Red  int `json:"red"`
	Runs int `json:"runs"`
}

// String is "3 of 3 red", or a hyphen if it was not tried.
func (r *Rate) String() string {
	if r == nil {
		return "-"
	}
	return fmt.Sprintf("%d of %d red", r.Red, r.Runs)
}

// Confirmed reports whether it was seen each time with the gates off, and not once with them on.
func (f Found) Confirmed() bool {
	return f.Alone != nil && f.Alone.Runs > 0 && f.Alone.Red == f.Alone.Runs && f.Control != nil && f.Control.Runs > 0 && f.Control.Red == 0
}

// Split parts the confirmed items of findings from the others. A finding without items is left out.
func Split(all []Finding) (confirmed, others []Finding) {
	for _, f := range all {
		is, not := f, f
		is.Items, not.Items = nil, nil
		for _, i := range f.Items {
			if i.Confirmed() {
				is.Items = append(is.Items, i)
			} else {
				not.Items = append(not.Items, i)
			}
		}
		if len(is.Items) > 0 {
			confirmed = append(confirmed, is)
		}
		if len(not.Items) > 0 {
			others = append(others, not)
		}
	}
	return confirmed, others
}

// Signature is what items have in common that show one finding.
func (f Finding) Signature() string { return fmt.Sprintf("%s: %s", f.Touch, f.What) }

// What findings say.
const (
	Endless = "it is written without end"
	Refused = "it is refused"
	Lost    = "the field is lost"
	Stays   = "it is not gone"
	Stored  = "the field is stored although the gate is off"
)

// Smallest are the items of a finding with the smallest objects, one for each kind and set of gates,
// sorted by these.
func (f Finding) Smallest() (all []Found) {
	best := make(map[string]Found)
	size := func(of Found) int { return len(fmt.Sprint(of.Object)) }
	for _, of := range f.Items {
		id := of.Kind + strings.Join(of.Gates, ",")
		if had, is := best[id]; !is || size(of) < size(had) {
			best[id] = of
		}
	}
	all = slices.Collect(maps.Values(best))
	slices.SortFunc(all, func(a, b Found) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), slices.Compare(a.Gates, b.Gates)) })
	return all
}
