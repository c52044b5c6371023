package trial

import (
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports"
)

// Result is what a sweep came to.
type Result struct {
	Version release.Version `json:"version"`
	To      release.Version `json:"to,omitempty"`
	Seed    uint64          `json:"seed"`
	Gates   []string        `json:"gates"`
	// Bare are those of the gates that were asked for and guard no field.
	Bare  []string `json:"bare,omitempty"`
	Kinds []string `json:"kinds,omitempty"` // if unset, all
	// Shard is which part of the sweep this is. If unset, all of it.
	Shard reports.Shard `json:"shard,omitzero"`
	// Partial is true until the sweep has run to its end.
	Partial bool `json:"partial,omitempty"`
	// Transitions are the changes that are tried.
	Transitions []Transition `json:"turns"`
	// Reached are the fields in the objects of kinds, with those that no object could be made with.
	Reached []Coverage `json:"reached"`
	// Settable are those of the gates of these fields, and of what they are in, that can be set.
	Settable []string `json:"settable,omitempty"`
	// Plans are those that ran.
	Plans []PlanResult `json:"plans"`
	// Asked are the metrics that were looked for.
	Asked []string `json:"asked,omitempty"`
	Witnessed
	// Tried is how often what was tried.
	Tried []Tally `json:"tried"`
	// Findings are those that a scenario with the gates of the field alone showed again. NotConfirmed
	// are others: they take more than that, or a machine that was too slow. Known were seen before.
	Findings     []Finding `json:"findings"`
	NotConfirmed []Finding `json:"notConfirmed,omitempty"`
	Known        []Finding `json:"known,omitempty"`
}

// Outcome says in a few words what was found.
func (s Result) Outcome() string {
	switch {
	case len(s.Findings) > 0:
		return reports.Counted(len(s.Findings), "finding")
	case len(s.NotConfirmed) > 0:
		return "Nothing was confirmed"
	}
	return "Nothing was found"
}

// PlanResult is a plan that ran.
type PlanResult struct {
	Plan

	// Objects is how many objects it had, and Seconds how long it took.
	Objects int     `json:"objects"`
	Seconds float64 `json:"seconds"`
	// Found are the signatures of what it found.
	Found []string `json:"found"`

	Unsettled
}

// Unsettled is why a plan may have shown less, or something else, than there is.
type Unsettled struct {
	// Restless is true if a phase ended before all objects were at rest, although none was written without end.
	Restless bool `json:"restless,omitempty"`
	// Lost are the states of objects that may be missing from the record, so that nothing is said of how they are in the end.
	Lost []string `json:"lost,omitempty"`
}

// Items is how many objects all plans had.
func (s Result) Items() (n int) {
	for _, p := range s.Plans {
		n += p.Objects
	}
	return n
}

// Coverage is a field in the objects of a kind, with an object that uses it.
type Coverage struct {
	Field string `json:"field"`
	// Gates guard it. If unset, it is of an older sweep.
	Gates      []string `json:"gates,omitempty"`
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	// Path is where the object has the field. If unset, no object could be made.
	Path string `json:"path,omitempty"`
	// Under are the gates of the fields that it is in.
	Under  []string       `json:"under,omitempty"`
	Object map[string]any `json:"object,omitempty"`
	// Why is the API server's last word if no object could be made.
	Why string `json:"why,omitempty"`
}
