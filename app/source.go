package app

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports"
)

// WithReleases writes down what a run says of the releases of a builder, and of its checkouts.
func WithReleases(ctx context.Context, builder *build.Builder, r *reports.Reproduce) error {
	r.Newest, r.Previous = builder.Pair.Pair()
	tables, err := release.KnownTables()
	if err != nil {
		return Failed(err)
	}
	for _, v := range []release.Version{r.Newest, r.Previous} {
		gates, known, err := release.Table(release.Effective{Version: v})
		if err != nil {
			return Failed(err)
		}
		if _, has := tables[v.MajorMinor()]; known && !has {
			if r.Gates == nil {
				r.Gates = make(map[release.Version]string)
			}
			r.Gates[v] = release.FormatGates(gates)
		}
	}
	for _, s := range builder.Sources {
		diff, err := s.Checkout.Diff(ctx)
		if err != nil {
			return Failed(fmt.Errorf("what was changed in %s: %w", s.Checkout.Dir, err))
		}
		r.Sources = append(r.Sources, reports.Source{
			Component: s.Component, Instead: s.Instead, Version: s.Version, Dir: s.Checkout.Dir,
			Commit: s.Checkout.Commit, Tree: s.Checkout.Tree, Diff: diff, Gates: release.FormatGates(s.Gates),
		})
	}
	return nil
}

// onReleasesOf is the catalog on the releases of a saved run.
func (c Catalog) onReleasesOf(saved reports.Report) (Catalog, error) {
	releases, err := saved.Reproduce.Releases()
	if err != nil || releases.Default() {
		return c, err
	}
	on, err := HereOn(releases)
	on.Known = c.Known
	return on, err
}

// Directories are those with Go files of the Sources that are compiled as they are now, and
// not as some commit has them.
func (b Binaries) Directories() (all []string, _ error) {
	seen := make(map[string]bool)
	for _, text := range b.Sources {
		name, err := build.ParseSource(text, release.Releases{})
		if err != nil {
			return nil, fmt.Errorf("--source %s: %w", text, err)
		}
		if name.Ref != "" {
			continue
		}
		err = filepath.WalkDir(name.Dir, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && path != name.Dir && (slices.Contains(notCompiled, entry.Name()) || strings.HasPrefix(entry.Name(), ".")):
				return fs.SkipDir
			case strings.HasSuffix(path, ".go") && !seen[filepath.Dir(path)]:
				seen[filepath.Dir(path)] = true
				all = append(all, filepath.Dir(path))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// notCompiled are directories of a checkout of Kubernetes with what is no part of a component.
var notCompiled = []string{"_output", "docs", "hack", "test", "testdata", "third_party", "vendor"}
