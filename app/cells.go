package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/cellid"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/expr"
	"github.com/skewrig/skewrig/scenarios/lint"
	"github.com/skewrig/skewrig/scenarios/own"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
	"github.com/skewrig/skewrig/upstream"
)

// CheckPatterns reports the arguments of Select that are no patterns, before a catalog is read.
func CheckPatterns(args []string) error {
	var problems []error
	for _, arg := range args {
		if !IsFile(arg) {
			_, err := cellid.Compile(arg)
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// Select is that of the catalog of the working directory.
func Select(args []string) ([]plan.Cell, error) {
	if err := CheckPatterns(args); err != nil {
		return nil, err
	}
	here, err := Here()
	if err != nil {
		return nil, err
	}
	return here.Select(args)
}

// Select plans the cells that arguments name. An argument that is a file
// is a scenario; any other is a pattern over the ids of cells, those of the files
// and of the catalog. A file of which no pattern chooses any cell is run as a whole.
// No argument is what of the catalog the default pair of releases can run.
// Everything that is wrong with files, patterns and expressions is found here,
// before anything is started. With an error of a file, the cells are what of it could be decoded.
func (c Catalog) Select(args []string) ([]plan.Cell, error) {
	var files, patterns []string
	for _, arg := range args {
		if IsFile(arg) {
			files = append(files, arg)
		} else {
			patterns = append(patterns, arg)
		}
	}
	cells, err := c.planFiles(files)
	if err != nil {
		return cells, err
	}
	if len(patterns) > 0 || len(files) == 0 {
		if cells, err = c.choose(cells, patterns); err != nil {
			return nil, errors.Join(err, ofUpstream(patterns))
		}
	}
	cells, ours := c.fitting(cells)
	return cells, c.problemsOf(ours, true)
}

// fitting marks the cells that come with skewrig and of which something is wrong on the releases, which is the fault
// of neither: on the default ones, nothing is. It returns also those that a user has to answer for.
func (c Catalog) fitting(cells []plan.Cell) (all, theirs []plan.Cell) {
	if c.Releases.Default() {
		return cells, cells
	}
	builtIn := make(map[string]bool)
	for _, cell := range c.BuiltIn {
		builtIn[cell.File] = true
	}
	byFile := make(map[string][]plan.Cell)
	for _, cell := range cells {
		byFile[cell.File] = append(byFile[cell.File], cell)
	}
	wrong := make(map[string]error)
	for file, of := range byFile {
		if builtIn[file] {
			wrong[file] = c.problemsOf(of, true)
		}
	}
	for _, cell := range cells {
		switch err := wrong[cell.File]; {
		case err != nil && cell.Unfit == "":
			all = append(all, catalog.Unfit([]plan.Cell{cell}, err)...)
		case builtIn[cell.File]:
			all = append(all, cell)
		default:
			all, theirs = append(all, cell), append(theirs, cell)
		}
	}
	return all, theirs
}

// problemsOf returns what is wrong with cells, beside what is found when their files are read. Cells that are not whole,
// since their files could not be decoded, may lack what others have.
func (c Catalog) problemsOf(cells []plan.Cell, whole bool) error {
	cells = reports.Only(cells, func(cell plan.Cell) bool { return cell.Unfit == "" })
	limited, large := lint.Limited(cells)
	_, err := engine.Compile(limited)
	problems := []error{large, err, engine.UnknownFields(cells), lint.MissingFields(limited), c.checkRequirements(cells)}
	if whole {
		problems = append(problems, engine.Unplayed(cells), lint.Undeclared(limited), lint.Refuse(limited))
	}
	return strict.Join(problems...)
}

// addProblems adds to what is wrong with files, if anything is, what more is wrong with what of them could be decoded. It
// returns the cells of that.
func (c Catalog) addProblems(err error, scenarios []*spec.File) ([]plan.Cell, error) {
	if err == nil {
		return nil, nil
	}
	var cells []plan.Cell
	problems := []error{err}
	for _, f := range scenarios {
		parts := plan.Parts(f)
		cells = append(cells, parts...)
		decoded := f.Decoded("axes", "where", "topology", "images")
		whole := decoded && f.Decoded("steps")
		problems = append(problems, c.problemsOf(parts, whole))
		if decoded && !whole {
			problems = append(problems, engine.Unplayed(parts))
		}
	}
	return cells, strict.Join(problems...)
}

// AddProblems adds to what is wrong with cells that Select returned what is looked at after that: what reaches beyond
// their rigs, and releases that don't exist. If err is nil, it does nothing.
func AddProblems(ctx context.Context, err error, cells []plan.Cell, outside error) error {
	if err == nil {
		return nil
	}
	_, missing := CheckReleases(ctx, cells)
	if _, failed := errors.AsType[*Failure](missing); failed {
		missing = nil // it is not known which are missing
	}
	return strict.Join(err, outside, missing)
}

// ofUpstream explains patterns for cells that are upstream's specs. It is nil if there are none.
func ofUpstream(patterns []string) error {
	for _, p := range patterns {
		if area, _, _ := strings.Cut(p, "/"); area == upstream.Area {
			return fmt.Errorf("cells of %s are upstream's own specs, and in no catalog: skewrig upstream runs them, and its --focus chooses some", upstream.Area)
		}
	}
	return nil
}

// choose returns the cells that patterns choose of a user's own and of the catalog,
// and the user's own of files that no pattern is about.
func (c Catalog) choose(mine []plan.Cell, patterns []string) ([]plan.Cell, error) {
	if len(patterns) == 0 {
		return c.Default(), nil
	}
	named := cellIDs(mine)
	others := slices.DeleteFunc(c.Cells(), func(c plan.Cell) bool { return slices.Contains(named, c.ID) })
	chosen, err := plan.Match(slices.Concat(mine, others), patterns)
	if err != nil {
		return nil, err
	}
	whole := slices.DeleteFunc(slices.Clone(mine), func(c plan.Cell) bool {
		return slices.ContainsFunc(chosen, func(of plan.Cell) bool { return of.File == c.File })
	})
	return plan.WithPartners(append(whole, chosen...), slices.Concat(mine, others)), nil
}

// checkRequirements finds checks that claim to prove what no ledger states.
func (c Catalog) checkRequirements(cells []plan.Cell) error {
	stated := map[string]bool{"": true} // a check of the user's own proves none
	for _, r := range c.Requirements {
		stated[r.ID] = true
	}
	var unknown []error
	for _, cell := range cells {
		var checks []action.Check
		for _, step := range cell.Steps {
			checks = append(checks, step.Checks()...)
		}
		if of := cell.Compare; of != nil {
			checks = append(checks, action.Check{ID: of.ID, Requirement: of.Requirement, Line: cell.CompareLine})
		}
		for _, c := range checks {
			if !stated[c.Requirement] {
				unknown = append(unknown, strict.Problemf(expr.PlaceOfRequirement(cell, c),
					"check %s: no ledger has requirement %s; omit the requirement in a scenario of your own", c.ID, c.Requirement))
			}
		}
	}
	return errors.Join(unknown...)
}

// IsFile tells the name of a file from a pattern over cell ids.
func IsFile(arg string) bool {
	return strings.HasSuffix(arg, ".yaml") || strings.HasSuffix(arg, ".yml")
}

// planFiles plans the user's own scenario files, each with the directory that
// it is in as the root for the files that it names. One outside the working directory
// goes by its name alone.
//
// If something is wrong with them, it returns what of the cells could be decoded.
func (c Catalog) planFiles(paths []string) ([]plan.Cell, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	within := make(map[string][]string) // by root
	var problems []error
	for _, path := range paths {
		problems = append(problems, misplaced(path))
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		from := root
		rel, err := filepath.Rel(from, abs)
		if err != nil || !fs.ValidPath(filepath.ToSlash(rel)) { // it is elsewhere
			from, rel = filepath.Dir(abs), filepath.Base(abs)
		}
		within[from] = append(within[from], filepath.ToSlash(rel))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	releases, err := sharedReleases(root)
	if err != nil {
		return nil, err
	}
	var all []*spec.File
	for _, from := range slices.Sorted(maps.Keys(within)) {
		scenarios, err := action.LoadWith(action.Options{Axes: releases, Releases: c.Releases, MarkUnfit: c.Releases.Chosen()}, files.NamedFS(from, files.MaxText, within[from]), within[from])
		all, problems = append(all, scenarios...), append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return c.addProblems(err, all)
	}
	return plan.Cells(all)
}

// sharedReleases are the axes that the scenarios of a directory's catalog share.
func sharedReleases(dir string) (map[string][]string, error) {
	dir, found := own.Find(dir)
	if !found {
		return nil, nil
	}
	config, err := own.ReadConfig(dir)
	return config.Releases, err
}

// SelectFailed selects as Select does, and of these cells the ones that were not
// as expected in the report of a directory, with those that they are compared with. Without
// arguments, it is all such. None of the cells that are selected being in the report is an error.
func (c Catalog) SelectFailed(args []string, dir string) ([]plan.Cell, error) {
	report, err := ReadReport(dir)
	if err != nil {
		return nil, err
	}
	var ids []string
	there, again, file := make(map[string]bool), make(map[string]string), make(map[string]string)
	for _, ran := range report.Cells {
		there[ran.ID], again[ran.ID], file[ran.ID] = true, ran.Again, ran.File
		if !ran.Outcome.Expected() {
			ids = append(ids, ran.ID)
		}
	}
	if len(args) > 0 {
		cells, err := c.Select(args)
		if err == nil && !slices.ContainsFunc(cells, func(c plan.Cell) bool { return there[c.ID] }) {
			err = fmt.Errorf("%s has none of the %s that are selected", dir, reports.Counted(len(cells), "cell"))
		}
		failed := reports.Only(cells, func(c plan.Cell) bool { return slices.Contains(ids, c.ID) })
		return plan.WithPartners(failed, cells), err
	}
	all := c.Cells()
	failed, err := pick(all, ids, func(id string) error {
		if again[id] != "" {
			return fmt.Errorf("cell %s of %s is not in the catalog: %s", id, dir, again[id])
		}
		named := strings.TrimSuffix("its file "+file[id], " ")
		return fmt.Errorf("cell %s of %s is not in the catalog: name %s, and add '**' for the cells of the catalog", id, dir, named)
	})
	return plan.WithPartners(failed, all), err
}

// pick returns the cells with ids, in the order of these, and the errors of those
// that are missing.
func pick(cells []plan.Cell, ids []string, missing func(id string) error) ([]plan.Cell, error) {
	have := cellIDs(cells)
	var picked []plan.Cell
	var problems []error
	for _, id := range ids {
		if i := slices.Index(have, id); i >= 0 {
			picked = append(picked, cells[i])
		} else {
			problems = append(problems, missing(id))
		}
	}
	return picked, errors.Join(problems...)
}

func cellIDs(cells []plan.Cell) (ids []string) {
	return reports.Each(cells, func(c plan.Cell) string { return c.ID })
}
