package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/sweep/trial"
)

// The files of a sweep's directory.
const (
	sweptFile    = "sweep.json"
	sweptHistory = "history.jsonl"
	sweptLogs    = "logs"
	sweptPlans   = "scenarios"
	sweptAlone   = "alone" // the report of the scenarios
)

// clearSweep makes the directory of a sweep. What an earlier sweep left there is removed; it is an error
// if there is anything else.
func clearSweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return Failed(err)
	}
	known := []string{sweptFile, sweptHistory, sweptLogs, sweptPlans, sweptAlone}
	for _, e := range entries {
		if !slices.Contains(known, e.Name()) {
			return fmt.Errorf("%s is not of a sweep: choose another directory (--report-dir)", filepath.Join(dir, e.Name()))
		}
	}
	for _, name := range known {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return Failed(err)
		}
	}
	return Failed(os.MkdirAll(filepath.Join(dir, sweptLogs), 0o755))
}

// write writes what a sweep came to.
func (s Swept) write(dir string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, sweptFile), append(text, '\n'), 0o644) //nolint:gosec // a report is for all to read
}

// shown is an item of a finding with the scenarios that show it, and that do not.
type shown struct {
	finding        int
	kind           string
	gates          []string
	alone, control string // ids
	files          []string
}

// writeScenarios writes scenarios for each finding, and each kind and set of gates that shows it.
func (s Swept) writeScenarios(dir string) (all []shown, _ error) {
	if err := os.MkdirAll(filepath.Join(dir, sweptPlans), 0o755); err != nil {
		return nil, err
	}
	for n, f := range s.Findings {
		for _, found := range f.Smallest() {
			gates := make(release.Gates)
			for _, name := range slices.Concat(found.Gates, found.Under) {
				if !s.locked(name) {
					gates[name] = true
				}
			}
			on, off := s.alone(gates)
			one := shown{finding: n, kind: found.Kind, gates: found.Gates}
			var err error
			if one.alone, err = one.write(dir, s.Version, f, found, on, off); err != nil {
				return nil, err
			}
			if one.control, err = one.write(dir, s.Version, f, found, on, on); err != nil {
				return nil, err
			}
			all = append(all, one)
		}
	}
	return all, nil
}

// locked reports whether a gate of the release can't be set.
func (s Swept) locked(gate string) bool {
	return slices.ContainsFunc(release.GateConflicts(release.Effective{Version: s.Version}, release.Gates{gate: false}), func(c release.GateConflict) bool { return len(c.Too) == 0 })
}

// alone are gates that are on, and off, with what has to be so with them.
func (s Swept) alone(gates release.Gates) (on, off release.Gates) {
	of := release.Effective{Version: s.Version}
	off = make(release.Gates)
	for name := range gates {
		off[name] = false
	}
	off = release.WithDependents(of, off)
	on = release.WithDependents(of, gates)
	for name := range off { // what is not on by itself is so from the first
		if !on[name] {
			on[name] = release.On(of, on, name)
		}
	}
	return on, off
}

func (s *shown) write(dir string, v release.Version, f trial.Finding, found trial.Found, on, to release.Gates) (id string, _ error) {
	id, text, err := trial.Scenario(v, f, found, on, to)
	if err != nil {
		return id, err
	}
	file := filepath.Join(dir, sweptPlans, strings.ReplaceAll(strings.TrimPrefix(id, "sweep/"), "/", "-")+".yaml")
	s.files = append(s.files, file)
	return id, os.WriteFile(file, text, 0o644) //nolint:gosec // as above
}
