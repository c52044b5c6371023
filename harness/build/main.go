package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/skewrig/skewrig/harness/build/gotool"
	"github.com/skewrig/skewrig/harness/files"
)

// Main is a program of any Go module: a package main.
type Main struct {
	// Package is its import path: github.com/argoproj/argo-rollouts/cmd/rollouts-controller.
	Package string
	// Version is that of its module.
	Version string
}

// ParseMain reads PACKAGE@VERSION, as go install takes it. It reports false for what is anything else: the path of a program.
func ParseMain(text string) (m Main, is bool) {
	m.Package, m.Version, is = strings.Cut(text, "@")
	return m, is && module.CheckImportPath(m.Package) == nil && strings.Contains(strings.Split(m.Package, "/")[0], ".") && semver.IsValid(m.Version)
}

// String is how it is written: PACKAGE@VERSION.
func (m Main) String() string { return m.Package + "@" + m.Version }

// Main compiles a program of any module, unless it is in the cache, and returns its path. The module is compiled as its main
// module: with the versions and the toolchain that its go.mod asks for. A module below it, which its go.mod replaces by a
// directory, is the one that was published. The program finds its ServiceAccount by ServiceAccountDir.
func (b *Builder) Main(ctx context.Context, m Main, report func(Progress)) (string, error) {
	program, err := b.main(ctx, m, report)
	if err != nil {
		return "", fmt.Errorf("building %s: %w", m, err)
	}
	return program, nil
}

func (b *Builder) main(ctx context.Context, m Main, report func(Progress)) (string, error) {
	s, err := b.store()
	if err != nil {
		return "", err
	}
	report(Progress{State: Downloading})
	of, released, err := m.find(func(path string) (string, error) { return downloadWith(ctx, s.dir, path+"@"+m.Version, nil) })
	if err != nil {
		return "", err
	}
	goMod, err := os.ReadFile(filepath.Join(released, "go.mod"))
	if err != nil {
		return "", err
	}
	chosen, err := chosenBy(goMod)
	if err != nil {
		return "", err
	}
	toolchain, err := s.toolchain(ctx, chosen)
	if err != nil {
		return "", err
	}
	key := digest([]byte(m.String()), []byte(toolchain), []byte(ServiceAccountDir))
	program := filepath.Join(s.dir, "programs", key, m.name())
	unlock, err := flock(ctx, filepath.Join(s.dir, "locks", key+".lock"), func() { report(Progress{State: Waiting}) })
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(program); err == nil {
		report(Progress{State: Cached})
		return program, nil
	}
	return program, s.compileMain(ctx, m, of, released, chosen, program, report)
}

// name is that of the program, as go install has it.
func (m Main) name() string {
	name := path.Base(m.Package)
	if _, version, is := module.SplitPathVersion("/" + name); is && version != "" && path.Dir(m.Package) != "." {
		return path.Base(path.Dir(m.Package))
	}
	return name
}

// find returns the module of the package, the longest one of those that can be had, and the directory with its sources. That a
// longer path is no module shows in many ways: a proxy refuses it, or there is no repository.
func (m Main) find(download func(path string) (string, error)) (of, dir string, _ error) {
	var failures []error
	for of = m.Package; of != "." && module.CheckPath(of) == nil; of = path.Dir(of) {
		dir, err := download(of)
		if err == nil {
			return of, dir, nil
		}
		if errors.Is(err, gotool.ErrUnreachable) || errors.Is(err, context.Canceled) {
			return "", "", err
		}
		failures = append(failures, err)
	}
	return "", "", fmt.Errorf("no module can be had that has this package in this version: %w", errors.Join(failures...))
}

// compileMain compiles a program from a copy of its module.
func (s store) compileMain(ctx context.Context, m Main, of, released string, chosen choice, program string, report func(Progress)) (err error) {
	temp, err := s.scratch()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	dir := filepath.Join(temp, "module")
	if err := errors.Join(os.Mkdir(dir, 0o700), files.CopyTree(dir, os.DirFS(released))); err != nil {
		return err
	}
	mod, err := publishedModules(filepath.Join(dir, "go.mod"), of, m.Version)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o600); err != nil {
		return err
	}
	out := filepath.Join(dir, ".built")
	flags := []string{"-trimpath", "-mod=mod"}                 // the sums of modules that are not replaced any more are added
	pkg := "./" + strings.TrimPrefix(m.Package[len(of):], "/") // by its place: the module may have another name by now
	if err := relocateServiceAccounts(ctx, dir, filepath.Join(temp, "others")); err != nil {
		return err
	}
	err = gotool.Build(ctx, dir, flags, pkg, out, chosen.env, func(c gotool.Compilation) { report(progressOf(c)) })
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(program), 0o700); err != nil {
		return err
	}
	report(Progress{State: Built})
	return os.Rename(out, program)
}

// publishedModules is a go.mod whose modules are the published ones: a module that it replaces by a directory, which is not part of
// what was published, gets the version that is required, or that of the module itself if that is none.
func publishedModules(file, of, version string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	mod, err := modfile.Parse(file, text, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Clone(mod.Replace) {
		if r.New.Version != "" || !modfile.IsDirectoryPath(r.New.Path) {
			continue
		}
		old := r.Old // DropReplace empties r
		if err := mod.DropReplace(old.Path, old.Version); err != nil {
			return nil, err
		}
		required := slices.IndexFunc(mod.Require, func(q *modfile.Require) bool { return q.Mod.Path == old.Path })
		if strings.HasPrefix(old.Path, of+"/") && required >= 0 && isPlaceholder(mod.Require[required].Mod.Version) {
			if err := mod.AddReplace(old.Path, "", old.Path, version); err != nil {
				return nil, err
			}
		}
	}
	mod.Cleanup()
	return mod.Format()
}

// isPlaceholder reports whether a version is one that is never published, for a module that is always replaced.
func isPlaceholder(version string) bool {
	return version == "v0.0.0" || strings.HasPrefix(version, "v0.0.0-0000") || strings.HasPrefix(version, "v0.0.0-0001")
}
