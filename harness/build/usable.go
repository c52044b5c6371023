package build

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// check finds out whether a skewrig on this machine would use the entries of an archive
// and not build them again: the key of each must be that of the recipe here.
func (a *arrival) check(ctx context.Context) error {
	if a.checked {
		return nil
	}
	exporter, err := a.madeBy()
	if err != nil {
		return err
	}
	if err := a.checkToolchain(ctx); err != nil {
		return err
	}
	var others []string
	var ingredients []string
	for _, e := range a.entries {
		differing, err := a.differing(ctx, e)
		if err != nil {
			return err
		}
		if len(differing) > 0 {
			others = append(others, e.target.String())
			ingredients = append(ingredients, differing...)
		}
	}
	if len(others) > 0 {
		slices.Sort(ingredients)
		return wrong("skewrig %s exported it, and this skewrig %s builds %s from something else (%s), so that it would not use what is in it: "+
			"use that skewrig here, or export with this one", exporter, a.importer, strings.Join(others, ", "), strings.Join(slices.Compact(ingredients), ", "))
	}
	a.checked = true
	return nil
}

// line is what the texts are that say what made an archive.
var line = regexp.MustCompile(`^[ -~]{1,200}$`)

// madeBy is the version of the skewrig that made an archive.
func (a *arrival) madeBy() (exporter string, _ error) {
	text, err := os.ReadFile(filepath.Join(a.stage.dir, exporterFile))
	exporter = strings.TrimSpace(string(text))
	toolchains := a.stage.exportedWith()
	unreadable := func(toolchain string) bool { return !line.MatchString(toolchain) }
	if err != nil || !line.MatchString(exporter) || len(toolchains) == 0 || slices.ContainsFunc(toolchains, unreadable) {
		return "", wrong("it does not say what made it: %s", again)
	}
	return exporter, nil
}

// checkToolchain is an error if entries are not found here that the archive's toolchains made.
func (a *arrival) checkToolchain(ctx context.Context) error {
	platform := runtime.GOOS + " " + runtime.GOARCH
	for _, theirs := range a.stage.exportedWith() {
		if !strings.Contains(theirs+" ", " "+platform+" ") {
			return wrong("it is for another platform (%s), and this machine is %s: export on a machine like this one", theirs, platform)
		}
	}
	for _, e := range a.entries {
		if err := a.checkCompiled(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// checkCompiled is an error if an entry is not found here because another toolchain would compile it.
func (a *arrival) checkCompiled(ctx context.Context, e *arriving) error {
	l, err := a.lockOf(e.target)
	if err != nil {
		return nil //nolint:nilerr // it is a difference of the recipe
	}
	if _, err := chosenBy(l.mod); err != nil {
		return wrong("its lock of %s can't be read: %w", e.target, err)
	}
	chosen, err := a.stage.choose(ctx, e.target, l)
	if err != nil {
		return err
	}
	theirs := firstFor(a.stage.exportedWith(), chosen)
	ours, err := a.cache.toolchain(ctx, chosen)
	_, noGo := exec.LookPath("go")
	switch {
	case errors.Is(err, exec.ErrNotFound): // nor was anything imported yet
		return nil
	case err != nil:
		return err
	case ours == theirs:
		return nil
	case noGo != nil:
		return wrong("%s made %s, and without a Go command this cache finds only what %s made: import into another cache directory, or remove %s and import again",
			theirs, e.target, ours, filepath.Join(a.cache.dir, toolchainFile))
	default:
		return wrong("%s made %s, and skewrig would not use it here, where Go is %s: "+
			"export with the Go of this machine, or set GOTOOLCHAIN, GOAMD64, GOEXPERIMENT and GOFIPS140 here as they were there", theirs, e.target, ours)
	}
}

// lockOf returns the lock of an entry, if it is known without the network.
func (a *arrival) lockOf(t Target) (lock, error) {
	if t.Component == Container {
		return containerLock()
	}
	return a.stage.knownLock(t)
}

// differing are the ingredients of an entry that are others here.
func (a *arrival) differing(ctx context.Context, e *arriving) (ingredients []string, _ error) {
	if _, err := a.stage.knownLock(e.target); errors.Is(err, fs.ErrNotExist) {
		return []string{"lock"}, nil // it would be generated, from the network
	}
	recipe, err := newRecipe(ctx, a.stage, e.target)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, wrong("%s is found only where there is a Go command: install it (https://go.dev/dl), or export without it", e.target)
	case err != nil:
		return nil, err
	case recipe.key() != e.key():
		return changed(e.manifest.Recipe, recipe.lines), nil
	}
	if have, err := a.cache.knownLock(e.target); err == nil && digest(have.mod, have.sum) != digest(recipe.lock.mod, recipe.lock.sum) {
		return nil, wrong("this cache has another lock of %s than it: remove %s and import again", e.target, filepath.Join(a.cache.dir, generatedLock(e.target)+".mod"))
	}
	return nil, nil
}

// changed are the first words of the lines that only one of two recipes has.
func changed(a, b []string) (words []string) {
	for _, pair := range [][2][]string{{a, b}, {b, a}} {
		for _, l := range pair[0] {
			if !slices.Contains(pair[1], l) {
				word, _, _ := strings.Cut(l, " ")
				words = append(words, word)
			}
		}
	}
	return words
}
