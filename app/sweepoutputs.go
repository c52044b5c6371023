package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/sweep/show"
	"github.com/skewrig/skewrig/sweep/trial"
)

// sweptDrafts is where a sweep's directory has drafts of issues.
const sweptDrafts = "drafts"

// writeSweepPages writes what people and programs read of a sweep beside its findings: a page, a JUnit file, and a draft of
// an issue for each finding that was not known. alone is what shows an item alone; the scenarios are in the directory
// already.
func writeSweepPages(dir string, s trial.Result, alone func(trial.Found) trial.Setting) error {
	o := sweepOutputs{dir: dir, swept: s, alone: alone}
	if _, err := files.MkdirBelow(dir, sweptDrafts, 0o755); err != nil {
		return err
	}
	errs := []error{
		o.write(show.PageFile, func(w io.Writer) error {
			return show.Page(w, s, show.Links{Draft: o.draftFile, Scenarios: o.scenarios})
		}),
		o.write(render.JUnitFile, func(w io.Writer) error { return show.JUnit(w, s) }),
	}
	for _, l := range s.All() {
		if file := o.draftFile(l); file != "" {
			errs = append(errs, o.write(file, o.draft(l).Write))
		}
	}
	return errors.Join(errs...)
}

// sweepOutputs are the files that writeSweepPages writes.
type sweepOutputs struct {
	dir   string
	swept trial.Result
	alone func(trial.Found) trial.Setting
}

// write writes a file when all of it is there.
func (o sweepOutputs) write(name string, write func(io.Writer) error) error {
	if err := files.Write(filepath.Join(o.dir, name), 0o644, write); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// draftFile is the file of the draft for a finding. What is known needs none.
func (sweepOutputs) draftFile(l trial.Listed) string {
	if l.Standing == trial.SeenBefore {
		return ""
	}
	return path.Join(sweptDrafts, l.ID()+".md")
}

func (o sweepOutputs) draft(l trial.Listed) show.Draft {
	d := show.Draft{Finding: l.Finding, Version: o.swept.Version, Again: o.swept.Again()}
	for _, found := range l.Smallest() {
		if !found.HasItem() {
			continue
		}
		c := show.Case{Found: found, Alone: o.alone(found)}
		c.Scenario, c.Control = o.scenario(c.Alone, l, found), o.scenario(c.Alone.Control(), l, found)
		d.Cases = append(d.Cases, c)
	}
	return d
}

// scenarios are the files that show an item, and that its control does not.
func (o sweepOutputs) scenarios(l trial.Listed, found trial.Found) (files []string) {
	alone := o.alone(found)
	for _, a := range []trial.Setting{alone, alone.Control()} {
		if file := o.scenario(a, l, found); file != "" {
			files = append(files, file)
		}
	}
	return files
}

// scenario is the file of a scenario. It is empty if there is none.
func (o sweepOutputs) scenario(a trial.Setting, l trial.Listed, found trial.Found) string {
	id, _, err := trial.Scenario(a, l.Finding, found)
	if err != nil {
		return ""
	}
	file := scenarioFile(id)
	if _, err := os.Stat(filepath.Join(o.dir, file)); err != nil {
		return ""
	}
	return file
}

// IsSweep reports whether a directory is of a sweep, and not of a run.
func IsSweep(dir string) bool {
	is := func(file string) bool {
		_, err := os.Stat(filepath.Join(dir, file))
		return err == nil
	}
	return is(sweptFile) && !is(render.JSONFile)
}
