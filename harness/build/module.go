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
			dir, err = downloadWith(ctx, s.dir, r.Mod.String(), nil)
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
	l, _ := readLock(locks, "locks/"+lockName(t)) // which may have none
	found, err := downloadWith(ctx, dir, module, l.sum)
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

// downloadWith fetches a module, which has to have its sum if sums are given. The Go command asks in a module of its own below a
// directory: it may write a newer Go into its go.mod, which no other request is to find there.
func downloadWith(ctx context.Context, dir, module string, sums []byte) (string, error) {
	from, err := os.MkdirTemp(dir, "sums-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(from)
	err = writeFile(filepath.Join(from, "go.mod"), []byte(stub))
	if len(sums) > 0 {
		err = errors.Join(err, writeFile(filepath.Join(from, "go.sum"), sums))
	}
	if err != nil {
		return "", err
	}
	return gotool.Download(ctx, from, module)
}
