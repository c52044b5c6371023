package process

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// defaultGrace is how long a command may take to end once it was asked to.
	defaultGrace = 5 * time.Second
	// maxOutput bounds the standard output that Run returns, and maxErrors the standard error, in bytes.
	maxOutput, maxErrors = 256 << 20, 64 << 10
	// errorLines is how many lines of a command's output an error has.
	errorLines = 20
)

// Command is a program that runs to its end, in a process group that ends with skewrig. When its context is done, the
// group is asked to end, and killed after a while. When the program has ended, the rest of its group is killed.
type Command struct {
	// Path is the executable, or its name in PATH. Args are its arguments without the name itself.
	Path string
	Args []string
	// Name is the beginning of errors. If unset, the name of the executable and the subcommand: "git ls-files".
	Name string
	// Env is the whole environment. If unset, it is empty: tokens of the user don't reach programs under test.
	Env []string
	// Dir is the working directory. If unset, that of skewrig.
	Dir string
	// Stdin is standard input. If unset, it is empty.
	Stdin io.Reader
	// Stdout and Stderr take the output. If unset, the Result has it.
	Stdout, Stderr io.Writer
	// In are the namespaces that the command runs in. If unset, those of skewrig.
	In *Namespaces
	// Confined is what the command may do with the files of this machine, as Config has it.
	Confined *Confinement
	// Nice is the priority (nice(2)). If unset, that of skewrig.
	Nice int
	// Stop is the signal that asks the group to end. If unset, SIGTERM.
	Stop syscall.Signal
	// Grace is the time from that signal to SIGKILL. If unset, 5 s.
	Grace time.Duration

	limit int // of standard output in the Result, in bytes; 0: maxOutput
}

// Result is the end of a command.
type Result struct {
	// Stdout is standard output, and Stderr the last 64 KiB of standard error. They are empty if the command has other
	// writers for them.
	Stdout, Stderr []byte
	// State is unset if the command did not start.
	State *os.ProcessState
}

// Text returns standard output and then standard error.
func (r Result) Text() string { return string(r.Stdout) + string(r.Stderr) }

// UserEnv returns the environment of skewrig. It is for programs of the user, such as git and docker, which read their
// settings there.
func UserEnv() []string { return os.Environ() }

// ToolEnv returns what tools of this machine need of the environment of skewrig: where programs, settings and temporary
// files are.
func ToolEnv() (env []string) {
	for _, name := range []string{"PATH", "HOME", "TMPDIR"} {
		if value, is := os.LookupEnv(name); is {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// Run runs the command to its end. If that is a failure, the error has the last lines of its output, and matches
// *exec.ExitError. If the context was done first, the error is the context's cause.
func (c Command) Run(ctx context.Context) (Result, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	said := tail{max: maxErrors}
	out := limited{max: cmp.Or(c.limit, maxOutput)}
	out.exceeded = func() { fail(fmt.Errorf("%s: more than %d bytes of output", c.name(), out.max)) }
	if c.Stdout == nil {
		c.Stdout = &out
	}
	if c.Stderr == nil {
		c.Stderr = &said
	}
	cmd := c.prepare(ctx)
	ended := make(chan struct{})
	defer close(ended)
	err := c.start(cmd, ended)
	if err == nil {
		err = c.wait(cmd)
	}
	r := Result{Stdout: out.text.Bytes(), Stderr: said.last(), State: cmd.ProcessState}
	switch {
	case err == nil:
		return r, nil
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	}
	return r, c.failure(err, cmp.Or(string(r.Stderr), string(r.Stdout)))
}

// Output runs the command, and returns its standard output without white space at either end.
func (c Command) Output(ctx context.Context) (string, error) {
	r, err := c.Run(ctx)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(r.Stdout)), nil
}

// Follow starts the command. The function that it returns calls read with standard output, and returns when the command
// has ended. Its end is an error unless the context was done before, and so is that of read.
func (c Command) Follow(ctx context.Context, read func(io.Reader) error) (ended func() error, _ error) {
	out, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	said := tail{max: maxErrors}
	c.Stdout, c.Stderr = write, &said
	cmd := c.prepare(ctx)
	gone := make(chan struct{})
	if err := errors.Join(c.start(cmd, gone), write.Close()); err != nil {
		close(gone)
		return nil, errors.Join(c.failure(err, ""), out.Close())
	}
	return func() error {
		defer close(gone)
		unread := read(out)
		early := ctx.Err() == nil
		_ = out.Close() // which ends a command that still writes
		err := c.wait(cmd)
		if !early {
			return nil
		}
		return c.failure(cmp.Or(unread, err, io.EOF), string(said.last()))
	}, nil
}

// LastLines returns the last n lines of a text, without white space at either end.
func LastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// prepare returns the command of package exec. The end of ctx ends its group.
func (c Command) prepare(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Env, c.Dir, c.Stdin, c.Stdout, c.Stderr
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, cmp.Or(c.Stop, syscall.SIGTERM)) }
	cmd.WaitDelay = cmp.Or(c.Grace, defaultGrace)
	return cmd
}

// start starts the command, whose end closes ended.
func (c Command) start(cmd *exec.Cmd, ended <-chan struct{}) error {
	if err := start(cmd, c.In, c.Confined, ended); err != nil {
		return err
	}
	if c.Nice != 0 {
		_ = syscall.Setpriority(syscall.PRIO_PGRP, cmd.Process.Pid, c.Nice) // it may have ended already
	}
	return nil
}

// wait waits until the command has ended. It kills the rest of the group while the process, which is a zombie then, holds
// the group's number.
func (c Command) wait(cmd *exec.Cmd) error {
	for {
		if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // there may be no one else
	return cmd.Wait()
}

func (c Command) name() string {
	if c.Name != "" {
		return c.Name
	}
	name := filepath.Base(c.Path)
	if len(c.Args) > 0 && !strings.HasPrefix(c.Args[0], "-") {
		name += " " + c.Args[0]
	}
	return name
}

// failure adds the name and the end of what the command wrote to an error.
func (c Command) failure(err error, text string) error {
	return withLines(fmt.Errorf("%s: %w", c.name(), err), text)
}

// withLines adds the last lines of a text to an error.
func withLines(err error, text string) error {
	switch text = LastLines(text, errorLines); {
	case text == "":
		return err
	case strings.Contains(text, "\n"):
		return fmt.Errorf("%w:\n%s", err, text)
	default:
		return fmt.Errorf("%w: %s", err, text)
	}
}

// limited takes a limited number of bytes.
type limited struct {
	text     bytes.Buffer
	max      int
	exceeded func() // called when there are more
}

var errTooMuch = errors.New("too much output")

// Write implements io.Writer.
func (l *limited) Write(text []byte) (int, error) {
	if l.text.Len()+len(text) > l.max {
		l.exceeded()
		return 0, errTooMuch
	}
	return l.text.Write(text)
}

// tail retains the last bytes that are written.
type tail struct {
	text []byte
	max  int
}

// Write implements io.Writer.
func (t *tail) Write(text []byte) (int, error) {
	t.text = append(t.text, text...)
	if len(t.text) > 2*t.max {
		t.text = append(t.text[:0], t.last()...)
	}
	return len(text), nil
}

func (t *tail) last() []byte { return t.text[max(0, len(t.text)-t.max):] }
