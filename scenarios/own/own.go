// Package own reads the catalog of a user's own repository: the file skewrig.yaml, and
// the scenarios, ledgers and known deviations that it names.
package own

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/known"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/ledger"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

const (
	// File is the name of the file that makes a directory, with all below it, a
	// catalog.
	File = "skewrig.yaml"
	// APIVersion is what the file must declare.
	APIVersion = reports.APIVersion
	// Kind is what it must declare, too.
	Kind = "Catalog"
)

// Config is what the file skewrig.yaml says. Its paths begin in the directory of the
// file. They are patterns: * stands for any part of a name (scenarios/*.yaml).
type Config struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Scenarios are the scenario files. Manifests that scenarios name are not among
	// them: keep these in a folder of their own.
	Scenarios []string `json:"scenarios"`
	// Ledgers are files of statements that checks of the scenarios prove. If unset,
	// there are none, and checks have no requirement.
	Ledgers []string `json:"ledgers,omitempty"`
	// KnownDeviations are lists of checks that are known to fail. If unset, none is.
	KnownDeviations []string `json:"knownDeviations,omitempty"`
	// Releases are axes that the scenarios share: a scenario that refers to ${kubelet}
	// and has no axis kubelet has the one of this name. Values are releases as in a
	// scenario: newest, previous, v1.36, or vX.Y.Z. If unset, scenarios share none.
	Releases map[string][]string `json:"releases,omitempty"`
	// BuiltIn has the catalog that comes with skewrig listed and run beside this one.
	// If unset, this one stands in its place.
	BuiltIn bool `json:"builtIn,omitempty"`
}

// Catalog is the catalog of a repository.
type Catalog struct {
	Config
	// Dir is the directory of the file.
	Dir string
	// Cells are planned in the order of the scenario files' names. Their files go by
	// their paths from Dir.
	Cells        []plan.Cell
	Requirements []reports.Requirement
	Known        known.List
	// Files are the scenario files. If something is wrong with one, it has what could be decoded.
	Files []*spec.File
}

// Find returns the nearest directory with a file skewrig.yaml, from a directory
// upwards, and false if there is none.
func Find(dir string) (string, bool) {
	for {
		if info, err := os.Stat(filepath.Join(dir, File)); err == nil && info.Mode().IsRegular() {
			return dir, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

// ReadConfig reads the file skewrig.yaml of a directory, and the names of the files
// that it has. Everything that is wrong with the file is reported.
func ReadConfig(dir string) (Config, error) {
	config, _, err := read(files.RootFS(dir, files.MaxText))
	return config, err
}

// Load reads the catalog of a directory with a file skewrig.yaml. Everything that is
// wrong with the files is reported.
func Load(dir string) (Catalog, error) { return LoadOn(dir, release.Releases{}) }

// LoadOn is Load with other releases than the default ones.
func LoadOn(dir string, releases release.Releases) (Catalog, error) {
	from := files.RootFS(dir, files.MaxText)
	config, names, err := read(from)
	if err != nil {
		return Catalog{}, err
	}
	c := Catalog{Config: config, Dir: dir}
	c.Files, err = action.LoadWith(action.Options{Axes: config.Releases, Releases: releases, MarkUnfit: releases.Chosen()}, from, names.scenarios)
	if err == nil {
		c.Cells, err = plan.Cells(c.Files)
	}
	var alsoErr error
	c.Requirements, alsoErr = ledger.Load(from, names.ledgers)
	problems := []error{err, alsoErr}
	for _, name := range names.known {
		list, err := readKnown(from, name)
		c.Known.Deviations = append(c.Known.Deviations, list.Deviations...)
		problems = append(problems, err)
	}
	return c, errors.Join(problems...)
}

func readKnown(files fs.FS, name string) (known.List, error) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return known.List{}, err
	}
	return known.Parse(name, text)
}

// names are the files that a config names, each list sorted.
type names struct{ scenarios, ledgers, known []string }

// read reads a file skewrig.yaml.
func read(files fs.FS) (config Config, found names, _ error) {
	text, err := fs.ReadFile(files, File)
	if err != nil {
		return config, found, err
	}
	document := strict.ReadDocument(File, text, &config)
	document.Constant("apiVersion", config.APIVersion, APIVersion)
	document.Constant("kind", config.Kind, Kind)
	document.Refuse("scenarios", len(config.Scenarios) == 0, "it is empty: there would be nothing to run")
	found = names{
		scenarios: expand(document, files, "scenarios", config.Scenarios),
		ledgers:   expand(document, files, "ledgers", config.Ledgers),
		known:     expand(document, files, "knownDeviations", config.KnownDeviations),
	}
	for _, axis := range slices.Sorted(maps.Keys(config.Releases)) {
		checkReleases(document, axis, config.Releases[axis])
	}
	return config, found, document.Err()
}

// expand returns the files that the patterns of a field match. Each must match some.
func expand(document *strict.Document, files fs.FS, field string, patterns []string) (found []string) {
	for i, pattern := range patterns {
		at := fmt.Sprintf("%s[%d]", field, i)
		if !fs.ValidPath(pattern) {
			document.Refuse(at, true, "%s is not a path of files below this one, like scenarios/*.yaml", strict.Quote(pattern))
			continue
		}
		matches, err := fs.Glob(files, pattern)
		if errors.Is(err, path.ErrBadPattern) {
			document.Refuse(at, true, "%s is not a pattern of paths: %v", strict.Quote(pattern), err)
			continue
		}
		document.Refuse(at, len(matches) == 0, "there is no file %s", strict.Quote(pattern))
		found = append(found, matches...)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// checkReleases notes values of a shared axis that stand for no release.
func checkReleases(document *strict.Document, axis string, values []string) {
	at := fmt.Sprintf("releases[%q]", axis)
	document.Refuse(at, len(values) == 0, "the axis has no values")
	for i, value := range values {
		if release.Version(value) == release.Reference {
			continue
		}
		_, err := release.Resolve(value)
		document.Refuse(fmt.Sprintf("%s[%d]", at, i), err != nil, "%v", err)
	}
}
