package build

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/tools/txtar"

	"github.com/skewrig/skewrig/harness/build/gotool"
	"github.com/skewrig/skewrig/harness/program"
)

// lock is the go.mod and go.sum that a target is compiled with.
type lock struct{ mod, sum []byte }

// locks are the committed ones: <version>.mod and .sum for the components of a Kubernetes
// release, <component>-<version>.mod and .sum for one that has its own.
//
//go:embed locks
var locks embed.FS

func lockName(t Target) string {
	if t.Component.isKubernetes() && !t.Component.source().OwnLock {
		return string(t.Version.Released())
	}
	return fmt.Sprintf("%s-%s", t.Component, t.Version)
}

// lockFor returns the lock of a target that is known, or generates it.
func lockFor(ctx context.Context, s store, t Target) (lock, error) {
	switch {
	case t.Component == Container:
		return containerLock()
	case t.checkout != nil:
		return lockSource(ctx, t.checkout, copyDir(t.checkout.State))
	case t.Version.IsSource():
		return lock{}, ErrNoSource
	}
	l, err := s.knownLock(t)
	if !errors.Is(err, fs.ErrNotExist) {
		return l, err
	}
	l, err = generateLock(ctx, s, t)
	if errors.Is(err, ErrNoRelease) {
		return lock{}, err
	}
	if err != nil {
		return lock{}, fmt.Errorf("locking the dependencies of %s: %w", t.module(), err)
	}
	return l, l.write(s.dir, generatedLock(t))
}

// knownLock returns the committed lock of a target, or one that was generated before.
func (s store) knownLock(t Target) (lock, error) {
	if isLocked(t) {
		return committedLock(t)
	}
	return readLock(os.DirFS(s.dir), generatedLock(t))
}

func committedLock(t Target) (lock, error) { return readLock(locks, "locks/"+lockName(t)) }

// isLocked reports whether the lock of a target is committed. None is with what a user lets stand in.
func isLocked(t Target) bool {
	if len(t.instead) > 0 {
		return false
	}
	_, err := fs.Stat(locks, "locks/"+lockName(t)+".mod")
	return err == nil
}

// generatedLock is where a cache has the lock that was generated for a target, without the
// ending of its files.
func generatedLock(t Target) string {
	mains := txtar.Format(&txtar.Archive{Files: t.Component.source().mains()})
	return "generated-locks/" + lockName(t) + "-" + digest(mains)[:8] + t.standInsOf()
}

// WriteLock writes the lock that a target is compiled with to a directory, under
// the names of the committed ones.
func (b *Builder) WriteLock(ctx context.Context, t Target, dir string) error {
	s, err := b.store()
	if err != nil {
		return err
	}
	l, err := lockFor(ctx, s, t)
	if err != nil {
		return err
	}
	return l.write(dir, lockName(t))
}

func (l lock) write(dir, name string) error {
	return errors.Join(writeBelow(dir, name+".sum", l.sum), writeBelow(dir, name+".mod", l.mod))
}

func readLock(files fs.FS, base string) (lock, error) {
	mod, err := fs.ReadFile(files, base+".mod")
	if err != nil {
		return lock{}, err
	}
	sum, err := fs.ReadFile(files, base+".sum")
	return lock{mod: mod, sum: sum}, err
}

// generateLock has the Go command find out what a release is compiled with.
func generateLock(ctx context.Context, s store, t Target) (lock, error) {
	dir, err := s.scratch()
	if err != nil {
		return lock{}, err
	}
	defer os.RemoveAll(dir)
	released, err := downloadModule(ctx, dir, t)
	if err != nil {
		return lock{}, err
	}
	goMod, err := os.ReadFile(filepath.Join(released, "go.mod"))
	if err != nil {
		return lock{}, err
	}
	var mod []byte
	var resolve []string
	if t.Component.isKubernetes() {
		mod, err = lockKubernetes(goMod, t)
		resolve = []string{"mod", "tidy", "-modfile=" + modfileName}
	} else {
		mod, err = lockTool(goMod, t)
		resolve = []string{"get", "-modfile=" + modfileName, "-tool", t.Component.source().Package + "@" + string(t.Version)}
	}
	if err != nil {
		return lock{}, err
	}
	chosen, err := chosenBy(mod)
	if err != nil {
		return lock{}, err
	}
	if err := errors.Join(extractGlue(dir, t.Component.source(), chosen), writeFile(filepath.Join(dir, modfileName), mod)); err != nil {
		return lock{}, err
	}
	if _, err := gotool.Run(ctx, dir, resolve); err != nil {
		if refused := refusedOf(ctx, dir, mod); errors.Is(refused, ErrRefused) {
			return lock{}, refused
		}
		return lock{}, err
	}
	return readLock(os.DirFS(dir), strings.TrimSuffix(modfileName, ".mod"))
}

// standIns are the modules that a release asks for and that can't be had, each
// with the version of it that is compiled instead, by the name of the lock. The
// source of a binary tells.
var standIns = map[string]map[string]string{
	"v1.38.0-alpha.0": {
		"k8s.io/cli-runtime": "v0.37.1", "k8s.io/code-generator": "v0.37.1", "k8s.io/cri-streaming": "v0.37.1",
		"k8s.io/kube-proxy": "v0.37.1", "k8s.io/sample-apiserver": "v0.37.1",
		"k8s.io/sample-cli-plugin": "v0.37.1", "k8s.io/sample-controller": "v0.37.1",
	},
	"dependency-watchdog-v1.8.0": {
		"github.com/gardener/gardener": "v1.145.0", "github.com/prometheus/client_golang": "v1.23.2",
	},
}

// lockTool is what the go.mod of a program begins as whose own go.mod can be
// resolved by a consumer: the same language, and what stands in.
func lockTool(goMod []byte, t Target) ([]byte, error) {
	released, err := modfile.Parse("go.mod", goMod, nil)
	if err != nil {
		return nil, fmt.Errorf("parsing the go.mod of %s: %w", t.module(), err)
	}
	file := new(modfile.File)
	if released.Go == nil {
		return nil, fmt.Errorf("the go.mod of %s does not say which Go it is for", t.module())
	}
	err = errors.Join(file.AddModuleStmt(program.Mains), file.AddGoStmt(released.Go.Version), replaceBy(file, t.standIns()))
	text, formatErr := file.Format()
	return text, errors.Join(err, formatErr)
}

// lockKubernetes turns the go.mod of a Kubernetes release into the go.mod that
// compiles that release's components. A release replaces its staging modules
// by relative paths, which mean nothing to a consumer; each is replaced by the
// module published with the same release (k8s.io/api v0.90.1 for v1.90.1). The
// release's own requirements are kept as they are, so that what is compiled is
// what the release was tested with. The result is tidied later, by the go
// command, which also writes the sums.
func lockKubernetes(goMod []byte, t Target) ([]byte, error) {
	version := string(t.Version)
	file, released, err := lockedAs(goMod, version)
	if err != nil {
		return nil, fmt.Errorf("the go.mod of %s %s: %w", program.Kubernetes, version, err)
	}
	if err := errors.Join(replaceStaging(file, released.Replace, version), replaceBy(file, t.instead)); err != nil {
		return nil, err
	}
	for _, tool := range lockedTools(t) {
		if err := file.AddTool(tool); err != nil {
			return nil, err
		}
	}
	file.Cleanup()
	return file.Format()
}

// lockedTools are the programs of a release that are compiled with the lock of a target.
func lockedTools(t Target) (packages []string) {
	switch of := t.Component.source(); {
	case of.IsOurs() && of.OwnLock:
		return nil
	case of.OwnLock:
		return []string{of.Package}
	}
	for _, c := range []Component{APIServer, ControllerManager, Scheduler, Kubectl} {
		packages = append(packages, c.source().Package)
	}
	return packages
}

// lockedAs begins the go.mod that compiles the components of a Kubernetes: it requires that as
// a version, and what its own go.mod requires.
func lockedAs(goMod []byte, version string) (file, own *modfile.File, err error) {
	if own, err = modfile.Parse("go.mod", goMod, nil); err != nil {
		return nil, nil, err
	}
	if own.Module == nil || own.Go == nil {
		return nil, nil, errors.New("it does not say which module it is of, and which Go that is for")
	}
	file = new(modfile.File)
	if err := errors.Join(file.AddModuleStmt(program.Mains), file.AddGoStmt(own.Go.Version)); err != nil {
		return nil, nil, err
	}
	if own.Toolchain != nil {
		if err := file.AddToolchainStmt(own.Toolchain.Name); err != nil {
			return nil, nil, err
		}
	}
	for _, g := range own.Godebug {
		if err := file.AddGodebug(g.Key, g.Value); err != nil {
			return nil, nil, err
		}
	}
	requires := []*modfile.Require{{Mod: module.Version{Path: program.Kubernetes, Version: version}}}
	for _, r := range own.Require {
		requires = append(requires, &modfile.Require{Mod: r.Mod, Indirect: r.Indirect})
	}
	file.SetRequireSeparateIndirect(requires)
	return file, own, nil
}

func replaceStaging(file *modfile.File, replaces []*modfile.Replace, version string) error {
	for _, r := range replaces {
		if !strings.HasPrefix(r.New.Path, "./staging/") {
			return fmt.Errorf("%s %s replaces %s by %s: only staging modules can be resolved", program.Kubernetes, version, r.Old.Path, r.New.Path)
		}
		if err := file.AddReplace(r.Old.Path, "", r.Old.Path, published(r.Old.Path, version)); err != nil {
			return err
		}
	}
	return nil
}

// published is the version of a staging module that goes with a release.
func published(module, version string) string {
	return cmp.Or(standIns[version][module], "v0."+strings.TrimPrefix(version, "v1."))
}
