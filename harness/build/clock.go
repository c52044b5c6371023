package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/skewrig/skewrig/harness/build/gotool"
	"github.com/skewrig/skewrig/harness/clock/page"
	"github.com/skewrig/skewrig/harness/process"
)

// clockPlatform is the operating system on which a component can have a clock
// of its own: reader.go.txt maps its page as Linux does.
const clockPlatform = "linux"

// clockFiles returns the files of the installed Go toolchain that have to be
// others for a component's wall clock to be set, by their path. They are made
// from the toolchain's own, of which no copy is kept. They are part of what
// identifies the binary.
func (s store) clockFiles(ctx context.Context, t Target, c choice) (map[string][]byte, error) {
	if t.Component != Kubelet {
		return nil, fmt.Errorf("%s can't have a clock of its own, only a %s can", t.Component, Kubelet)
	}
	var env struct{ GOVERSION, GOOS, GOARCH, GOMODCACHE string }
	if err := s.decodeGo(ctx, c, &env, "env", "-json", "GOVERSION", "GOOS", "GOARCH", "GOMODCACHE"); err != nil {
		return nil, err
	}
	platform := env.GOOS + "/" + env.GOARCH
	if env.GOOS != clockPlatform {
		return nil, fmt.Errorf("a %s with a clock of its own can't be built for %s, only for %s", t.Component, platform, clockPlatform)
	}
	var runtime gotool.RuntimePackage
	if err := s.decodeGo(ctx, c, &runtime, "list", "-json=Dir,GoFiles,SFiles", "runtime"); err != nil {
		return nil, err
	}
	if strings.HasPrefix(runtime.Dir, env.GOMODCACHE+string(filepath.Separator)) {
		return nil, fmt.Errorf("a %s with a clock of its own can't be built with a Go toolchain from the module cache (%s): "+
			"the Go command does not replace files there; install %s (https://go.dev/dl)", t.Component, runtime.Dir, env.GOVERSION)
	}
	files, err := runtime.WithPage()
	if err != nil {
		return nil, fmt.Errorf("a %s with a clock of its own can't be built: the sources of %s for %s, in %s, are not as expected: %w",
			t.Component, env.GOVERSION, platform, runtime.Dir, err)
	}
	return files, nil
}

// decodeGo decodes what the toolchain of a choice answers.
func (s store) decodeGo(ctx context.Context, c choice, answer any, args ...string) error {
	out, err := s.askGo(ctx, c, args...)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(out), answer)
}

// writeOverlay writes files that are to be compiled instead of others, and the
// list of them that the Go command takes as -overlay. It returns the list's
// path.
func writeOverlay(dir string, files map[string][]byte) (string, error) {
	replace := make(map[string]string)
	for path, text := range files {
		replace[path] = filepath.Join(dir, filepath.Base(path))
		if err := writeFile(replace[path], text); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	return list, writeFile(list, text)
}

// showsPage runs a component to see that it reads its clock from a page: one
// that doesn't would look like one whose clock is right.
func (s store) showsPage(ctx context.Context, path string) (err error) {
	dir, err := s.scratch()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p, err := page.Create(filepath.Join(dir, "clock"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if _, err := (process.Command{Path: path, Args: []string{"--version"}, Env: []string{p.Environment()}}).Run(ctx); err != nil {
		return fmt.Errorf("running the binary that was built: %w", err)
	}
	if p.Readers() == 0 {
		return errors.New("the binary does not read its clock from the page that it was given")
	}
	return nil
}
