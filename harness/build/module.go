package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/mod/modfile"

	"github.com/skewrig/skewrig"
	"github.com/skewrig/skewrig/harness/build/gotool"
)

// Module returns the directory with the sources of a module that skewrig is made with, in the
// version of that. It is not to be changed.
func (b *Builder) Module(ctx context.Context, path string) (dir string, err error) {
	s, err := b.store()
	if err != nil {
		return "", err
	}
	if err := s.stub(); err != nil {
		return "", err
	}
	text, err := fs.ReadFile(skewrig.Container, "go.mod")
	if err != nil {
		return "", err
	}
	own, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return "", err
	}
	for _, r := range own.Require {
		if r.Mod.Path == path {
			dir, err = gotool.Download(ctx, s.dir, r.Mod.String())
			if err != nil {
				err = fmt.Errorf("downloading %s: %w", r.Mod, err)
			}
			return dir, err
		}
	}
	return "", fmt.Errorf("skewrig is not made with the module %s", path)
}

// downloadModule fetches the module of a release, if it is not there yet, and
// returns its directory.
func downloadModule(ctx context.Context, dir string, t Target) (string, error) {
	return download(ctx, dir, t, t.module())
}

// download does so for a module of a target's release. If the lock of that is committed, the module has to be the one
// in it: no checksum database is asked then.
func download(ctx context.Context, dir string, t Target, module string) (string, error) {
	from := dir
	if l, err := readLock(locks, "locks/"+lockName(t)); err == nil {
		if from, err = os.MkdirTemp(dir, "sums-"); err != nil {
			return "", err
		}
		defer os.RemoveAll(from)
		if err := errors.Join(writeFile(filepath.Join(from, "go.mod"), []byte(stub)), writeFile(filepath.Join(from, "go.sum"), l.sum)); err != nil {
			return "", err
		}
	}
	found, err := gotool.Download(ctx, from, module)
	switch {
	case err == nil:
		return found, nil
	case errors.Is(err, exec.ErrNotFound): // the Go command itself
		return "", err
	case errors.Is(err, gotool.ErrUnreachable):
		return "", err
	case gotool.IsAbsent(err):
		return "", noRelease(ctx, dir, t, err)
	case gotool.Refusal(err) != "":
		return "", fmt.Errorf("downloading %s: %s: %w", module, gotool.Refusal(err), err)
	default:
		return "", fmt.Errorf("downloading %s: %w", module, err)
	}
}
