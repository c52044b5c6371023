package build

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/skewrig/skewrig"
)

// containerVersion stands for that of skewrig itself: which one it is, the sources tell.
const containerVersion = "v0.0.0"

// ContainerProgram is the program in the images that real containers run, as Binary returns it:
// static, and of the sources that this skewrig is made of. It is not skewrig itself, which is
// seven times as large and takes five times as long to start: each exec probe starts it.
func (b *Builder) ContainerProgram(ctx context.Context) (Binary, error) {
	return b.Binary(ctx, ContainerTarget())
}

// ContainerTarget is what ContainerProgram builds, for those who build it with others.
func ContainerTarget() Target { return Target{Component: Container, Version: containerVersion} }

// containerLock is the go.mod and go.sum of this module.
func containerLock() (lock, error) {
	mod, err := fs.ReadFile(skewrig.Container, "go.mod")
	if err != nil {
		return lock{}, err
	}
	sum, err := fs.ReadFile(skewrig.Container, "go.sum")
	return lock{mod: mod, sum: sum}, err
}

// addContainer adds the sources of the program in images to a recipe.
func (r *recipe) addContainer() error {
	r.module = make(map[string][]byte)
	err := fs.WalkDir(skewrig.Container, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || slices.Contains([]string{"go.mod", "go.sum"}, path) || strings.HasSuffix(path, "_test.go") {
			return err
		}
		r.module[path], err = fs.ReadFile(skewrig.Container, path)
		return err
	})
	if err != nil {
		return fmt.Errorf("reading the sources of the program in images: %w", err)
	}
	r.tree = append(r.tree, digests("container", r.module)...)
	return nil
}

// extractContainer writes those sources into a work tree.
func (r *recipe) extractContainer(dir string) error {
	for path, text := range r.module {
		if err := writeBelow(dir, path, text); err != nil {
			return err
		}
	}
	return nil
}
