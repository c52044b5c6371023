package build

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/skewrig/skewrig/harness/build/gotool"
)

// Toolchain says which Go compiles the releases of Kubernetes.
type Toolchain string

const (
	// LocalToolchain is the installed Go. If a release needs a newer one, it is the one that the Go command
	// downloads, unless GOTOOLCHAIN=local forbids that.
	LocalToolchain Toolchain = "local"
	// ReleasedToolchain is the Go that the release was published with, as its file .go-version says.
	ReleasedToolchain Toolchain = "released"
)

// Toolchains are all of them.
var Toolchains = []Toolchain{LocalToolchain, ReleasedToolchain}

// ParseToolchain reads one.
func ParseToolchain(text string) (Toolchain, error) {
	if !slices.Contains(Toolchains, Toolchain(text)) {
		return "", fmt.Errorf("unsupported value: supported values: %q", Toolchains)
	}
	return Toolchain(text), nil
}

// goVersionFile is where Kubernetes says which Go a release is published with.
const goVersionFile = ".go-version"

// choice is what the Go command chooses a toolchain by.
type choice struct {
	// lines are those of go.mod. The Go command reads them there, and not in the file that -modfile names.
	lines string
	// needs is the oldest Go that compiles it ("go1.26.0"), empty if any does.
	needs string
	// env has GOTOOLCHAIN, if it is not as the user has it.
	env []string
}

// choose returns how the toolchain of a target is chosen that has a lock.
func (s store) choose(ctx context.Context, t Target, l lock) (choice, error) {
	c, err := chosenBy(l.mod)
	if err != nil {
		return c, fmt.Errorf("parsing the lock of %s: %w", t, err)
	}
	if s.toolchains != ReleasedToolchain || !t.Component.isKubernetes() {
		return c, nil
	}
	var text []byte
	if t.checkout != nil {
		text, err = t.checkout.File(ctx, goVersionFile)
	} else {
		var dir string
		if dir, err = downloadModule(ctx, s.dir, t); err == nil {
			text, err = os.ReadFile(filepath.Join(dir, goVersionFile))
		}
	}
	if err != nil {
		return c, fmt.Errorf("finding the Go that %s was published with: %w", t, err)
	}
	name := "go" + strings.TrimSpace(string(text))
	if !version.IsValid(name) {
		return c, fmt.Errorf("the file %s of %s names no Go: %q", goVersionFile, t.module(), text)
	}
	c.env = []string{"GOTOOLCHAIN=" + name}
	return c, nil
}

// chosenBy returns how the toolchain is chosen for a go.mod.
func chosenBy(mod []byte) (c choice, err error) {
	file, err := modfile.Parse("go.mod", mod, nil)
	if err != nil {
		return c, err
	}
	if file.Go != nil {
		c.lines, c.needs = "\ngo "+file.Go.Version+"\n", "go"+file.Go.Version
	}
	if file.Toolchain != nil {
		c.lines += "\ntoolchain " + file.Toolchain.Name + "\n"
	}
	return c, nil
}

// askGo returns what the toolchain of a choice answers. It is asked in a module of its own: the user's directory may have
// settings, and another toolchain.
func (s store) askGo(ctx context.Context, c choice, args ...string) (string, error) {
	dir, err := s.scratch()
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	if err := writeFile(filepath.Join(dir, "go.mod"), []byte(stub+c.lines)); err != nil {
		return "", err
	}
	return gotool.RunTelling(ctx, dir, args, nil, c.env...)
}

// toolchain identifies the compiler and what it compiles for. Without a Go command, it is one that an exported cache
// was made with.
func (s store) toolchain(ctx context.Context, c choice) (string, error) {
	out, err := s.askGo(ctx, c, append([]string{"env"}, gotool.Keyed...)...)
	if errors.Is(err, exec.ErrNotFound) {
		if made := s.exportedWith(); len(made) > 0 {
			return firstFor(made, c), nil
		}
	}
	if err != nil && len(c.env) > 0 {
		return "", fmt.Errorf("the Go that the release was published with can't be had (%s); --toolchain local compiles it with the installed one: %w", c.env[0], err)
	}
	if err != nil {
		return "", err
	}
	toolchain := strings.Join(strings.Fields(out), " ")
	if !isFor(toolchain, c) { // go env answers whatever go.mod asks for
		return "", fmt.Errorf("%s is installed, and GOTOOLCHAIN forbids another one: %s", toolchain, gotool.NeedsGo(strings.TrimPrefix(c.needs, "go")))
	}
	return toolchain, nil
}

// isFor reports whether a toolchain is new enough. One between releases ("devel") is taken for that.
func isFor(toolchain string, c choice) bool {
	name, _, _ := strings.Cut(toolchain, " ")
	return !version.IsValid(name) || version.Compare(name, c.needs) >= 0
}

// compiledWith returns the version of Go that a program says it was compiled with, or nothing.
func compiledWith(program string) string {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return ""
	}
	return info.GoVersion
}

// firstFor returns the first toolchain that is new enough, or the first if none is.
func firstFor(toolchains []string, c choice) string {
	at := slices.IndexFunc(toolchains, func(t string) bool { return isFor(t, c) })
	return toolchains[max(at, 0)]
}

// exportedWith returns the toolchains that made the entries of a cache that was exported. Another cache has none.
func (s store) exportedWith() []string {
	text, err := os.ReadFile(filepath.Join(s.dir, toolchainFile))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// writeExportedWith has a cache say so.
func (s store) writeExportedWith(toolchains []string) error {
	return writeBelow(s.dir, toolchainFile, textOf(toolchains))
}

// textOf returns the file that names toolchains.
func textOf(toolchains []string) []byte { return []byte(strings.Join(toolchains, "\n") + "\n") }
