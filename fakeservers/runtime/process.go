package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/harness/await"
	"github.com/skewrig/skewrig/record"
)

// Exit codes that are not a program's own choice.
const (
	panicCode    = 2   // what a Go program that panics ends with
	notFoundCode = 127 // what a shell reports for a command that is not there
	killedCode   = 137 // 128 + SIGKILL
)

// pendingSignals is how many signals a program may leave unread. More are
// lost, as they are in a kernel that keeps one of each.
const pendingSignals = 16

// process is the run of a container's program.
type process struct {
	program *image.Process
	log     *containerLog
	signals signals
	// stdin is nil if the container has none.
	stdin          *image.Pipe
	stdout, stderr *output
	pid            int
	// killed ends when the process is killed, or has ended; kill ends it. The
	// commands that run beside the program end with it.
	killed context.Context
	kill   context.CancelFunc
	// up is closed when the program has come up, done when the container is seen
	// as exited.
	up, done chan struct{}

	// The rest is guarded by Runtime.mu.
	asked      bool   // was sent the stop signal
	lost       bool   // ends with the machine
	lastSignal string // "SIGTERM"
}

func (r *Runtime) newProcess(c *container, log *containerLog) (*process, error) {
	p := &process{
		log: log, signals: make(signals, pendingSignals), up: make(chan struct{}), done: make(chan struct{}),
		stdout: &output{log: log.stream("stdout")}, stderr: &output{log: log.stream("stderr")},
	}
	p.program = &image.Process{
		Args:      c.args,
		Env:       environment(c),
		Dir:       c.config.GetWorkingDir(),
		UID:       user(c.config),
		Container: c.path,
		IP:        c.sandbox.ip,
		Network:   r.config.Network,
		Started:   time.Now(),
		Streams:   image.Streams{Stdout: p.stdout, Stderr: p.stderr, Terminal: c.config.GetTty(), Signals: p.signals},
		Recorder:  r.config.Recorder,
		Kill:      p.signals.kill,
		Up:        sync.OnceFunc(func() { close(p.up) }),
	}
	p.program.Files.Node, p.program.VolumeSpace = &r.memory, &r.volumes
	var err error
	if p.program.Mounts, err = r.mounts(c.config); err != nil {
		return nil, fmt.Errorf("mounting its volumes: %w", err)
	}
	if err := setParameters(p.program, c.sandbox.config.GetLinux().GetSysctls()); err != nil {
		return nil, fmt.Errorf("setting its kernel parameters: %w", err)
	}
	if c.config.GetStdin() {
		stdin, err := image.NewPipe()
		if err != nil {
			return nil, fmt.Errorf("opening its standard input: %w", err)
		}
		p.stdin, p.program.Stdin = stdin, stdin
	}
	p.killed, p.kill = context.WithCancel(r.alive)
	if p.stdin != nil {
		context.AfterFunc(p.killed, func() { _ = p.stdin.Close() }) // nothing was written there
	}
	return p, nil
}

// environment returns the container's variables after HOSTNAME, which a
// runtime sets on its own.
func environment(c *container) []string {
	var env []string
	if hostname := c.sandbox.config.GetHostname(); hostname != "" {
		env = append(env, "HOSTNAME="+hostname)
	}
	for _, e := range c.config.GetEnvs() {
		env = append(env, e.GetKey()+"="+string(e.GetValue()))
	}
	return env
}

// setParameters makes files of the kernel parameters that a pod sets, where a kernel has them. A
// container has no other files of its kernel.
func setParameters(p *image.Process, of map[string]string) error {
	var problems []error
	for name, value := range of {
		problems = append(problems, p.WriteFile("/proc/sys/"+strings.ReplaceAll(name, ".", "/"), []byte(value+"\n")))
	}
	return errors.Join(problems...)
}

// user is the number of the user that a container is to run as: that of its image, unless the
// kubelet says another.
func user(config *cri.ContainerConfig) int64 {
	if of := config.GetLinux().GetSecurityContext().GetRunAsUser(); of != nil {
		return of.GetValue()
	}
	return imageUser
}

// launch runs the container's program, with its output going to log. It returns
// when the program has come up or ended, or after image.ComingUp.
func (r *Runtime) launch(c *container, log *containerLog) error {
	p, err := r.newProcess(c, log)
	if err != nil {
		log.close()
		return status.Errorf(codes.Internal, "preparing the container's program: %v", err)
	}
	if err := r.admit(c, p); err != nil {
		p.kill()
		log.close()
		return err
	}
	r.record(c.path, record.ContainerStarted{
		ID: c.id, Image: c.image.Reference, Args: c.args, Attempt: c.config.Metadata.Attempt, PID: p.pid,
	})
	go r.run(c)
	waiting, cancel := context.WithCancel(p.killed)
	defer cancel()
	select {
	case <-p.up:
	case <-p.done:
	case <-await.Over(waiting, image.ComingUp):
	}
	return nil
}

// admit marks the container as running, unless the world has moved on since
// its start was asked for.
func (r *Runtime) admit(c *container, p *process) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return status.Error(codes.Unavailable, "the runtime is closing")
	case r.containers[c.id] != c:
		return notFound("container", c.id)
	case c.sandbox.stopping:
		return status.Errorf(codes.FailedPrecondition, "pod sandbox %q is stopped", c.sandbox.id)
	}
	r.goroutines.Add(1)
	r.lastPID++
	p.pid = r.lastPID
	c.process = p
	c.startedAt = r.stamp()
	c.state = cri.ContainerState_CONTAINER_RUNNING
	return nil
}

// run runs the container's program to its end. It records what happened
// before a client can see the container as exited and act on it.
func (r *Runtime) run(c *container) {
	defer r.goroutines.Done()
	p := c.process
	code := play(p.killed, c.image.Run, p.program)
	ranFor := time.Since(p.program.Started)

	end, signal := r.endOf(p, code)
	p.kill()
	p.log.close()
	r.record(c.path, record.ContainerExited{
		ID: c.id, ExitCode: end.code, Reason: end.reason, Signal: signal,
		RanForSeconds: ranFor.Seconds(), Attempt: c.config.Metadata.Attempt,
	})
	r.setExited(c, end)
	close(p.done)
}

// endOf is how a process ended whose program returned a code, and the last signal that it was
// sent.
func (r *Runtime) endOf(p *process, code int) (end exit, signal string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	end, signal = exit{code: int32(uint8(code)), reason: "Completed"}, p.lastSignal // the kernel keeps 8 bits
	switch killed := p.killed.Err() != nil; {
	case killed && p.lost:
		return exit{code: lostCode, reason: lostReason}, signal
	case killed:
		end.code, signal = killedCode, "SIGKILL"
	}
	if end.code != 0 {
		end.reason = "Error"
	}
	return end, signal
}

func (r *Runtime) setExited(c *container, end exit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	end.at = r.stamp()
	c.exit = end
	c.state = cri.ContainerState_CONTAINER_EXITED
}

// play calls the program. A panic ends the container and not the runtime: a
// real process that crashes takes no other with it, and neither may one that
// shares this process.
func play(ctx context.Context, program image.Program, p *image.Process) (code int) {
	defer crash(p.Stderr, &code)
	return program(ctx, p)
}

// crash, deferred, turns a panic into what a Go program does on one: it prints
// the stack to its standard error and exits with code 2.
func crash(stderr io.Writer, code *int) {
	if cause := recover(); cause != nil {
		fmt.Fprintf(stderr, "panic: %v\n\n%s", cause, debug.Stack())
		*code = panicCode
	}
}

// stop sends the container's stop signal, and kills the process if it is still
// there after the grace period. Without one, it is killed at once. If the
// caller goes away meanwhile, the process is not killed: the next caller gives
// it a grace period of its own, as with containerd.
func (r *Runtime) stop(ctx context.Context, c *container, grace time.Duration) error {
	p := c.process
	signal := stopSignal(c.config.GetStopSignal())
	if grace > 0 && signal != unix.SIGKILL {
		r.ask(p, signal)
		patience, cancel := context.WithTimeout(ctx, grace)
		defer cancel()
		if err := p.wait(patience); err == nil || ctx.Err() != nil {
			return err
		}
	}
	p.kill()
	return p.wait(ctx)
}

// ask sends the stop signal, once: a repeated call waits, but does not signal
// again.
func (r *Runtime) ask(p *process, signal syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.asked {
		return
	}
	p.asked = true
	p.lastSignal = signalName(signal)
	p.signals.send(signal)
}

// wait returns when the container has exited, or ctx is done.
func (p *process) wait(ctx context.Context) error {
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
}

// seconds converts a timeout of the CRI, where what is not positive means
// none. A year is as good as any longer time, and does not overflow.
func seconds(n int64) time.Duration {
	const year = 365 * 24 * 60 * 60
	return time.Duration(min(max(n, 0), year)) * time.Second
}
