package process

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// script is a command of the shell, with arguments from $1 on.
func script(text string, args ...string) Command {
	return Command{Name: "script", Path: "/bin/sh", Args: append([]string{"-c", text, "sh"}, args...)}
}

// TestTheResultOfACommand has its output, and an error has the end of it.
func TestTheResultOfACommand(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of               Command
		out, errors, err string
	}{
		"success":            {script("cat; echo careful >&2"), "in", "careful\n", ""},
		"failure":            {script("echo a; echo b >&2; exit 3"), "a\n", "b\n", "script: exit status 3: b"},
		"silent failure":     {script("exit 3"), "", "", "script: exit status 3"},
		"on standard output": {script("echo a; exit 3"), "a\n", "", "script: exit status 3: a"},
		"several lines":      {script("printf 'a\nb\n' >&2; exit 3"), "", "a\nb\n", "script: exit status 3:\na\nb"},
		"its own name":       {Command{Path: "/bin/false", Args: []string{"images", "list"}}, "", "", "false images: exit status 1"},
		"an option":          {Command{Path: "/bin/false", Args: []string{"--images"}}, "", "", "false: exit status 1"},
		"missing":            {Command{Path: "no-such-program"}, "", "", "no-such-program: exec: \"no-such-program\": executable file not found in $PATH"},
	} {
		if name == "success" {
			c.of.Stdin = strings.NewReader("in")
		}
		r, err := c.of.Run(t.Context())
		if string(r.Stdout) != c.out || string(r.Stderr) != c.errors {
			t.Errorf("%s: %q, %q", name, r.Stdout, r.Stderr)
		}
		if err == nil && c.err != "" || err != nil && err.Error() != c.err {
			t.Errorf("%s: %v, want %s", name, err, c.err)
		}
	}
}

// TestTheOutputInAnErrorIsBounded.
func TestTheOutputInAnErrorIsBounded(t *testing.T) {
	t.Parallel()
	r, err := script("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done >&2; exit 1").Run(t.Context())
	if lines := strings.Split(err.Error(), "\n"); len(lines) != errorLines+1 || lines[errorLines] != "line 19999" {
		t.Errorf("%v", err)
	}
	if len(r.Stderr) != maxErrors || !strings.HasSuffix(string(r.Stderr), "line 19998\nline 19999\n") {
		t.Errorf("%d bytes", len(r.Stderr))
	}
}

// TestACommandThatPrintsTooMuch is ended, and an error.
func TestACommandThatPrintsTooMuch(t *testing.T) {
	t.Parallel()
	c := script("trap '' PIPE; echo 1234567890; echo 1234567890; exec sleep 600")
	c.limit = 15
	if _, err := c.Run(t.Context()); err == nil || err.Error() != "script: more than 15 bytes of output" {
		t.Error(err)
	}
}

// TestACommandHasNoEnvironment but what it is given.
func TestACommandHasNoEnvironment(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "secret")
	for name, c := range map[string]struct {
		env  []string
		want bool
	}{"none": {nil, false}, "for tools": {ToolEnv(), false}, "of the user": {UserEnv(), true}} {
		of := script(`echo "$GITHUB_TOKEN"`)
		of.Env = c.env
		out, err := of.Output(t.Context())
		if err != nil || (out == "secret") != c.want {
			t.Errorf("%s: %q, %v", name, out, err)
		}
	}
}

// ends reports whether a process, whose id is in a file, has ended or is a zombie.
func ends(t *testing.T, file string) {
	t.Helper()
	pid, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	awaitThat(t, "the rest of the group to end", func() bool {
		stat, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(string(pid)), "stat"))
		return err != nil || strings.Contains(string(stat), ") Z ")
	})
}

// TestTheGroupOfACommand ends with it, though it ignores signals.
func TestTheGroupOfACommand(t *testing.T) {
	t.Parallel()
	const deaf = `(trap '' TERM; exec sleep 600) >/dev/null 2>&1 & echo $! >"$1"; `
	pid := filepath.Join(t.TempDir(), "pid")
	if _, err := script(deaf, pid).Run(t.Context()); err != nil {
		t.Error(err)
	}
	ends(t, pid)

	for name, how := range map[string]string{"it stops": "exec sleep 600", "it ignores that": "trap '' TERM; while :; do sleep 600; done"} {
		pid := filepath.Join(t.TempDir(), "pid")
		ctx, cancel := context.WithCancelCause(t.Context())
		interrupted := errors.New("interrupted")
		go func() {
			defer cancel(interrupted)
			awaitThat(t, "the process", func() bool { text, _ := os.ReadFile(pid); return strings.HasSuffix(string(text), "\n") })
		}()
		of := script(deaf+how, pid)
		of.Grace = 100 * time.Millisecond
		if _, err := of.Run(ctx); !errors.Is(err, interrupted) {
			t.Errorf("%s: %v", name, err)
		}
		ends(t, pid)
	}
}

// TestTheSignalThatStops a command is the one that it wants.
func TestTheSignalThatStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c := script(`trap 'echo interrupted; exit 0' INT; echo ready; while :; do sleep 0.01; done`)
	out, write := io.Pipe()
	c.Stdout, c.Stop, c.Grace = write, syscall.SIGINT, time.Minute
	go func() {
		_, _ = io.ReadFull(out, make([]byte, len("ready\n")))
		cancel()
		rest, _ := io.ReadAll(out)
		if string(rest) != "interrupted\n" {
			t.Errorf("%q", rest)
		}
	}()
	if r, err := c.Run(ctx); err == nil || r.State.ExitCode() != 0 {
		t.Errorf("%v, %v", r.State, err)
	}
	_ = write.Close()
}

// TestWhatIsFollowed: the end is an error, unless it was wanted.
func TestWhatIsFollowed(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	read := func(out io.Reader) error {
		_, err := io.Copy(io.Discard, out)
		return err
	}
	ended, err := script("echo a; exec sleep 600").Follow(ctx, func(out io.Reader) error {
		_, _ = io.ReadFull(out, make([]byte, 2))
		cancel()
		return read(out)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := ended(); err != nil {
		t.Error(err)
	}
	if ended, err = script("echo no >&2; exit 2").Follow(t.Context(), read); err != nil {
		t.Fatal(err)
	}
	if err := ended(); err == nil || err.Error() != "script: exit status 2: no" {
		t.Error(err)
	}
	unread := errors.New("no sense in it")
	if ended, err = script("while echo a; do :; done").Follow(t.Context(), func(io.Reader) error { return unread }); err != nil {
		t.Fatal(err)
	}
	if err := ended(); !errors.Is(err, unread) {
		t.Error(err)
	}
	if _, err := (Command{Path: "no-such-program"}).Follow(t.Context(), read); !errors.Is(err, exec.ErrNotFound) {
		t.Error(err)
	}
}
