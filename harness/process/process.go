// Package process owns child processes: it starts them, waits until they are
// ready, notices at once when they die and why, and never leaves one behind; and the
// namespaces and cgroups that they are in. All that it
// knows of Kubernetes is how its components log.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"
)

// readyPoll is how long to wait between two looks at whether a process is ready.
const readyPoll = 10 * time.Millisecond

// Config says what to run.
type Config struct {
	// Name is what errors call the process, such as "kubelet/node-a".
	Name string
	// Path is the executable, Args its arguments without the name itself.
	Path string
	Args []string
	// Env is the whole environment. If unset, it is empty: a component must
	// not depend on what the user's shell happens to export.
	Env []string
	// Dir is the working directory. If unset, it is skewrig's own.
	Dir string
	// Log is the file that takes standard output and error. It is appended to,
	// so that a restart keeps the history.
	Log string
	// Ready is asked again and again until it returns nil. If unset, the
	// process is ready as soon as it runs.
	Ready func(context.Context) error
	// In are the namespaces that the process runs in, and ends with. If unset, it runs in
	// those of skewrig.
	In *Namespaces
	// Confined is what the process may do with the files of this machine, if the kernel can confine it (Confines). If
	// unset, or with In, it may do what the user may.
	Confined *Confinement
}

// Process is a child process, in a process group of its own.
type Process struct {
	cfg     Config
	cmd     *exec.Cmd
	started time.Time
	exited  chan struct{}
	exit    *ExitError // set before exited is closed
	logged  int64      // what was in the log before, in bytes

	ready   atomic.Bool
	asked   atomic.Pointer[time.Time] // when Stop asked first
	overdue atomic.Bool               // Stop had to kill
}

// Start runs a process and returns when it is ready. If it exits first, the
// error is an *ExitError; if the context ends first, the process is killed and
// the error says what was still missing.
func Start(ctx context.Context, cfg Config) (*Process, error) {
	p, err := launch(cfg)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", cfg.Name, err)
	}
	if err := p.waitReady(ctx); err != nil {
		return nil, errors.Join(err, p.Kill())
	}
	p.ready.Store(true)
	return p, nil
}

func launch(cfg Config) (*Process, error) {
	log, err := os.OpenFile(cfg.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the child has its own descriptor
	before, err := log.Stat()
	if err != nil {
		return nil, err
	}

	cmd := exec.Command(cfg.Path, cfg.Args...) //nolint:noctx // stopped by Stop and Kill, which know its process group
	cmd.Env = cfg.Env
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	cmd.Dir = cfg.Dir
	cmd.Stdout, cmd.Stderr = log, log
	exited := make(chan struct{})
	if err := start(cmd, cfg.In, cfg.Confined, exited); err != nil {
		return nil, err
	}
	p := &Process{cfg: cfg, cmd: cmd, started: time.Now(), exited: exited, logged: before.Size()}
	go p.wait()
	return p, nil
}

// wait is the only caller of cmd.Wait; everyone else learns of the exit
// through the channel.
func (p *Process) wait() {
	err := p.cmd.Wait()
	p.exit = &ExitError{
		Name:    p.cfg.Name,
		State:   describe(p.cmd.ProcessState, err),
		Ran:     time.Since(p.started),
		Overdue: p.overdue.Load(),
		Ready:   p.ready.Load() || p.cfg.Ready == nil,
		Cause:   causeIn(p.cfg.Log, p.logged),
		Log:     p.cfg.Log,
	}
	p.exit.Code, p.exit.Signal = status(p.cmd.ProcessState)
	if asked := p.asked.Load(); asked != nil {
		p.exit.Took = time.Since(*asked)
	}
	close(p.exited)
}

func (p *Process) waitReady(ctx context.Context) error {
	if p.cfg.Ready == nil {
		return nil
	}
	ticker := time.NewTicker(readyPoll)
	defer ticker.Stop()
	for {
		missing := p.cfg.Ready(ctx)
		if missing == nil {
			return nil
		}
		select {
		case <-p.exited:
			return p.exit
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w (%w); it said: %s (log: %s)",
				p.cfg.Name, missing, context.Cause(ctx), causeIn(p.cfg.Log, p.logged), p.cfg.Log)
		case <-ticker.C:
		}
	}
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Exited is closed when the process has ended, for whatever reason.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Exit says how the process ended. It is nil while it runs.
func (p *Process) Exit() *ExitError {
	select {
	case <-p.exited:
		return p.exit
	default:
		return nil
	}
}

// Stop asks the process to end, kills it if it has not when the context ends, and
// returns when it is gone. Stopping a process that has ended already is no error,
// and having to kill is none: Exit says so.
func (p *Process) Stop(ctx context.Context) error {
	now := time.Now()
	p.asked.CompareAndSwap(nil, &now)
	if err := p.signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.exited:
		return nil
	case <-ctx.Done():
		p.overdue.Store(true)
		return p.Kill()
	}
}

// Kill ends the process and its group at once, and returns when it is gone.
func (p *Process) Kill() error {
	err := p.signal(syscall.SIGKILL)
	<-p.exited
	return err
}

// signal reaches the whole process group. A group that is gone is no error.
func (p *Process) signal(sig syscall.Signal) error {
	if err := syscall.Kill(-p.PID(), sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("sending %s to %s: %w", sig, p.cfg.Name, err)
	}
	return nil
}
