package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// toolchainFile, in a cache that was exported, says which toolchains made its entries, one in each line. It
// counts where there is no Go command.
const toolchainFile = "toolchain"

// Export builds targets, and makes another cache of them, in a directory. A skewrig
// finds them there without the Go command; to build others, it needs one.
func (b *Builder) Export(ctx context.Context, targets []Target, dir string) error {
	x, _, err := b.exported(ctx, targets)
	if err != nil {
		return err
	}
	to := store{dir: dir}
	if err := errors.Join(to.writeExportedWith(x.toolchains), writeFile(filepath.Join(dir, "go.mod"), []byte(stub))); err != nil {
		return err
	}
	for _, e := range x.entries {
		if err := e.copyTo(to.entry(e.target, e.key())); err != nil {
			return fmt.Errorf("exporting %s: %w", e.target, err)
		}
	}
	for name, l := range x.locks {
		if err := l.write(dir, name); err != nil {
			return err
		}
	}
	return b.exportAPIs(ctx, targets, dir)
}

// exports are what another cache is made of.
type exports struct {
	toolchains []string // of the entries
	entries    []entry
	// locks are those that were generated, by their place in a cache: where they are
	// missing, only the network tells which entry is a target's.
	locks map[string]lock
}

// exported builds targets, and returns what another cache of them is made of, and their
// binaries.
func (b *Builder) exported(ctx context.Context, targets []Target) (exports, []Binary, error) {
	if err := b.exportable(targets); err != nil {
		return exports{}, nil, err
	}
	built, err := b.Build(ctx, targets)
	if err != nil {
		return exports{}, nil, err
	}
	s, err := b.store()
	if err != nil {
		return exports{}, nil, err
	}
	x := exports{locks: make(map[string]lock)}
	for _, t := range targets {
		if err := x.add(ctx, s, t); err != nil {
			return exports{}, nil, fmt.Errorf("exporting %s: %w", t, err)
		}
	}
	return x, built, nil
}

// exportable is an error if what is built for targets can't be exported.
func (b *Builder) exportable(targets []Target) error {
	if len(b.Given) > 0 {
		return errors.New("a ready-made binary can't be exported: its cache would hold no recipe of it")
	}
	if b.Toolchain == ReleasedToolchain {
		return errors.New("what the Go of a release compiled can't be exported: a machine without it could not tell which entry is the release's")
	}
	if len(b.StandIns) > 0 {
		return errors.New("what stands in for modules can't be exported: another machine would not look for it")
	}
	if len(b.Overlays) > 0 || slices.ContainsFunc(targets, func(t Target) bool { return len(t.Overlay) > 0 }) {
		return errors.New("a patched component can't be exported: its entry names files of this machine")
	}
	return nil
}

// add adds the entry of a target, unless it is there.
func (x *exports) add(ctx context.Context, s store, t Target) error {
	recipe, err := newRecipe(ctx, s, t)
	if err != nil {
		return err
	}
	e := s.entry(t, recipe.key())
	if slices.ContainsFunc(x.entries, func(other entry) bool { return other.dir == e.dir }) {
		return nil
	}
	x.entries = append(x.entries, e)
	if !slices.Contains(x.toolchains, recipe.toolchain) {
		x.toolchains = append(x.toolchains, recipe.toolchain)
	}
	if !isLocked(t) {
		x.locks[generatedLock(t)] = recipe.lock
	}
	return nil
}

// copyTo copies an entry to another cache, unless it is there, and checks the copy.
func (e entry) copyTo(to entry) error {
	_, err := to.load()
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.CopyFS(to.dir, os.DirFS(e.dir)); err != nil {
			return err
		}
		_, err = to.load()
	}
	return err
}
