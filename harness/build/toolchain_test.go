package build

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// putGo puts a program that is named as a toolchain into PATH, where the Go command looks before it downloads one.
func putGo(t *testing.T, name, says string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho "+says+"\n"), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// TestTheToolchainIsThatOfTheLock: a release that needs a newer Go has that one in its key, and others have not.
func TestTheToolchainIsThatOfTheLock(t *testing.T) {
	t.Setenv("GOTOOLCHAIN", "auto")
	putGo(t, "go1.99.0", "go1.99.0 linux")
	s := store{dir: t.TempDir()}
	toolchain := func(mod string) (string, error) {
		c, err := s.choose(t.Context(), Target{Component: APIServer, Version: "v1.99.0"}, lock{mod: []byte(mod)})
		if err != nil {
			t.Fatal(err)
		}
		return s.toolchain(t.Context(), c)
	}
	newer := "module engine\n\ngo 1.99.0\n"
	if got, err := toolchain(newer); err != nil || got != "go1.99.0 linux" {
		t.Errorf("for Go 1.99: %q, %v", got, err)
	}
	if got, err := toolchain("module engine\n\ngo 1.24.0\n\ntoolchain go1.99.0\n"); err != nil || got != "go1.99.0 linux" {
		t.Errorf("for the toolchain of Go 1.99: %q, %v", got, err)
	}
	for _, mod := range []string{"module engine\n\ngo 1.24.0\n", "module engine\n"} {
		if got, err := toolchain(mod); err != nil || !strings.HasPrefix(got, "go1.") || strings.Contains(got, "go1.99") {
			t.Errorf("for %q: %q, %v", mod, got, err)
		}
	}
	t.Setenv("GOTOOLCHAIN", "local")
	if got, err := toolchain(newer); err == nil || !strings.Contains(err.Error(), "needs Go 1.99.0 or newer: install it") {
		t.Errorf("with the local toolchain alone: %q, %v", got, err)
	}
}

// TestTheGoThatAReleaseWasPublishedWith is the one of its file, also if it is older than the installed one.
func TestTheGoThatAReleaseWasPublishedWith(t *testing.T) {
	putGo(t, "go1.25.9", "go1.25.9 linux")
	s := store{dir: t.TempDir(), toolchains: ReleasedToolchain}
	c := choice{lines: "\ngo 1.25.0\n", needs: "go1.25.0", env: []string{"GOTOOLCHAIN=go1.25.9"}}
	if got, err := s.toolchain(t.Context(), c); err != nil || got != "go1.25.9 linux" {
		t.Errorf("got %q, %v", got, err)
	}
	t.Setenv("GOPROXY", "off")
	c.env = []string{"GOTOOLCHAIN=go1.25.8"}
	if got, err := s.toolchain(t.Context(), c); err == nil || !strings.Contains(err.Error(), "go1.25.8") || !strings.Contains(err.Error(), "--toolchain local") {
		t.Errorf("without it: %q, %v", got, err)
	}
}

// TestToolchainsOfAnExportedCache: without a Go command, an entry is found by the first that could have made it.
func TestToolchainsOfAnExportedCache(t *testing.T) {
	s := store{dir: t.TempDir()}
	if err := s.writeExportedWith([]string{"go1.26.8 linux amd64", "go1.27.1 linux amd64"}); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	for mod, want := range map[string]string{"go 1.24.0": "go1.26.8", "go 1.26.8": "go1.26.8", "go 1.27.0": "go1.27.1", "go 1.28.0": "go1.26.8"} {
		c, err := chosenBy([]byte("module engine\n\n" + mod + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.toolchain(t.Context(), c); err != nil || got != want+" linux amd64" {
			t.Errorf("for %s: %q, %v", mod, got, err)
		}
	}
}

// TestABinarySaysWhatCompiledIt: this test program does.
func TestABinarySaysWhatCompiledIt(t *testing.T) {
	t.Parallel()
	if got := compiledWith(os.Args[0]); got != runtime.Version() {
		t.Errorf("got %q, want %q", got, runtime.Version())
	}
	if got := compiledWith("toolchain_test.go"); got != "" {
		t.Errorf("a text was compiled with %q", got)
	}
}

func TestParseToolchain(t *testing.T) {
	t.Parallel()
	for _, want := range Toolchains {
		if got, err := ParseToolchain(string(want)); err != nil || got != want {
			t.Errorf("%s: %q, %v", want, got, err)
		}
	}
	if _, err := ParseToolchain("go1.27.0"); err == nil || !strings.Contains(err.Error(), `supported values: ["local" "released"]`) {
		t.Error(err)
	}
}

// TestTheUsersConfigurationIsInTheKey: what go env -w stores of the architecture.
func TestTheUsersConfigurationIsInTheKey(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "env")
	t.Setenv("GOENV", config)
	t.Setenv("GOAMD64", "")
	for name, text := range map[string]string{"env": "GOAMD64=v2\n", "go.mod": "module tags\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	toolchain, err := store{dir: dir}.toolchain(t.Context(), choice{})
	if err != nil || !strings.Contains(toolchain, " v2") {
		t.Errorf("the key has the toolchain %q, %v", toolchain, err)
	}
}
