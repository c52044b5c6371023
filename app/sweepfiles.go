package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/sweep/show"
	"github.com/skewrig/skewrig/sweep/trial"
)

// The files of a sweep's directory.
const (
	sweptFile  = "sweep.json"
	sweptUses  = "objects.json" // for who goes on
	sweptPlans = "plans"        // the record and the logs of each
	sweptShown = "scenarios"
	sweptAlone = "alone" // the report of the scenarios
)

// sweptDir is the directory of a sweep.
var sweptDir = ownDir{of: "a sweep", files: []string{sweptFile, sweptUses, sweptPlans, sweptShown, sweptAlone, sweptDrafts, show.PageFile, render.JUnitFile}}

// write writes what a sweep came to.
func (s *swept) write(dir string) error {
	return errors.Join(writeJSON(filepath.Join(dir, sweptFile), s.Result), writeJSON(filepath.Join(dir, sweptUses), s.uses))
}

func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return files.WriteBytes(path, 0o644, append(text, '\n'))
}

// ReadSweep reads what a sweep came to. It is an error if the sweep did not run to its end.
func ReadSweep(dir string) (trial.Result, error) {
	var s trial.Result
	err := readJSONBelow(dir, sweptFile, &s)
	if err == nil && s.Partial {
		err = fmt.Errorf("the sweep of %s did not run to its end; its command goes on with it if you add --resume", dir)
	}
	return s, err
}

// HasReport is an error if a directory has neither a report, which says itself what it lacks, nor a sweep that ran to
// its end.
func HasReport(dir string) error {
	if !IsSweep(dir) {
		_, err := ReadReport(dir)
		return err
	}
	_, err := ReadSweep(dir)
	return err
}

// ReadKnown reads what a sweep found, from its file sweep.json.
func ReadKnown(path string) ([]trial.Finding, error) {
	var s trial.Result
	err := readJSON(path, &s)
	return slices.Concat(s.Findings, s.NotConfirmed, s.Known), err
}

func readJSON(path string, v any) error {
	text, err := files.Read(path, files.MaxReport)
	return decodeJSON(path, text, err, v)
}

// readJSONBelow is readJSON for a file below the directory of a sweep, which others may have made.
func readJSONBelow(dir, name string, v any) error {
	text, err := files.ReadBelow(dir, name, files.MaxReport)
	return decodeJSON(filepath.Join(dir, name), text, err, v)
}

func decodeJSON(path string, text []byte, err error, v any) error {
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// read goes on where an earlier sweep of the same ended.
func (s *swept) read(dir string) error {
	var had trial.Result
	if err := readJSONBelow(dir, sweptFile, &had); err != nil {
		return fmt.Errorf("no sweep to go on with: %w", err)
	}
	if !had.IsSame(s.Result) {
		return fmt.Errorf("%s is another sweep (%s): --resume needs the same release, seed, gates, kinds, places and shard", dir, had.Again())
	}
	had.Findings = slices.Concat(had.Findings, had.NotConfirmed, had.Known)
	had.NotConfirmed, had.Known = nil, nil
	had.Partial = true
	s.Result = had
	return readJSONBelow(dir, sweptUses, &s.uses)
}

// shown is an item of a finding with the scenarios that show it, and that do not.
type shown struct {
	finding        int
	of             trial.Found
	alone, control string // ids
	files          []string
}

// writeScenarios writes scenarios for each finding, and each set of gates that shows it.
func (s *swept) writeScenarios(dir string, sources release.Sources) (all []shown, _ error) {
	for _, name := range []string{sweptShown, sweptAlone, sweptDrafts} { // those of an earlier sweep that this one goes on with
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	if _, err := files.MkdirBelow(dir, sweptShown, 0o755); err != nil {
		return nil, err
	}
	for n, f := range s.Findings {
		for _, found := range f.Smallest() {
			if !found.HasItem() {
				continue // a component, and no object
			}
			alone := s.alone(found).Instead(sources)
			one := shown{finding: n, of: found}
			var err error
			if one.alone, err = one.write(dir, alone, f); err != nil {
				return nil, err
			}
			if one.control, err = one.write(dir, alone.Control(), f); err != nil {
				return nil, err
			}
			all = append(all, one)
		}
	}
	return all, nil
}

// own are the gates of what shows a finding that can be set. What is not about a field is about any gate of its
// plan, or about those that it was made smaller to.
func (s *swept) own(of trial.Found) []string {
	switch {
	case !of.IsControl() && of.HasItem() && len(of.Off) == 0:
		return slices.DeleteFunc(of.AllGates(), func(gate string) bool { return !slices.Contains(s.Settable, gate) })
	case len(of.Off) > 0:
		return of.Off
	default:
		return s.plans[of.Plan].Gates
	}
}

// alone is what shows an item alone: its gates on, and off, with what has to be so with them.
func (s *swept) alone(found trial.Found) trial.Setting {
	of := release.Effective{Version: s.Version}
	on, off := make(release.Gates), make(release.Gates)
	for _, name := range s.own(found) {
		on[name], off[name] = true, false
	}
	off = release.WithDependents(of, off)
	on = release.WithDependents(of, on)
	for name := range off { // what is not on by itself is so from the first
		if !on[name] {
			on[name] = release.On(of, on, name)
		}
	}
	p := s.plans[found.Plan]
	return trial.Setting{Version: s.Version, Transition: p.Transition, On: on, To: off, Killed: p.Killed}
}

// scenarioFile is where the directory has the scenario of an id.
func scenarioFile(id string) string {
	return path.Join(sweptShown, strings.ReplaceAll(strings.TrimPrefix(id, "sweep/"), "/", "-")+".yaml")
}

func (s *shown) write(dir string, alone trial.Setting, f trial.Finding) (id string, _ error) {
	id, text, err := trial.Scenario(alone, f, s.of)
	if err != nil {
		return id, err
	}
	file := filepath.Join(dir, scenarioFile(id))
	s.files = append(s.files, file)
	return id, files.WriteBytes(file, 0o644, text)
}
