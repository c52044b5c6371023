package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/skewrig/skewrig/harness/checkout"
	"github.com/skewrig/skewrig/harness/program"
	"github.com/skewrig/skewrig/harness/release"
)

// Source is a checkout of Kubernetes from which components are compiled, in the place of a
// release.
type Source struct {
	release.Source

	// Checkout is what is compiled.
	Checkout *checkout.Checkout
	// Gates are its feature gates, sorted by name.
	Gates []release.Gate
}

// String is what it stands in for: v1.90.1, or kubelet@v1.90.1.
func (s Source) String() string {
	if s.Component == "" {
		return string(s.Instead)
	}
	return s.Component + "@" + string(s.Instead)
}

// About says what it is.
func (s Source) About() string {
	text := fmt.Sprintf("%s: commit %.12s of %s", s.Version, s.Checkout.Commit, s.Checkout.Dir)
	if s.Checkout.Dirty {
		text += ", with changes that are not committed"
	}
	return text
}

// SourceName is what a user calls a source.
type SourceName struct {
	// Component is the one that is compiled from it. If unset, all of Kubernetes are.
	Component Component
	// Instead is the release in whose place it is.
	Instead release.Version
	// Dir is a directory of the checkout.
	Dir string
	// Ref is the commit. If unset, the files are compiled as they are now.
	Ref string
}

// ParseSource reads what a user calls a source: DIR in the place of the newest of the releases,
// DIR@REF for a commit of it, and COMPONENT=DIR or COMPONENT@RELEASE=DIR for one component.
func ParseSource(text string, releases release.Releases) (n SourceName, err error) {
	newest, _ := releases.Pair()
	n = SourceName{Instead: newest, Dir: text}
	if of, dir, both := strings.Cut(text, "="); both && !strings.Contains(of, "/") && !isDir(text) {
		component, version, versioned := strings.Cut(of, "@")
		n.Component, n.Dir = Component(component), dir
		switch {
		case !n.Component.isKnown():
			return n, NoComponent(component)
		case !n.Component.isKubernetes():
			return n, fmt.Errorf("%s is no component of Kubernetes: only these can be compiled from a checkout", component)
		}
		if versioned {
			if n.Instead, err = releases.Resolve(version); err != nil {
				return n, err
			}
		}
	}
	if at := strings.LastIndex(n.Dir, "@"); at > 0 && !isDir(n.Dir) {
		n.Dir, n.Ref = n.Dir[:at], n.Dir[at+1:]
	}
	if !isDir(n.Dir) {
		return n, fmt.Errorf("there is no directory %q: want DIR, DIR@REF, COMPONENT=DIR or COMPONENT@RELEASE=DIR", n.Dir)
	}
	return n, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Open reads the checkout of a source, and has the Builder compile its components from it.
// Nothing is compiled but a program that prints the source's feature gates, which are known
// from then on (release.Learn), as are the fields of its API (release.LearnFields).
func (b *Builder) Open(ctx context.Context, n SourceName) (Source, error) {
	s, err := b.store()
	if err != nil {
		return Source{}, err
	}
	dir, err := filepath.Abs(n.Dir)
	if err != nil {
		return Source{}, err
	}
	// One state for each checkout that is named: its top is not known yet.
	state := s.checkoutState(dir)
	if err := os.MkdirAll(state, 0o700); err != nil {
		return Source{}, err
	}
	unlock, err := lockCheckout(ctx, state, func() {})
	if err != nil {
		return Source{}, err
	}
	defer unlock()
	source := Source{Source: release.Source{Component: string(n.Component), Instead: n.Instead}}
	if source.Checkout, err = checkout.Open(ctx, dir, n.Ref, state); err != nil {
		return source, err
	}
	source.Version = source.Checkout.Version
	if source.Gates, err = s.features(ctx, source.Checkout); err != nil {
		return source, fmt.Errorf("asking %s for its feature gates: %w", source.Checkout.Dir, err)
	}
	api, err := source.Checkout.API(ctx)
	if err != nil {
		return source, err
	}
	release.Learn(source.Version, source.Gates)
	release.LearnFields(source.Version, api.FieldNames())
	b.Sources = append(b.Sources, source)
	return source, nil
}

// checkoutState is where the cache keeps what it knows of a checkout, and a copy of it.
func (s store) checkoutState(dir string) string {
	return filepath.Join(s.work(), "checkouts", digest([]byte(dir))[:16])
}

// Releases are the Pair of the builder, and its sources as scenarios know them.
func (b *Builder) Releases() release.Releases {
	r := b.Pair
	for _, s := range b.Sources {
		r.Sources = append(r.Sources, s.Source)
	}
	return r
}

// On are targets, with the sources that stand in for their releases.
func (b *Builder) On(targets []Target) []Target {
	on := slices.Clone(targets)
	for i, t := range on {
		if t.Component.isKubernetes() {
			on[i].Version = b.Releases().Sources.Of(string(t.Component), t.Version)
		}
	}
	return on
}

// checkoutOf is what a version of a source is compiled from. It is nil for a release.
func (b *Builder) checkoutOf(v release.Version) *checkout.Checkout {
	for _, s := range b.Sources {
		if s.Version == v {
			return s.Checkout
		}
	}
	return nil
}

// ErrNoSource is the error for a version of a checkout that was not opened.
var ErrNoSource = errors.New("it is the version of a checkout, which --source has to name")

// lockCheckout locks the state of a checkout, with its copy.
func lockCheckout(ctx context.Context, state string, waiting func()) (unlock func(), err error) {
	return flock(ctx, state+".lock", waiting)
}

// copyDir is where the state of a checkout has its copy.
func copyDir(state string) string { return filepath.Join(state, "copy") }

// lockSource is the lock with which components of a checkout are compiled that is copied to a
// directory: its own requirements, and the modules that are published on their own from the
// directories in which it has them.
func lockSource(ctx context.Context, c *checkout.Checkout, to string) (l lock, err error) {
	goMod, err := c.File(ctx, "go.mod")
	if err != nil {
		return l, fmt.Errorf("%s is no checkout of Kubernetes: %w", c.Dir, err)
	}
	if l.sum, err = c.File(ctx, "go.sum"); err != nil {
		return l, err
	}
	file, released, err := lockedAs(goMod, "v0.0.0")
	if err != nil {
		return l, fmt.Errorf("the go.mod of %s: %w", c.Dir, err)
	}
	if released.Module.Mod.Path != program.Kubernetes {
		return l, fmt.Errorf("%s is a checkout of %s, and not of %s", c.Dir, released.Module.Mod.Path, program.Kubernetes)
	}
	err = file.AddReplace(program.Kubernetes, "", to, "")
	for _, r := range released.Replace {
		with := r.New.Path
		if modfile.IsDirectoryPath(with) && !filepath.IsAbs(with) {
			with = filepath.Join(to, with)
		}
		err = errors.Join(err, file.AddReplace(r.Old.Path, r.Old.Version, with, r.New.Version))
	}
	if err != nil {
		return l, err
	}
	file.Cleanup()
	l.mod, err = file.Format()
	return l, err
}

// writeSource has the copy of a checkout be as it is compiled: as it was opened, with the
// files of the recipe that are compiled from other text.
func (r *recipe) writeSource(ctx context.Context, to string) error {
	if err := r.target.checkout.CopyTo(ctx, to); err != nil {
		return err
	}
	replaced, err := r.replacements(to)
	for path, text := range replaced {
		err = errors.Join(err, writeFile(filepath.Join(to, path), text))
	}
	return err
}
