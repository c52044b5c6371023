// Package oracle judges what must hold in every cell, whatever its scenario is
// about: that what goes over the wire and what is stored is what package model
// predicts, that workloads which don't use a feature notice nothing of it, and
// that no controller writes without end. Like package check, it needs nothing
// but the plan and the record.
package oracle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/model"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// oracle is one thing that must always hold.
type oracle struct {
	id       string
	expected string
	// things is what is looked at, in the plural.
	things string
	look   func(*run) finding
	// needs are the events that it looks at. If some may be missing, what it says does not count, unless it is a fault
	// and faults of what was seen are proof.
	needs []timeline.Need
	proof bool
}

// An oracle's requirement in the ledger, and its check in each cell's result, are
// its id with a prefix. No check of a scenario can have the latter.
const (
	requirements = "ORACLE/"
	checks       = "oracle:"
)

// oracles is all of them, in the order of the report.
var oracles = []oracle{
	{
		id: "wire-mode", expected: "each probe begins as the model predicts, and succeeds only where it can", things: "connections",
		look: wireMode, needs: slices.Concat(objectsAndComponents, containers),
	},
	{
		id: "field-survival", expected: "what is stored of the probe fields is what the model predicts", things: "versions of objects",
		look: fieldSurvival, needs: append(timeline.NeedsOf("", record.APIAnswer{}, record.WebhookCalled{}), objectsAndComponents...),
	},
	{
		id: "nothing-else-changes", expected: "what does not use a probe field stays as it is through every restart", things: "pods and workloads",
		look: nothingElseChanges, needs: slices.Concat(objectsAndComponents, containers),
	},
	{
		id: "bounded-writes", expected: "no object is written, and nothing is created, without end", things: "objects",
		look: boundedWrites, needs: objectsAndComponents, proof: true,
	},
	{
		id: "at-rest", expected: "what is at rest is as the laws of rest say", things: "objects at rest",
		look: atRest, needs: objectsAndComponents,
	},
	{
		id: "watchdog-decisions", expected: "a watchdog scales what the model of its release says, given the same leases, and nothing else", things: "probes",
		look: decisions, needs: append(timeline.NeedsOf("", record.APIAnswer{}, record.LinkRequest{}), objectsAndComponents...),
	},
}

var (
	objectsAndComponents = timeline.NeedsOf("", record.ObjectObserved{}, record.ComponentStarted{}, record.ComponentStopped{})
	containers           = timeline.NeedsOf("", record.SandboxStarted{}, record.ContainerStarted{}, record.ContainerExited{}, record.Exec{}, record.Listening{}, record.Connection{})
)

// finding is what an oracle found.
type finding struct {
	looked int      // at how many things
	faults []string // what was not as it should be
}

// lookedAt counts a thing if it could have been a fault.
func (f *finding) lookedAt(could bool) {
	if could {
		f.looked++
	}
}

func (f *finding) fault(format string, args ...any) {
	f.faults = append(f.faults, fmt.Sprintf(format, args...))
}

// maxFaults is how many faults a report tells.
const maxFaults = 5

// Look returns a check for each oracle that had something to look at, and what
// the cell's probes did (see observations).
func Look(cell plan.Cell, events []record.Event) ([]reports.Check, []reports.Observation) {
	return look(rules(), cell, events)
}

func look(rules model.Rules, cell plan.Cell, events []record.Event) ([]reports.Check, []reports.Observation) {
	r := newRun(rules, cell, timeline.Of(events))
	var results []reports.Check
	for _, o := range oracles {
		f := o.look(r)
		if f.looked == 0 {
			continue
		}
		c := reports.Check{ID: checks + o.id, Requirement: requirements + o.id, Expected: o.expected, Outcome: reports.Pass}
		// How many they were differs from run to run.
		c.Observed = "so it was with all " + o.things
		if faults := slices.Compact(slices.Sorted(slices.Values(f.faults))); len(faults) > 0 {
			c.Outcome = reports.Fail
			c.Observed = strings.Join(faults[:min(len(faults), maxFaults)], "; ")
		}
		if lost := r.lost(o); len(lost) > 0 && (!o.proof || c.Outcome != reports.Fail) {
			c.Outcome, c.Reason = reports.Unknown, r.DescribeLoss(lost[0])
		}
		results = append(results, c)
	}
	return results, r.observations()
}

// lost are the losses of what an oracle needs. It looks at the whole cell.
func (r *run) lost(o oracle) []*timeline.Loss {
	if len(r.Events) == 0 {
		return nil
	}
	return r.Lost(o.needs, r.Events[0].At, r.Events[len(r.Events)-1].At)
}
