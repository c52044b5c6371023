package spec

import (
	"fmt"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/skewrig/skewrig/harness/strict"
)

// Limits of a scenario: a small file may stand for more than a machine has memory for.
const (
	// maxSteps bounds the steps, with those of the sequences that it uses, and maxChecks the checks.
	maxSteps, maxChecks = 500, 150
	// maxNodes bounds the nodes, and maxLeaseNodes the simulated ones.
	maxNodes, maxLeaseNodes = 100, 100_000
	// maxStates bounds the states of components that are planned: one for each component, step and cell.
	maxStates = 100_000
	// maxJudged bounds the checks of all cells.
	maxJudged = 1_000
	// maxPattern bounds a regular expression, in bytes: one of 10 KiB takes the memory and time of many.
	maxPattern = 1 << 10
	// maxDecoded bounds what is decoded for all cells, in bytes: the file for each cell, and a manifest for each step.
	maxDecoded = 3 << 19
)

// controlPlane are the lists of components of a control plane.
var controlPlane = []string{"topology.controlPlane.servers", "topology.controlPlane.controllerManagers", "topology.controlPlane.schedulers"}

// cut leaves out the items of a list beyond a limit, and reports the first of them.
func (r *reader) cut(list *yaml.Node, limit int, format string, args ...any) {
	if list.Kind != yaml.SequenceNode || len(list.Content) <= limit {
		return
	}
	r.Source.Fail(list.Content[limit], format, args...)
	list.Content = list.Content[:limit]
	r.Source.Bad[list] = true
}

const several = "make several scenarios of it"

// limit leaves out what is beyond the limits of lists.
func (r *reader) limit() {
	if nodes, found := r.Find("topology.nodes"); found {
		r.cut(nodes, maxNodes, "too many nodes: must be at most %d; use leaseNodes for nodes that only send heartbeats", maxNodes)
	}
	for _, field := range controlPlane {
		if list, found := r.Find(field); found {
			r.cut(list, maxMembers, "too many components: a control plane must have at most %d of a kind", maxMembers)
		}
	}
	if axes, found := r.Find("axes"); found && axes.Kind == yaml.MappingNode {
		for i := 1; i < len(axes.Content); i += 2 {
			r.cut(axes.Content[i], maxCombinations, "too many values: the axes must give at most %d cells", maxCombinations)
		}
	}
	steps, found := r.Find("steps")
	if !found || steps.Kind != yaml.SequenceNode {
		return
	}
	r.cut(steps, maxSteps, "too many steps, with those of sequences: must be at most %d; "+several, maxSteps)
	left := maxChecks
	for _, step := range steps.Content {
		if checks, has := strict.Find(step, "checks"); has && step.Kind == yaml.MappingNode {
			r.cut(checks, left, "too many checks, of all steps: must be at most %d; "+several, maxChecks)
			left -= len(checks.Content)
		}
	}
}

// limited returns the first of several combinations, and reports it, if all of them are more than can be planned.
func (r *reader) limited(combinations []map[string]string, text string) []map[string]string {
	at, found := r.Find("axes")
	steps, _ := r.Find("steps")
	if !found {
		at = steps
	}
	components := 4
	for _, field := range slices.Concat(controlPlane, []string{"topology.nodes"}) {
		if list, has := r.Find(field); has {
			components += len(list.Content)
		}
	}
	if zones, has := r.Find("topology.leaseNodes.zones"); has {
		components += len(zones.Content) / 2
	}
	cells, length := len(combinations), len(steps.Content)
	checks := 0
	for _, step := range steps.Content {
		if list, has := strict.Find(step, "checks"); has {
			checks += len(list.Content)
		}
	}
	switch {
	case cells*checks > maxJudged:
		r.Source.Note(at, "too many cells: %d of %d checks; the product must be at most %d; use fewer values, or "+several, cells, checks, maxJudged)
	case cells*length*components > maxStates:
		r.Source.Note(at, "too many cells: %d of %d steps on %d components; the product must be at most %d; use fewer values, or "+several, cells, length, components, maxStates)
	case cells > 1 && cells*len(text) > maxDecoded:
		r.Source.Note(at, "too many cells: %d of a file of %d bytes; the product must be at most %d; use fewer values, or "+several, cells, len(text), maxDecoded)
	default:
		return combinations
	}
	return combinations[:1]
}

// CheckPattern reports what is wrong with a regular expression (RE2).
func CheckPattern(text string) error {
	if len(text) > maxPattern {
		return fmt.Errorf("too long: a regular expression must be at most %d bytes", maxPattern)
	}
	if _, err := regexp.Compile(text); err != nil {
		return fmt.Errorf("%s is not a regular expression", strict.Quote(text))
	}
	return nil
}
