package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A work tree is the directory from which the Go command builds: the lock, our
// mains, and the release's module as a tree of links into the module cache in
// which single files can be replaced (the Go command refuses an -overlay of
// files in the module cache). With -trimpath, what is not replaced compiles to
// the same as without the tree, so that all trees of a release share the Go
// command's own cache.
//
//	lock.mod, lock.sum
//	kubelet/            our main
//	module/             links into the release, if a file of it is replaced
//	reference/          our Pods API server, for the reference
//	cmd/container/ ...  our own module instead, for the program in images
func (s store) workTree(ctx context.Context, r *recipe) (string, error) {
	dir := filepath.Join(s.work(), digest([]byte(strings.Join(r.tree, "\n")), []byte(r.choice.lines))[:16])
	if isIntact(dir, r.target) {
		return dir, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	temp, err := s.scratch()
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp) // nothing to remove once it is renamed
	if err := fillWorkTree(ctx, temp, r); err != nil {
		return "", err
	}
	if err := os.Rename(temp, dir); err != nil {
		if _, raced := os.Stat(dir); raced != nil { // not made by another build either
			return "", err
		}
	}
	return dir, nil
}

// moduleDir is where a work tree has the release's module.
const moduleDir = "module"

// isReplaced reports whether files of the release's module are compiled from
// other text.
func (t Target) isReplaced() bool { return t.Component.isKubernetes() || len(t.Overlay) > 0 }

// isIntact reports whether a work tree is there and its links lead somewhere:
// the module cache may have been cleaned since it was made.
func isIntact(dir string, t Target) bool {
	if t.isReplaced() && t.checkout == nil {
		dir = filepath.Join(dir, moduleDir, "go.mod")
	}
	_, err := os.Stat(dir)
	return err == nil
}

func fillWorkTree(ctx context.Context, dir string, r *recipe) error {
	mod := r.lock.mod
	if err := errors.Join(extractGlue(dir, r.source, r.choice), writeFile(filepath.Join(dir, "lock.sum"), r.lock.sum)); err != nil {
		return err
	}
	if r.target.isReplaced() && r.target.checkout == nil {
		module, err := downloadModule(ctx, dir, r.target)
		if err != nil {
			return err
		}
		replaced, err := r.replacements(module)
		if err != nil {
			return err
		}
		if err := linkTree(module, filepath.Join(dir, moduleDir), replaced); err != nil {
			return err
		}
		mod = append(bytes.Clone(mod), []byte("\nreplace "+r.target.Component.source().Module+" => ./"+moduleDir+"\n")...)
	}
	if r.target.isReference() {
		var err error
		if mod, err = r.extractReference(dir, mod); err != nil {
			return err
		}
	}
	if r.target.Component == Container {
		if err := r.extractContainer(dir); err != nil {
			return err
		}
	}
	return writeFile(filepath.Join(dir, modfileName), mod)
}

// replacements are the files of the release's module that are compiled from
// other text, and those that are compiled with it, by their path in the module.
//
// An API server has a file more, by which it can have another host name.
//
// A kubelet on Linux reads the kernel's log for out-of-memory kills, which
// takes root on most machines, and would blame a simulated node for what
// happens on the real one. The release has a watcher for other systems that
// sees nothing: that one is used, but for a kubelet that is to be unmodified.
func (r *recipe) replacements(module string) (map[string][]byte, error) {
	replaced := make(map[string][]byte)
	if r.target.Component.isKubernetes() && !r.target.Unmodified {
		blind, err := os.ReadFile(filepath.Join(module, oomWatcherOther))
		if err != nil {
			return nil, err
		}
		replaced[oomWatcherLinux] = withoutConstraint(blind)
	}
	if r.target.Component == APIServer {
		replaced[hostnamePath] = hostnameFile
	}
	for path, text := range r.overlay {
		if !fs.ValidPath(path) {
			return nil, fmt.Errorf("%q is not a path in %s, like pkg/probe/grpc/grpc.go", path, r.target.module())
		}
		if _, err := os.Stat(filepath.Join(module, path)); err != nil {
			return nil, fmt.Errorf("%s has no file %s to replace: %w", r.target.module(), path, err)
		}
		replaced[path] = text
	}
	return replaced, nil
}

const (
	oomWatcherLinux = "pkg/kubelet/oom/oom_watcher_linux.go"
	oomWatcherOther = "pkg/kubelet/oom/oom_watcher_unsupported.go"
)

// withoutConstraint drops the build constraint of a Go file, in its old form
// too.
func withoutConstraint(text []byte) []byte {
	var kept []byte
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte("//go:build ")) && !bytes.HasPrefix(line, []byte("// +build ")) {
			kept = append(kept, line...)
		}
	}
	return kept
}

// linkTree makes dst look like src, with links to src's entries, except for
// the replaced files and the directories that lead to them.
func linkTree(src, dst string, replaced map[string][]byte) error {
	if err := os.MkdirAll(dst, 0o700); err != nil {
		return err
	}
	below := make(map[string]map[string][]byte) // by first element of the path
	for path, text := range replaced {
		first, rest, deeper := strings.Cut(path, "/")
		if !deeper {
			if err := writeFile(filepath.Join(dst, first), text); err != nil {
				return err
			}
		}
		if below[first] == nil {
			below[first] = make(map[string][]byte)
		}
		if deeper {
			below[first][rest] = text
		}
	}
	entries, err := os.ReadDir(src)
	if err != nil {
		return err
	}
	for _, e := range entries {
		from, to := filepath.Join(src, e.Name()), filepath.Join(dst, e.Name())
		switch inside, special := below[e.Name()]; {
		case !special:
			err = os.Symlink(from, to)
		case e.IsDir():
			err = linkTree(from, to, inside)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
