package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"

	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/harness/peer"
)

// streamServer serves what kubectl's exec, attach, cp and port-forward need. A
// kubelet gets a URL by a call of the CRI, and passes its own client's connection
// on to there. Each URL holds a random token, and can be used once.
type streamServer struct {
	streaming.Server
	http *http.Server
}

// headersLimit is how long a kubelet may take to say what it wants, once it is connected.
const headersLimit = 30 * time.Second

// listenForStreams serves streams on a free port of the node's address.
func (r *Runtime) listenForStreams() error {
	listener, err := new(net.ListenConfig).Listen(r.alive, "tcp", netip.AddrPortFrom(r.addresses.node, 0).String())
	if err != nil {
		return err
	}
	config := streaming.DefaultConfig
	config.BaseURL = &url.URL{Scheme: "http", Host: listener.Addr().String()}
	server, err := streaming.NewServer(config, streamingRuntime{r})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	r.streams = streamServer{server, &http.Server{Handler: server, ReadHeaderTimeout: headersLimit}}
	r.goroutines.Go(func() { _ = r.streams.http.Serve(peer.Own(listener)) }) // until Close
	return nil
}

// Exec returns the URL at which a command can be run whose streams are a client's.
func (s runtimeService) Exec(_ context.Context, req *cri.ExecRequest) (*cri.ExecResponse, error) {
	if len(req.GetCmd()) == 0 {
		return nil, status.Error(codes.InvalidArgument, "no command to run")
	}
	if _, err := s.running(req.GetContainerId()); err != nil {
		return nil, err
	}
	return s.streams.GetExec(req)
}

// Attach returns the URL at which a client gets the streams of a container's
// program.
func (s runtimeService) Attach(_ context.Context, req *cri.AttachRequest) (*cri.AttachResponse, error) {
	if _, err := s.running(req.GetContainerId()); err != nil {
		return nil, err
	}
	return s.streams.GetAttach(req)
}

// PortForward returns the URL at which a client reaches the ports of a pod.
func (s runtimeService) PortForward(_ context.Context, req *cri.PortForwardRequest) (*cri.PortForwardResponse, error) {
	if _, err := s.readySandbox(req.GetPodSandboxId()); err != nil {
		return nil, err
	}
	return s.streams.GetPortForward(req)
}

// readySandbox returns a sandbox that is ready, and otherwise the error that a
// call for one gets.
func (r *Runtime) readySandbox(id string) (*sandbox, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, ok := r.sandboxes[id]
	if !ok {
		return nil, notFound("pod sandbox", id)
	}
	if b.state != cri.PodSandboxState_SANDBOX_READY {
		return nil, status.Errorf(codes.FailedPrecondition, "pod sandbox %q is stopped", id)
	}
	return b, nil
}

// streamingRuntime does what clients of the URLs ask for.
type streamingRuntime struct{ *Runtime }

var _ streaming.Runtime = streamingRuntime{}

// Exec runs a command whose streams are the client's.
func (s streamingRuntime) Exec(ctx context.Context, id string, args []string, in io.Reader, out, errOut io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize) error {
	c, err := s.running(id)
	if err != nil {
		return err
	}
	ctx, release := commandContext(ctx, c.process, 0)
	defer release()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stdin, err := image.NewPipe()
	if err != nil {
		return err
	}
	defer stdin.Close()

	signals := make(signals, pendingSignals)
	to := newClient(in, out, errOut, tty)
	to.connect(ctx, stdin, resize, signals.send, func() {
		if tty {
			cancel(errHangup)
		}
		_ = stdin.CloseWrite()
	})
	streams := image.Streams{Stdout: to.out, Stderr: to.errOut, Terminal: tty, Signals: signals}
	if in != nil {
		streams.Stdin = stdin
	}
	code, err := s.exec(ctx, c, args, streams)
	if err == nil && code != 0 {
		err = utilexec.CodeExitError{Err: fmt.Errorf("exit code %d", code), Code: int(code)}
	}
	return err
}

// Attach hands on what a container's program writes from now on, until the program
// ends or the client is gone, and what the client types, if the container has a standard input.
func (s streamingRuntime) Attach(ctx context.Context, id string, in io.Reader, out, errOut io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize) error {
	c, err := s.running(id)
	if err != nil {
		return err
	}
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	p := c.process
	if p.stdin == nil {
		in = nil // the program reads none
	}
	to := newClient(in, out, errOut, tty)
	to.connect(ctx, p.stdin, resize, p.signals.send, func() {
		if c.config.GetStdinOnce() {
			_ = p.stdin.CloseWrite()
		}
		if tty {
			leave()
		}
	})
	defer p.stdout.attach(attached{to.out, leave})()
	defer p.stderr.attach(attached{to.errOut, leave})()
	select {
	case <-p.killed.Done(): // or it has ended, and has written everything
	case <-ctx.Done():
	}
	return nil
}

// PortForward connects a stream to a port of a pod.
func (s streamingRuntime) PortForward(ctx context.Context, id string, port int32, stream io.ReadWriteCloser) error {
	b, err := s.readySandbox(id)
	if err != nil {
		return err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(b.ip.String(), strconv.Itoa(int(port))))
	if err != nil {
		return fmt.Errorf("no container of pod %s listens on port %d: %w", b.path, port, err)
	}
	defer conn.Close()
	defer context.AfterFunc(s.alive, func() { conn.Close() })()
	go func() {
		_, _ = io.Copy(conn, stream)
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	_, err = io.Copy(stream, conn)
	return err
}
