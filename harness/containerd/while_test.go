package containerd

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/process"
)

// TestWhile: a command runs when containerd answers, and returns when that has ended. If either fails, that is an error.
func TestWhile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ containerd, command, output, err string }{
		"both run":                  {`sleep 0.2; : >"$HOME/up"; trap 'sleep 0.1; echo ended >>"$HOME/output"; exit 1' TERM; sleep 600 & wait`, `[ -e "$HOME/up" ] && echo a command`, "a command\nended\n", ""},
		"the command fails":         {`: >"$HOME/up"; sleep 600`, "echo no image >&2; exit 3", "", "exit status 3: no image"},
		"the command is terminated": {`: >"$HOME/up"; sleep 600`, "kill $PPID; exec sleep 600", "", "exit status 143"},
		"containerd ends":           {"echo no disk; exit 2", "echo a command", "", "no disk"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			err := errors.Join(
				os.WriteFile(filepath.Join(dir, "containerd"), []byte("#!/bin/sh\n"+c.containerd), 0o700), //nolint:gosec // it is to run
				os.WriteFile(filepath.Join(dir, "ctr"), []byte("#!/bin/sh\ntest -e \"$HOME/up\""), 0o700)) //nolint:gosec // likewise
			if err != nil {
				t.Fatal(err)
			}
			cmd := process.Command{
				Path: "/bin/sh", Args: While("sh", "-c", "{ "+c.command+"; } >>\"$HOME/output\""),
				Env: []string{"PATH=" + dir + ":/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + dir},
			}
			if _, err = cmd.Run(t.Context()); c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("%v, want %q", err, c.err)
			}
			if output, err := os.ReadFile(filepath.Join(dir, "output")); string(output) != c.output {
				t.Errorf("%q, %v, want %q", output, err, c.output)
			}
		})
	}
}
