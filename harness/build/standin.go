package build

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/sumdb/dirhash"
)

// StandIn is a module that is compiled instead of one that a Kubernetes release asks for and that can't be had.
type StandIn struct {
	// For is the path of the module that can't be had.
	For string
	// By is what is compiled instead: a module in a version, or a directory, which has no version.
	By module.Version
}

// ParseStandIn reads what a user wants compiled instead of a module: MODULE=VERSION of the same module,
// MODULE=OTHER@VERSION, or MODULE=DIR with a path that begins with /, ./ or ../.
func ParseStandIn(text string) (s StandIn, err error) {
	path, by, ok := strings.Cut(text, "=")
	if !ok || module.CheckPath(path) != nil || by == "" {
		return s, errors.New("want MODULE=VERSION, MODULE=OTHER@VERSION or MODULE=./DIR")
	}
	s.For = path
	switch other, version, of := strings.Cut(by, "@"); {
	case modfile.IsDirectoryPath(by):
		s.By.Path, err = filepath.Abs(by)
	case of:
		s.By = module.Version{Path: other, Version: version}
		err = module.Check(other, version)
	case !semver.IsValid(by):
		err = fmt.Errorf("%q is neither a version like v0.37.1 nor a directory like ./api", by)
	default:
		s.By = module.Version{Path: path, Version: by}
	}
	return s, err
}

// String is how the source of a binary has a stand-in.
func (s StandIn) String() string {
	if s.By.Path == s.For {
		return s.By.String()
	}
	return s.By.String() + " for " + s.For
}

// standIns are what is compiled instead of modules that a target asks for, in the order of their paths.
func (t Target) standIns() []StandIn {
	known := standIns[lockName(t)]
	if t.Component.isKubernetes() {
		known = standIns[string(t.Version.Released())]
	}
	by := make(map[string]module.Version)
	for path, version := range known {
		by[path] = module.Version{Path: path, Version: version}
	}
	for _, s := range t.instead {
		by[s.For] = s.By
	}
	var all []StandIn
	for _, path := range slices.Sorted(maps.Keys(by)) {
		all = append(all, StandIn{For: path, By: by[path]})
	}
	return all
}

// standInNames are what is compiled instead, as the source of a binary has them.
func (t Target) standInNames() (names []string) {
	for _, s := range t.standIns() {
		names = append(names, s.String())
	}
	return names
}

// replaceBy has a go.mod name what stands in for modules.
func replaceBy(file *modfile.File, all []StandIn) (err error) {
	for _, s := range all {
		err = errors.Join(err, file.AddReplace(s.For, "", s.By.Path, s.By.Version))
	}
	return err
}

// standInLines name the directories that stand in, each with the digest of its files: a lock has their paths alone.
func standInLines(all []StandIn) (lines []string, err error) {
	for _, s := range all {
		if s.By.Version != "" {
			continue
		}
		sum, hashErr := dirhash.HashDir(s.By.Path, s.For, dirhash.Hash1)
		if hashErr != nil {
			err = errors.Join(err, fmt.Errorf("reading what stands in for %s: %w", s.For, hashErr))
		}
		lines = append(lines, "stand-in "+s.For+" "+sum)
	}
	return lines, err
}

// standInsOf is what a user lets stand in for modules of a target, as part of a file's name. It is empty if nothing does.
func (t Target) standInsOf() string {
	if len(t.instead) == 0 {
		return ""
	}
	texts := make([]string, len(t.instead))
	for i, s := range t.instead {
		texts[i] = s.String()
	}
	return "-" + digest([]byte(strings.Join(texts, "\n")))[:8]
}

// withStandIns returns a target with the stand-ins of the builder, which are for releases of Kubernetes that ask for these
// modules.
func (b *Builder) withStandIns(t Target) Target {
	if !t.Component.isKubernetes() || t.checkout != nil {
		return t
	}
	for _, s := range b.StandIns {
		if mayNeed(t, s.For) {
			t.instead = append(t.instead, s)
		}
	}
	slices.SortFunc(t.instead, func(a, b StandIn) int { return cmp.Compare(a.For, b.For) })
	return t
}

// mayNeed reports whether a target may ask for a module: it is in the committed lock, or there is none.
func mayNeed(t Target, path string) bool {
	l, err := committedLock(t)
	if err != nil {
		return true
	}
	file, err := modfile.ParseLax("go.mod", l.mod, nil)
	return err != nil || slices.ContainsFunc(file.Require, func(r *modfile.Require) bool { return r.Mod.Path == path })
}
