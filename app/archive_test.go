package app

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
)

// TestAFileIsReplacedAtOnce: until it is complete, the one before is there.
func TestAFileIsReplacedAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "archive")
	golden.Write(t, path, "before")
	holds := func(want string) {
		t.Helper()
		if text, err := os.ReadFile(path); err != nil || string(text) != want {
			t.Errorf("it is %q, want %q: %v", text, want, err)
		}
	}
	full := errors.New("the disk is full")
	err := replaceFile(path, func(to io.Writer) error {
		_, err := io.WriteString(to, "aft")
		return errors.Join(err, full)
	})
	if !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	holds("before")
	if err := replaceFile(path, func(to io.Writer) error {
		_, err := io.WriteString(to, "after")
		holds("before")
		return err
	}); err != nil {
		t.Error(err)
	}
	holds("after")
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o644 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left are %v: %v", left, err)
	}
}

// TestWhereNoFileCanBe: nothing is built for it, and what is there stays.
func TestWhereNoFileCanBe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:                                 "not a regular file but a directory",
		pipe:                                "not a regular file but a FIFO",
		filepath.Join(dir, "none", "a.zst"): "no such file or directory",
	} {
		err := replaceFile(path, func(io.Writer) error { t.Errorf("%s is written", path); return nil })
		if _, failed := errors.AsType[*Failure](err); failed || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
