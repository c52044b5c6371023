// Package catalog holds the scenarios that come with skewrig, in one folder per
// KEP or area.
package catalog

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

//go:embed */*.yaml
var files embed.FS

// KnownDeviations is the text of the list of what releases are known to do
// wrong in the catalog's cells (package known), KnownDeviationsFile its name.
//
//go:embed known-deviations.yaml
var KnownDeviations []byte

// KnownDeviationsFile is where that list stands.
const KnownDeviationsFile = "scenarios/catalog/known-deviations.yaml"

// Cells plans the catalog.
func Cells() ([]plan.Cell, error) {
	paths, err := fs.Glob(files, "*/*.yaml")
	if err != nil {
		return nil, err
	}
	scenarios, err := action.LoadWith(action.Options{MarkUnfit: true}, files, paths)
	if err != nil {
		return nil, err
	}
	return plan.Cells(scenarios)
}

// CellsOn plans the catalog on other releases than the default ones. The cells of a file that can't be planned so are
// marked as unfit, with the reason.
func CellsOn(releases release.Releases) (cells []plan.Cell, err error) {
	paths, err := fs.Glob(files, "*/*.yaml")
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		scenarios, err := action.LoadWith(action.Options{Releases: releases, MarkUnfit: true}, files, []string{path})
		if err == nil {
			var some []plan.Cell
			some, err = plan.Cells(scenarios)
			cells = append(cells, some...)
		}
		if err == nil {
			continue
		}
		for _, f := range scenarios {
			cells = append(cells, Unfit(plan.Parts(f), err)...)
		}
	}
	return cells, nil
}

// Unfit returns cells that the releases can't run, with the reason.
func Unfit(cells []plan.Cell, why error) []plan.Cell {
	cells = slices.Clone(cells)
	for i := range cells {
		cells[i].Unfit = strings.ReplaceAll(why.Error(), "\n", "; ")
	}
	return cells
}

// Default returns those of the cells that run unless others are asked for: what
// the pair shows of the KEPs with one API server, without the known regressions and
// other areas, and without what is compared with a cell that needs more.
func Default(cells []plan.Cell, releases release.Releases) []plan.Cell {
	all := slices.DeleteFunc(OnPair(cells, releases), func(c plan.Cell) bool {
		return !strings.HasPrefix(c.Area, "kep-") || len(c.Topology.Servers()) > 1
	})
	there := make(map[string]bool)
	for _, c := range all {
		there[c.ID] = true
	}
	return slices.DeleteFunc(all, func(c plan.Cell) bool { return c.With != "" && !there[c.With] })
}

// OnPair returns those of the cells that need nothing but what is built unless something else
// is asked for: the newest release, the kubelet of the one before, and that of the reference.
func OnPair(cells []plan.Cell, releases release.Releases) []plan.Cell {
	newest, previous := releases.Pair()
	return slices.DeleteFunc(slices.Clone(cells), func(c plan.Cell) bool {
		return slices.ContainsFunc(plan.Targets([]plan.Cell{c}), func(t plan.Target) bool {
			kubelet := t.Component == "kubelet" && (t.Version == previous || t.Version == release.Reference)
			return t.IsClient() || t.OwnClock || t.Version != newest && t.Version != release.Etcd && !kubelet
		})
	})
}

// realDifferences is the text of what a scenario shows otherwise on nodes with real containers than on simulated ones,
// with reasons.
//
//go:embed real-differences.yaml
var realDifferences []byte

// RealDifferences are those that must be.
func RealDifferences() ([]spec.Explained, error) {
	var list struct {
		Differences []spec.Explained `json:"differences"`
	}
	document := strict.ReadDocument("scenarios/catalog/real-differences.yaml", realDifferences, &list)
	for i, d := range list.Differences {
		at := fmt.Sprintf("differences[%d]", i)
		document.Refuse(at+".what", strings.Trim(d.What, "* ") == "", "say what differs")
		document.Refuse(at+".because", strings.TrimSpace(d.Because) == "", "say why it must differ")
	}
	return list.Differences, document.Err()
}
