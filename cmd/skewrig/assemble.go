package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/known"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/ledger"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// deviations is the flag that names a list of what is known to fail.
type deviations struct{ file string }

func (d *deviations) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.file, "known-deviations", "", "a list of checks that are known to fail, with reasons and links, on top of the catalog's own")
}

func (d *deviations) load() (deviationList, error) {
	list, err := known.Parse(catalog.KnownDeviationsFile, catalog.KnownDeviations)
	if err != nil || d.file == "" {
		return deviationList(list), err
	}
	own, err := known.Load(d.file)
	list.Deviations = append(list.Deviations, own.Deviations...)
	return deviationList(list), err
}

type deviationList known.List

// excuse is a single result with what is known to fail marked as such.
func (d deviationList) excuse(result reports.Cell) reports.Cell {
	applied, _ := known.Apply(known.List(d), []reports.Cell{result}, nil)
	return applied[0]
}

// assembler makes reports of runs of some cells.
type assembler struct {
	known        deviationList
	notRun       []string // cells of the catalog that are not among them
	catalog      error    // why these are not known, if they are not
	requirements []reports.Requirement
	reproduce    reports.Reproduce
}

func (d deviationList) assembler(cells []plan.Cell, built []build.Binary) (*assembler, error) {
	a := &assembler{known: d, reproduce: reports.Reproduce{
		Command:    commandLine(os.Args),
		Skewrig:    version(),
		Go:         runtime.Version(),
		Components: components(built),
		Host:       host(),
	}}
	a.notRun, a.catalog = others(cells)
	var err error
	a.requirements, err = ledger.Requirements()
	return a, err
}

// ranCell is the result of a run of a cell, with its number.
type ranCell struct {
	number int
	result reports.Cell
}

// assemble makes the report of runs: what is known to fail marked as such, runs of
// one cell joined, the ledgers' statements joined to the checks that serve them,
// and what it takes to run the same again.
func (a *assembler) assemble(ran []ranCell) (reports.Report, error) {
	ran = slices.SortedStableFunc(slices.Values(ran), func(a, b ranCell) int { return cmp.Compare(a.number, b.number) })
	results := make([]reports.Cell, len(ran))
	for i, r := range ran {
		results[i] = r.result
	}
	results, stale := known.Apply(known.List(a.known), results, a.notRun)
	for i, r := range results {
		results[i] = r.Numbered(ran[i].number)
	}
	report, err := reports.Assemble(joined(results), a.requirements, a.reproduce)
	if a.catalog != nil { // the cells are somebody's own: that they ran is not lost
		report.Problems = append(report.Problems, fmt.Sprintf("the catalog is not valid, so it is not known which deviations are stale: %v", a.catalog))
		return report, err
	}
	for _, problem := range stale {
		report.Problems = append(report.Problems, problem.Error())
	}
	return report, err
}

// joined makes one cell of all runs of one.
func joined(runs []reports.Cell) []reports.Cell {
	var ids []string
	of := make(map[string][]reports.Cell)
	for _, r := range runs {
		if of[r.ID] == nil {
			ids = append(ids, r.ID)
		}
		of[r.ID] = append(of[r.ID], r)
	}
	var cells []reports.Cell
	for _, id := range ids {
		cells = append(cells, reports.Join(of[id]...))
	}
	return cells
}

// others are the ids of the catalog's cells that a run leaves out: an entry of
// the known deviations for one of them is not stale.
func others(cells []plan.Cell) (ids []string, err error) {
	all, err := catalog.Cells()
	for _, c := range all {
		if !slices.ContainsFunc(cells, func(ran plan.Cell) bool { return ran.ID == c.ID }) {
			ids = append(ids, c.ID)
		}
	}
	return ids, err
}

// commandLine quotes arguments so that they can be pasted into a shell.
func commandLine(args []string) string {
	quoted := []string{"skewrig"}
	for _, arg := range args[1:] {
		if arg == "" || strings.ContainsAny(arg, " \t\n'\"\\$&|;<>()*?[]{}~#`!") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		quoted = append(quoted, arg)
	}
	return strings.Join(quoted, " ")
}

func host() reports.Host {
	h := reports.Host{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		h.MemoryBytes = int64(info.Totalram) * int64(info.Unit)
	}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		h.Kernel = unix.ByteSliceToString(name.Release[:])
	}
	return h
}
