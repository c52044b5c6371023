package app

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/known"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/ledger"
	"github.com/skewrig/skewrig/scenarios/own"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// Catalog is what there is to run unless a user names a file: the catalog that comes
// with skewrig, or that of the repository that the working directory is in, or both.
type Catalog struct {
	// Own are the cells of the repository. If it has no skewrig.yaml, there are none.
	Own []plan.Cell
	// BuiltIn are the cells that come with skewrig. If the repository's stand in their
	// place, there are none.
	BuiltIn []plan.Cell
	// Requirements are what the checks of these cells prove, and what the oracles ask of
	// every cell.
	Requirements []reports.Requirement
	// Known is what they are known to fail.
	Known known.List
	// Releases are those that words of scenarios stand for. If unset, the default ones.
	Releases release.Releases
}

// Here returns the catalog of the working directory. Everything that is wrong with a
// repository's own is reported.
func Here() (Catalog, error) { return HereOn(release.Releases{}) }

// HereOn is Here with other releases than the default ones.
func HereOn(releases release.Releases) (Catalog, error) {
	ours, err := builtIn()
	if err != nil {
		return Catalog{}, Failed(err)
	}
	repository, err := ownCatalog(releases)
	if err != nil {
		stated := Catalog{Requirements: slices.Concat(repository.Requirements, ours.Requirements)}
		_, err := stated.addProblems(err, repository.Files)
		return Catalog{}, err
	}
	here := Catalog{Own: repository.Cells, BuiltIn: slices.Clone(ours.BuiltIn), Known: repository.Known, Releases: releases}
	if !releases.Default() {
		if here.BuiltIn, err = catalog.CellsOn(releases); err != nil {
			return Catalog{}, Failed(err)
		}
	}
	requirements := slices.Clone(ours.Requirements)
	if repository.Dir != "" && !repository.BuiltIn {
		here.BuiltIn = nil
		requirements = slices.DeleteFunc(requirements, func(r reports.Requirement) bool { return r.KEP != ledger.Oracles })
	} else {
		here.Known.Deviations = slices.Concat(repository.Known.Deviations, ours.Known.Deviations)
	}
	here.Requirements = slices.Concat(repository.Requirements, requirements)
	return here, here.saidTwice()
}

// Excusing returns the catalog with what the list in a file says is known to fail, too. If
// the file is unset, there is none.
func (c Catalog) Excusing(file string) (Catalog, error) {
	if file == "" {
		return c, nil
	}
	more, err := known.Load(file)
	c.Known.Deviations = slices.Concat(c.Known.Deviations, more.Deviations)
	return c, err
}

// ownCatalog is that of the repository. Its directory is empty if there is none.
func ownCatalog(releases release.Releases) (own.Catalog, error) {
	dir, err := os.Getwd()
	if err != nil {
		return own.Catalog{}, err
	}
	dir, found := own.Find(dir)
	if !found {
		return own.Catalog{}, nil
	}
	return own.LoadOn(dir, releases)
}

// builtIn is what comes with skewrig, which is read once: it takes a fifth of a second.
var builtIn = sync.OnceValues(func() (Catalog, error) {
	cells, err := catalog.Cells()
	requirements, ledgerErr := ledger.Requirements()
	list, knownErr := known.Parse(catalog.KnownDeviationsFile, catalog.KnownDeviations)
	return Catalog{BuiltIn: cells, Requirements: requirements, Known: list}, errors.Join(err, ledgerErr, knownErr)
})

// saidTwice finds what the repository has under the name of something that comes with
// skewrig.
func (c *Catalog) saidTwice() error {
	var problems []error
	taken := cellIDs(c.BuiltIn)
	for _, cell := range c.Own {
		if slices.Contains(taken, cell.ID) {
			problems = append(problems, fmt.Errorf("%s: the catalog that comes with skewrig has a cell %s too: choose another id", cell.File, cell.ID))
		}
	}
	stated := make(map[string]bool)
	for _, r := range c.Requirements {
		if stated[r.ID] {
			problems = append(problems, fmt.Errorf("the ledgers that come with skewrig have a statement %s too: choose another id", r.ID))
		}
		stated[r.ID] = true
	}
	return errors.Join(problems...)
}

// Cells are all that can be run.
func (c Catalog) Cells() []plan.Cell { return slices.Concat(c.Own, c.BuiltIn) }

// Default are the cells that are run unless others are asked for: all of the
// repository's and, of those that come with skewrig, what the default pair shows.
func (c Catalog) Default() []plan.Cell {
	return slices.Concat(c.Own, catalog.Default(c.BuiltIn, c.Releases))
}

// DefaultTargets are what the cells that are run by default need: for those that come
// with skewrig all of the newest release, and the kubelet of the one before.
func (c Catalog) DefaultTargets() []build.Target {
	targets := Targets(c.Own)
	if len(c.BuiltIn) > 0 {
		newest, previous := c.Releases.Pair()
		targets = append(append(targets, build.AllOf(newest)...), build.Target{Component: build.Kubelet, Version: previous})
	}
	return targets
}
