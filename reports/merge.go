package reports

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
)

// Input is a report that is to be merged with others.
type Input struct {
	// Name is what messages call it: its directory.
	Name   string
	Report Report
}

// Moved says where the files of a run go when reports are merged.
type Moved struct {
	// Input is the position of the report that has the run.
	Input int
	// From and To are its directory there and in the merged report, as paths with
	// slashes from the reports' directories.
	From, To string
}

// Merge joins the reports of shards and of repeats. A cell that is in one of them
// only is taken over. The runs of one that is in several become runs of one cell,
// numbered in the order of the reports (see Join).
//
// The report that is returned is complete but for the command that merged it, and
// for where runs differ: that is in the files, whose new places are returned too.
//
// What would make the merged report false is an error, all of it at once: the
// same run twice, two cells of one id, two statements of one id. What makes it a
// report of several things rather than of one is a problem of the report: other
// versions of skewrig, other binaries of a release, another ledger, a check that
// expected something else.
func Merge(inputs []Input) (Report, []Moved, error) {
	requirements, stated := mergedRequirements(inputs)
	if err := errors.Join(stated, checkSameCells(inputs), checkOtherRuns(inputs)); err != nil {
		return Report{}, nil, err
	}
	cells, moved := mergedCells(inputs)
	r, err := Assemble(cells, requirements, mergedReproduce(inputs))
	if err != nil {
		return Report{}, nil, err
	}
	var findings []Finding
	for _, in := range inputs {
		findings = append(findings, in.Report.Findings...)
	}
	r = r.Explained(findings)
	r.Problems = mergedProblems(inputs)
	r = r.missingRunsOf(inputs)
	r.BrokenOff, r.MissingShards = mergedBrokenOff(inputs, r), missingShards(inputs)
	r.Partial = r.partial()
	return r, moved, nil
}

// each calls do with every input and each of its cells.
func each(inputs []Input, do func(i int, c Cell)) {
	for i, in := range inputs {
		for _, c := range in.Report.Cells {
			do(i, c)
		}
	}
}

// mergedCells joins the cells of the same id, and says where their files go. A cell that did
// not run to its end, or of which no run could be judged, gives way to one that did.
func mergedCells(inputs []Input) ([]Cell, []Moved) {
	finished, judged := make(map[string]bool), make(map[string]bool)
	each(inputs, func(_ int, c Cell) {
		finished[c.ID] = finished[c.ID] || !c.Unfinished
		judged[c.ID] = judged[c.ID] || c.Outcome.Judged()
	})
	var runs []Cell
	var moved []Moved
	numbers := make(map[string]int) // the last of each cell's
	each(inputs, func(i int, c Cell) {
		if c.Unfinished && (finished[c.ID] || numbers[c.ID] > 0) || judged[c.ID] && c.undecided() {
			return
		}
		if len(c.Runs) == 0 {
			c = c.Numbered(1)
		}
		c, files := c.renumbered(numbers[c.ID])
		numbers[c.ID] += len(c.Runs)
		runs = append(runs, c)
		for _, f := range files {
			f.Input = i
			moved = append(moved, f)
		}
	})
	return JoinEach(runs), moved
}

// undecided reports whether no run of a cell says anything of its subject.
func (c Cell) undecided() bool {
	return !slices.ContainsFunc(c.EachRun(), func(r Run) bool { return r.Outcome != Unknown })
}

// renumbered returns a cell with its runs numbered on from those that are there,
// and says where their files go.
func (c Cell) renumbered(before int) (Cell, []Moved) {
	c = c.clone()
	var moved []Moved
	for i, r := range c.Runs {
		from, to := RunDir(c.ID, r.Number), RunDir(c.ID, before+i+1)
		moved = append(moved, Moved{From: from, To: to})
		c.Runs[i].Number, c.Runs[i].Dir = before+i+1, to
	}
	return c, moved
}

// checkSameCells finds cells of one id that are not the same cell.
func checkSameCells(inputs []Input) error {
	var problems []error
	first := make(map[string]Cell)
	where := make(map[string]string)
	each(inputs, func(i int, c Cell) {
		f, known := first[c.ID]
		switch {
		case !known:
			first[c.ID], where[c.ID] = c, inputs[i].Name
		case f.Scenario != c.Scenario || f.KEP != c.KEP || !maps.Equal(f.Axes, c.Axes):
			problems = append(problems, fmt.Errorf("cell %s is of scenario %s of %s with axes %v in %s, and of scenario %s of %s with axes %v in %s: two different cells have one name",
				c.ID, f.Scenario, f.KEP, f.Axes, where[c.ID], c.Scenario, c.KEP, c.Axes, inputs[i].Name))
		}
	})
	return errors.Join(problems...)
}

// checkOtherRuns finds runs that are in several reports: evidence must not be
// counted twice. A run is known by the millisecond in which it started; those of one report are distinguished by
// their numbers, and may start together.
func checkOtherRuns(inputs []Input) error {
	type pair struct{ a, b string }
	shared := make(map[pair][]string)
	where := make(map[string]int) // the place of its input
	each(inputs, func(i int, c Cell) {
		for _, r := range c.EachRun() {
			if r.Started.IsZero() {
				continue
			}
			key := fmt.Sprint(c.ID, r.Started.UnixMilli())
			if before, known := where[key]; known && before != i {
				between := pair{inputs[before].Name, inputs[i].Name}
				shared[between] = append(shared[between], c.ID)
			}
			where[key] = i
		}
	})
	var problems []error
	for between, ids := range shared {
		problems = append(problems, fmt.Errorf("%s and %s have %s in common, such as that of %s: merge each of them once",
			between.a, between.b, Counted(len(ids), "run"), ids[0]))
	}
	slices.SortFunc(problems, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errors.Join(problems...)
}

// mergedRequirements are those of all ledgers. A sentence that differs between
// them is an error: checks of one would prove the other.
func mergedRequirements(inputs []Input) ([]Requirement, error) {
	var merged []Requirement
	var problems []error
	first := make(map[string]Requirement)
	where := make(map[string]string)
	for _, in := range inputs {
		for _, q := range in.Report.Requirements {
			q.Outcome, q.Cells = "", nil
			f, known := first[q.ID]
			switch {
			case !known:
				first[q.ID], where[q.ID] = q, in.Name
				merged = append(merged, q)
			case !reflect.DeepEqual(f, q):
				problems = append(problems, fmt.Errorf("requirement %s is not the same in %s and in %s: their ledgers differ, and a check of one proves nothing in the other", q.ID, where[q.ID], in.Name))
			}
		}
	}
	return merged, errors.Join(problems...)
}

// onRigs is the provider of a report that names none, beside one that names another.
const onRigs = "rig"

// mergedReproduce is what it takes to do all of it again. The host is kept if it
// was the same. Of several pairs of releases, it has the newest.
func mergedReproduce(inputs []Input) Reproduce {
	var commands, skewrigs, toolchains, providers []string
	merged := Reproduce{Seed: inputs[0].Report.Reproduce.Seed, Host: inputs[0].Report.Reproduce.Host}
	for _, in := range inputs {
		r := in.Report.Reproduce
		commands, skewrigs, toolchains = append(commands, r.Command), append(skewrigs, r.Skewrig), append(toolchains, r.Go)
		merged.Components, merged.Files = append(merged.Components, r.Components...), append(merged.Files, r.Files...)
		merged.Sources, merged.AllowHost = append(merged.Sources, r.Sources...), merged.AllowHost || r.AllowHost
		providers = append(providers, strings.Split(cmp.Or(r.Provider, onRigs), ", ")...)
		if len(r.Gates) > 0 && merged.Gates == nil {
			merged.Gates = make(map[release.Version]string)
		}
		maps.Copy(merged.Gates, r.Gates)
		if r.Newest.Compare(merged.Newest) > 0 {
			merged.Newest, merged.Previous = r.Newest, r.Previous
		}
		if r.Host != merged.Host {
			merged.Host = Host{}
		}
	}
	merged.Command = strings.Join(dedupe(commands), "\n")
	if merged.Provider = strings.Join(dedupe(providers), ", "); merged.Provider == onRigs {
		merged.Provider = ""
	}
	merged.Skewrig, merged.Go = strings.Join(dedupe(skewrigs), ", "), strings.Join(dedupe(toolchains), ", ")
	merged.Components, merged.Files, merged.Sources = dedupe(merged.Components), dedupe(merged.Files), dedupe(merged.Sources)
	return merged
}

// missingRunsOf returns a report of which each cell lacks the runs that it was to have in the report in which it was to have
// most.
func (r Report) missingRunsOf(inputs []Input) Report {
	wanted := make(map[string]int)
	each(inputs, func(_ int, c Cell) { wanted[c.ID] = max(wanted[c.ID], c.wanted()) })
	r.Cells = slices.Clone(r.Cells)
	for i, c := range r.Cells {
		r.Cells[i].MissingRuns = max(wanted[c.ID]-c.finished(), 0)
	}
	return r
}

// mergedBrokenOff says why cells of a merged report did not run as often as they were to. A report that was broken off does
// not count if others make up for all that it lacks.
func mergedBrokenOff(inputs []Input, merged Report) string {
	missing := make(map[string]bool)
	for _, c := range merged.Cells {
		missing[c.ID] = c.MissingRuns > 0
	}
	var reasons []string
	for _, in := range inputs {
		if cause := in.Report.brokenOff(); cause != "" && !in.Report.madeUpFor(missing) {
			reasons = append(reasons, in.Name+": "+cause)
		}
	}
	return strings.Join(reasons, "; ")
}

// missingShards are those that are in no input, of runs that were split. A merged report has all
// shards but its own missing ones.
func missingShards(inputs []Input) []Shard {
	there, wanted := make(map[Shard]bool), make(map[Shard]bool)
	for _, in := range inputs {
		lacks := in.Report.MissingShards
		for _, s := range append(slices.Clone(lacks), in.Report.Shard) {
			for index := range s.Of {
				one := Shard{index + 1, s.Of}
				wanted[one] = true
				there[one] = there[one] || one == in.Report.Shard || s != in.Report.Shard && !slices.Contains(lacks, one)
			}
		}
	}
	maps.DeleteFunc(wanted, func(s Shard, _ bool) bool { return there[s] })
	return slices.SortedFunc(maps.Keys(wanted), func(a, b Shard) int { return cmp.Or(cmp.Compare(a.Of, b.Of), cmp.Compare(a.Index, b.Index)) })
}

func areMissing(shards []Shard) (reasons []string) {
	return Each(shards, func(s Shard) string { return fmt.Sprintf("shard %d/%d is missing", s.Index, s.Of) })
}

// partial says why a report is not about all that was asked for, if it is not.
func (r Report) partial() string {
	reasons := areMissing(r.MissingShards)
	if r.BrokenOff != "" {
		reasons = append([]string{r.BrokenOff}, reasons...)
	}
	return strings.Join(reasons, "; ")
}

// brokenOff is why a report was broken off, if it was. One of a skewrig that did not write that down says it in Partial,
// perhaps with more.
func (r Report) brokenOff() string {
	if r.BrokenOff == "" && r.Partial != r.partial() {
		return r.Partial
	}
	return r.BrokenOff
}

// JudgedAgain returns a report of the runs of a saved one. If the runs that this lacked have ended after all, it lacks no
// more than shards.
func (r Report) JudgedAgain(saved Report) Report {
	r = r.missingRunsOf([]Input{{Report: saved}})
	r.Shard, r.MissingShards, r.BrokenOff, r.Partial = saved.Shard, saved.MissingShards, saved.brokenOff(), saved.Partial
	lacks := func(c Cell) bool { return c.MissingRuns > 0 || c.Unfinished }
	if slices.ContainsFunc(saved.Cells, lacks) && !slices.ContainsFunc(r.Cells, lacks) {
		r.BrokenOff = ""
		r.Partial = r.partial()
	}
	return r
}

// madeUpFor reports whether all that a report lacks that was broken off is there: runs of some of its cells are missing, and
// of none of these still.
func (r Report) madeUpFor(missing map[string]bool) bool {
	known := false
	for _, c := range r.Cells {
		if c.MissingRuns == 0 && !c.Unfinished {
			continue
		}
		if known = true; missing[c.ID] {
			return false
		}
	}
	return known
}
