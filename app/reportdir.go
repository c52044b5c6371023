package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/harness/claim"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/page"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// Place is where a report is to go.
type Place struct {
	// Dir is the report directory. It is made if it does not exist.
	Dir string
	// Force replaces a report of other cells that is there. If unset, that is an
	// error.
	Force bool
	// Tell is called with a sentence that says which report is replaced. If unset, it is
	// not said.
	Tell func(string)
}

// ReportDir is a report directory that this process has for itself.
type ReportDir struct {
	dir   string
	made  bool
	claim *claim.Claim
}

// Claim takes the directory for a report of cells, given by their ids. It is an error
// if another process has it, if it has something else than a report, or a report with
// cells that are not among these. Nothing in the directory is changed yet.
func (p Place) Claim(cells []string) (_ *ReportDir, err error) {
	if p.Dir == "" {
		return nil, errors.New("the report directory has no name: choose one (--report-dir)")
	}
	files, err := fileNames(p.Dir)
	if err := errors.Join(err, foreign(p.Dir, files)); err != nil {
		return nil, err
	}
	d := &ReportDir{dir: p.Dir, made: files == nil}
	if err := os.MkdirAll(p.Dir, 0o755); err != nil {
		return nil, err
	}
	if d.claim, err = claim.Take(p.Dir, claim.Me(CommandLine(os.Args))); err != nil {
		return nil, errors.Join(Failed(err), d.remove())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	report, err := ReadReport(p.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return d, nil
	case err != nil:
		return nil, fmt.Errorf("%w: it is no report that this skewrig can replace; choose another --report-dir", err)
	}
	sentence, err := replacing(p, report, cells)
	if err == nil && p.Tell != nil {
		p.Tell(sentence)
	}
	return d, err
}

// begin claims the directory for a report of cells, unless the caller has claimed it, and removes the report that it
// replaces. Done gives the directory back, if it was not the caller's.
func (p Place) begin(claimed *ReportDir, cells []string) (done func() error, err error) {
	if claimed != nil {
		return func() error { return nil }, claimed.clear()
	}
	if claimed, err = p.Claim(cells); err != nil {
		return nil, err
	}
	done = func() error { return Failed(claimed.Close()) }
	if err := claimed.clear(); err != nil {
		return nil, errors.Join(err, done())
	}
	return done, nil
}

// ClaimFor is Claim for planned cells.
func (p Place) ClaimFor(cells []plan.Cell) (*ReportDir, error) { return p.Claim(cellIDs(cells)) }

// Close gives the directory back. If it was made for the claim and nothing was
// written, it is removed.
func (d *ReportDir) Close() error { return errors.Join(d.claim.Release(), d.remove()) }

func (d *ReportDir) remove() error {
	if !d.made {
		return nil
	}
	if err := os.Remove(d.dir); err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) { // a report is there
		return err
	}
	return nil
}

// clear removes the report that is there. The report itself goes first: what a killed
// process leaves is cells without a report, and no mixture of two.
func (d *ReportDir) clear() error { return d.clearBut("") }

// clearBut is clear, but for what has a name.
func (d *ReportDir) clearBut(kept string) error {
	files, err := fileNames(d.dir)
	if err != nil {
		return Failed(err)
	}
	for _, name := range append(slices.Clone(reportFiles), slices.DeleteFunc(files, func(name string) bool { return !unwhole(name) || name == kept })...) {
		if err := os.RemoveAll(filepath.Join(d.dir, name)); err != nil {
			return Failed(err)
		}
	}
	return nil
}

// replaceCells replaces the report that is there by what a function writes of the files
// of cells to a directory. If that fails, the report stays.
func (d *ReportDir) replaceCells(write func(dir string) error) (err error) {
	aside, err := os.MkdirTemp(d.dir, "."+render.JSONFile+".")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(aside)) }()
	if err := write(aside); err != nil {
		return err
	}
	if err := d.clearBut(filepath.Base(aside)); err != nil {
		return err
	}
	names, err := fileNames(aside)
	for _, name := range names {
		err = errors.Join(err, os.Rename(filepath.Join(aside, name), filepath.Join(d.dir, name)))
	}
	return err
}

// reportFiles are the names of what a report directory has, those of the files of
// cells last. Earlier releases wrote report.md.
var reportFiles = []string{render.JSONFile, render.JUnitFile, "report.md", page.Name, "cells", "shared", "runs"}

// unwhole reports whether a name is of what is written to become one of reportFiles: who
// is killed leaves it.
func unwhole(name string) bool {
	return slices.ContainsFunc(reportFiles, func(file string) bool { return strings.HasPrefix(name, "."+file+".") })
}

// fileNames are the names of what is in a directory: nil if there is no directory.
func fileNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// foreign returns an error if what a directory has is no report. What a process that
// was killed has left of one still has its lock.
func foreign(dir string, files []string) error {
	if len(files) == 0 || slices.Contains(files, render.JSONFile) {
		return nil
	}
	others := slices.DeleteFunc(slices.Clone(files), func(name string) bool {
		return slices.Contains(reportFiles, name) || unwhole(name) || name == claim.File
	})
	if slices.Contains(files, claim.File) && len(others) == 0 {
		return nil
	}
	return fmt.Errorf("%s has %s and no %s, so it is no report directory, and nothing in it is replaced: choose another --report-dir",
		dir, render.VisibleWhole(reports.Few(files, maxNamed)), render.JSONFile)
}

// replacing returns a sentence about the report that one of cells replaces, or an error
// if that has other cells. Those that had not begun when a run ended early are no evidence.
func replacing(p Place, there reports.Report, cells []string) (string, error) {
	of := fmt.Sprintf("the report of %s", reports.Counted(len(there.Cells), "cell"))
	if made := started(there); !made.IsZero() {
		of += " that ran at " + made.Local().Format(time.DateTime)
	}
	var others []string
	for _, c := range there.Cells {
		if began := !c.Unfinished || !c.Started.IsZero(); began && !slices.Contains(cells, c.ID) {
			others = append(others, c.ID)
		}
	}
	switch {
	case len(others) == 0:
		return fmt.Sprintf("Replacing %s in %s: the new one has all its cells", of, p.Dir), nil
	case p.Force:
		return fmt.Sprintf("Replacing %s in %s, as --force says", of, p.Dir), nil
	}
	return "", fmt.Errorf("%s has %s, and %d of them would not be in the new one: %s. Choose another directory (--report-dir %s), or replace that report (--force)",
		p.Dir, of, len(others), reports.Few(others, maxNamed), reports.DirFor([]string{p.Dir}, cells...))
}

// maxNamed is how many files or cells a sentence names.
const maxNamed = 3

// started is when the first cell of a report started. It is zero if none did.
func started(r reports.Report) (first time.Time) {
	for _, c := range r.Cells {
		if !c.Started.IsZero() && (first.IsZero() || c.Started.Before(first)) {
			first = c.Started
		}
	}
	return first
}
