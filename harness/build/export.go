package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// toolchainFile, in a cache that was exported, says which toolchain made its entries. It
// counts where there is no Go command.
const toolchainFile = "toolchain"

// Export builds targets, and makes another cache of them, in a directory. A skewrig
// finds them there without the Go command; to build others, it needs one.
func (b *Builder) Export(ctx context.Context, targets []Target, dir string) error {
	if len(b.Given) > 0 {
		return errors.New("a ready-made binary can't be exported: its cache would hold no recipe of it")
	}
	if _, err := b.Build(ctx, targets); err != nil {
		return err
	}
	s, err := b.store()
	if err != nil {
		return err
	}
	toolchain, err := s.toolchain(ctx)
	if err != nil {
		return err
	}
	to := store{dir: dir}
	if err := errors.Join(writeBelow(dir, toolchainFile, []byte(toolchain+"\n")), writeFile(filepath.Join(dir, "go.mod"), []byte(stub))); err != nil {
		return err
	}
	for _, t := range targets {
		_, recipe, err := b.prepare(ctx, t)
		if err == nil {
			err = s.entry(t, recipe.key()).copyTo(to.entry(t, recipe.key()))
		}
		if err != nil {
			return fmt.Errorf("exporting %s: %w", t, err)
		}
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

// exportedWith is the toolchain that made the entries of a cache that was exported. Of
// another cache it is not known.
func (s store) exportedWith() (string, bool) {
	text, err := os.ReadFile(filepath.Join(s.dir, toolchainFile))
	return strings.TrimSpace(string(text)), err == nil
}
