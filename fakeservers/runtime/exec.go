package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/record"
)

// maxExecOutput bounds what a command's output and error output may be
// together; what is more is dropped. The CRI asks for a bound of 16 MB, and the
// answer has to fit into the 16 MiB that a kubelet receives.
const maxExecOutput = 16_000_000

// Why a command is given up.
var (
	errContainerExited = errors.New("the container exited")
	errExecTimeout     = errors.New("the command took longer than its timeout")
)

// ExecSync runs a command in a container. If it takes longer than the timeout,
// it is killed, and the error has the code DeadlineExceeded: by that a kubelet
// knows a slow probe from a failing one.
func (s runtimeService) ExecSync(ctx context.Context, req *cri.ExecSyncRequest) (*cri.ExecSyncResponse, error) {
	if len(req.GetCmd()) == 0 {
		return nil, status.Error(codes.InvalidArgument, "no command to run")
	}
	c, err := s.running(req.GetContainerId())
	if err != nil {
		return nil, err
	}
	ctx, release := commandContext(ctx, c.process, seconds(req.GetTimeout()))
	defer release()

	started := time.Now()
	var out execOutput
	code, err := s.exec(ctx, c, req.GetCmd(), image.Streams{Stdout: execStream{&out, &out.stdout}, Stderr: execStream{&out, &out.stderr}})
	event := record.Exec{ID: c.id, Args: req.GetCmd(), ExitCode: code, DurationSeconds: time.Since(started).Seconds()}
	if err != nil {
		event.Error = err.Error()
	}
	stdout, stderr := out.contents()
	event.Output = beginning(stdout, stderr)
	s.record(c.path, event)

	if errors.Is(err, errExecTimeout) {
		return nil, status.Errorf(codes.DeadlineExceeded, "running %q in container %s: %v of %s", req.GetCmd(), c.path, err, seconds(req.GetTimeout()))
	}
	if err != nil {
		return nil, status.Errorf(codes.Canceled, "running %q in container %s: %v", req.GetCmd(), c.path, err)
	}
	return &cri.ExecSyncResponse{Stdout: stdout, Stderr: stderr, ExitCode: code}, nil
}

// commandContext returns the context of a command: it ends with the caller's,
// with the container, or after the timeout if there is one.
func commandContext(ctx context.Context, p *process, timeout time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stopWatching := context.AfterFunc(p.killed, func() { cancel(errContainerExited) })
	stopTimer := context.CancelFunc(func() {})
	if timeout > 0 {
		ctx, stopTimer = context.WithTimeoutCause(ctx, timeout, errExecTimeout)
	}
	return ctx, func() {
		stopWatching()
		stopTimer()
		cancel(nil)
	}
}

// exec runs a command and returns its exit code, or -1 and why it was given
// up. A command that ends with its container was killed by that.
func (r *Runtime) exec(ctx context.Context, c *container, args []string, streams image.Streams) (int32, error) {
	ended := make(chan int, 1)
	if !r.spawn(func() { ended <- playCommand(ctx, c, args, streams) }) {
		return -1, errors.New("the runtime is closing")
	}
	code := -1
	select {
	case code = <-ended:
	case <-ctx.Done():
	}
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return int32(uint8(code)), nil
	case errors.Is(cause, errContainerExited):
		return killedCode, nil
	default:
		return -1, cause
	}
}

// spawn runs f in a goroutine that Close waits for, and reports whether it did:
// not when the runtime is closing.
func (r *Runtime) spawn(f func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.goroutines.Go(f)
	return true
}

// playCommand calls what plays the image's commands. A panic ends the command
// only, see play.
func playCommand(ctx context.Context, c *container, args []string, streams image.Streams) (code int) {
	if c.image.Exec == nil {
		fmt.Fprintf(streams.Stderr, "%s: not found\n", args[0])
		return notFoundCode
	}
	defer crash(streams.Stderr, &code)
	return c.image.Exec(ctx, c.process.program, args, streams)
}

// execOutput collects what a command writes, up to maxExecOutput.
type execOutput struct {
	mu             sync.Mutex
	stdout, stderr bytes.Buffer
}

// contents returns copies: a command that was given up may still write.
func (o *execOutput) contents() (stdout, stderr []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.Clone(o.stdout.Bytes()), bytes.Clone(o.stderr.Bytes())
}

// maxRecordedOutput is how much of a command's output is in the record.
const maxRecordedOutput = 1 << 10

// beginning is the first of what a command wrote. What is not text is replaced.
func beginning(stdout, stderr []byte) string {
	all := append(slices.Clip(stdout), stderr...)
	return strings.ToValidUTF8(string(all[:min(len(all), maxRecordedOutput)]), "\uFFFD")
}

// execStream is the standard output or error of a command.
type execStream struct {
	out    *execOutput
	buffer *bytes.Buffer
}

var _ io.Writer = execStream{}

func (s execStream) Write(p []byte) (int, error) {
	s.out.mu.Lock()
	defer s.out.mu.Unlock()
	left := maxExecOutput - s.out.stdout.Len() - s.out.stderr.Len()
	s.buffer.Write(p[:min(left, len(p))])
	return len(p), nil
}
