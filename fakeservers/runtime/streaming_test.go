package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	utilexec "k8s.io/client-go/util/exec"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// screen records what kubectl prints.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (s *screen) await(t *testing.T, text string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%q is on the screen", text), func() bool { return strings.Contains(s.String(), text) })
}

// stream connects to a URL as a kubelet does for its client, and returns the exit code.
// Nothing more can be typed then.
func stream(t *testing.T, url string, options remotecommand.StreamOptions) int {
	t.Helper()
	if keys, is := options.Stdin.(io.Closer); is {
		defer keys.Close()
	}
	executor, err := newExecutor(url)
	if err == nil {
		err = executor.StreamWithContext(t.Context(), options)
	}
	if exit, is := errors.AsType[utilexec.CodeExitError](err); is {
		return exit.Code
	}
	if err != nil {
		t.Error(err)
	}
	return 0
}

func newExecutor(address string) (remotecommand.Executor, error) {
	parsed, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	return remotecommand.NewSPDYExecutor(&rest.Config{}, http.MethodPost, parsed)
}

func (g *rig) execURL(t *testing.T, req *cri.ExecRequest) string {
	t.Helper()
	resp, err := g.Exec(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Url
}

func TestExec(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	id := g.start(t, g.pod(t, "web"), containerConfig("app", "obey", "0"))
	for name, tc := range map[string]struct {
		cmd            []string
		stdin          io.Reader
		code           int
		stdout, stderr string
	}{
		"output":          {[]string{"echo", "a", "b"}, nil, 0, "a b\n", "in default/web/app\n"},
		"exit code":       {[]string{"exit", "3"}, nil, 3, "", ""},
		"unknown command": {[]string{"dance"}, nil, 127, "", ""},
		"no input":        {[]string{"copy"}, nil, 1, "no input\n", ""},
		"input":           {[]string{"copy"}, strings.NewReader("1\n2"), 4, "line 1\nline 2\n", "end <nil>\n"},
		"no more input":   {[]string{"copy"}, strings.NewReader(""), 4, "", "end <nil>\n"},
		"much input":      {[]string{"copy"}, strings.NewReader(strings.Repeat("x\n", 1e5)), 4, strings.Repeat("line x\n", 1e5), "end <nil>\n"},
		"unread input":    {[]string{"exit", "5"}, strings.NewReader(strings.Repeat("x", 1e6)), 5, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			url := g.execURL(t, &cri.ExecRequest{ContainerId: id, Cmd: tc.cmd, Stdin: tc.stdin != nil, Stdout: true, Stderr: true})
			code := stream(t, url, remotecommand.StreamOptions{Stdin: tc.stdin, Stdout: &stdout, Stderr: &stderr})
			if code != tc.code || stdout.String() != tc.stdout || stderr.String() != tc.stderr {
				t.Errorf("exit code %d, stdout %.100q, stderr %.100q", code, stdout.String(), stderr.String())
			}
		})
	}
}

func TestExecAtATerminal(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	id := g.start(t, g.pod(t, "web"), containerConfig("app", "obey", "0"))
	keys, typing := io.Pipe()
	seen, ended := &screen{}, make(chan int, 1)
	url := g.execURL(t, &cri.ExecRequest{ContainerId: id, Cmd: []string{"copy"}, Stdin: true, Stdout: true, Tty: true})
	go func() {
		ended <- stream(t, url, remotecommand.StreamOptions{Stdin: keys, Stdout: seen, Tty: true, TerminalSizeQueue: &sizes{}})
	}()
	for _, step := range []struct{ types, sees string }{
		{"one\r", "one\r\nline one\r\n"},
		{"twx\x7fo\r", "line two\r\n"},            // Backspace
		{"\x1b[A\x1b[A\r", "one\r\nline one\r\n"}, // twice Up
		{"thr\x04ee\r", "line three\r\n"},         // Ctrl-D, not at the beginning of a line
		{"\x04", "end <nil>\r\n"},
		{"four\r", "line four\r\n"},
	} {
		if _, err := io.WriteString(typing, step.types); err != nil {
			t.Fatal(err)
		}
		seen.await(t, step.sees)
	}
	if _, err := io.WriteString(typing, "\x04"); err != nil {
		t.Fatal(err)
	}
	if code := <-ended; code != 4 {
		t.Errorf("exit code %d, want 4; screen:\n%s", code, seen)
	}
}

// sizes are those that a client without a terminal of its own gives.
type sizes struct{ asked bool }

func (s *sizes) Next() *remotecommand.TerminalSize {
	if s.asked {
		return nil
	}
	s.asked = true
	return &remotecommand.TerminalSize{}
}

func TestTheKeyboardInterrupts(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	id := g.start(t, g.pod(t, "web"), containerConfig("app", "obey", "0"))
	keys, typing := io.Pipe()
	seen, ended := &screen{}, make(chan int, 1)
	url := g.execURL(t, &cri.ExecRequest{ContainerId: id, Cmd: []string{"await"}, Stdin: true, Stdout: true, Tty: true})
	go func() {
		ended <- stream(t, url, remotecommand.StreamOptions{Stdin: keys, Stdout: seen, Tty: true})
	}()
	seen.await(t, "awaiting\r\n")
	if _, err := io.WriteString(typing, "\x03"); err != nil {
		t.Fatal(err)
	}
	if code := <-ended; code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
}

// A command ends with the terminal from which it was started, and with its container.
func TestExecEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, g *rig, id string, hangUp func()){
		"terminal":  func(_ *testing.T, _ *rig, _ string, hangUp func()) { hangUp() },
		"container": func(t *testing.T, g *rig, id string, _ func()) { g.stopWithin(t, id, 10) },
		"runtime": func(t *testing.T, g *rig, _ string, _ func()) {
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newRig(t)
			id := g.start(t, g.pod(t, "web"), containerConfig("app", "obey", "0"))
			keys, typing := io.Pipe()
			seen, ended := &screen{}, make(chan error, 1)
			executor, err := newExecutor(g.execURL(t, &cri.ExecRequest{ContainerId: id, Cmd: []string{"await"}, Stdin: true, Stdout: true, Tty: true}))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				ended <- executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: keys, Stdout: seen, Tty: true})
			}()
			seen.await(t, "awaiting")
			end(t, g, id, func() { cancel(); typing.Close() })
			if err := <-ended; err == nil {
				t.Error("a command that was given up succeeded")
			}
		})
	}
}

func TestAttach(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	config := containerConfig("app", "copy")
	config.Stdin, config.StdinOnce = true, true
	id := g.start(t, g.pod(t, "web"), config)
	watching, watched := &screen{}, make(chan int, 1)
	go func() {
		watched <- stream(t, g.attachURL(t, &cri.AttachRequest{ContainerId: id, Stdout: true}), remotecommand.StreamOptions{Stdout: watching})
	}()
	keys, typing := io.Pipe()
	seen, ended := &screen{}, make(chan int, 1)
	go func() {
		ended <- stream(t, g.attachURL(t, &cri.AttachRequest{ContainerId: id, Stdin: true, Stdout: true, Stderr: true}), remotecommand.StreamOptions{Stdin: keys, Stdout: seen, Stderr: seen})
	}()
	// The first lines may be typed before both are attached.
	eventually(t, "both are attached", func() bool {
		_, err := io.WriteString(typing, "hello\n")
		return err != nil || strings.Contains(seen.String(), "line hello\n") && strings.Contains(watching.String(), "line hello\n")
	})
	typing.Close()
	for _, code := range []int{<-ended, <-watched} {
		if code != 0 {
			t.Errorf("attach ended with %d", code)
		}
	}
	if !strings.Contains(seen.String(), "end <nil>\n") || strings.Contains(watching.String(), "end") {
		t.Errorf("screens:\n%s\n%s", seen, watching)
	}
	if exited := g.exited(t, id); exited.ExitCode != 4 {
		t.Errorf("exit code %d, want 4", exited.ExitCode)
	}
	if logged := g.logged(t, id); !slices.Contains(logged, "stdout F line hello") || !slices.Contains(logged, "stderr F end <nil>") {
		t.Errorf("logged %q", logged)
	}
}

// A client that is attached and does not read can't keep a container from ending.
func TestAttachedAndNotReading(t *testing.T) {
	t.Parallel()
	o := &output{log: io.Discard}
	read, unread := io.Pipe()
	detach := o.attach(attached{unread, func() {}})
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = io.WriteString(o, "no client reads this")
	}()
	if _, err := read.Read(make([]byte, 1)); err != nil { // it is being written
		t.Fatal(err)
	}
	detach()
	unread.Close()
	<-written
}

// A client is detached when it is gone, while its container goes on.
func TestAttachedAndGone(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	config := containerConfig("app", "copy")
	config.Stdin = true
	id := g.start(t, g.pod(t, "web"), config)
	executor, err := newExecutor(g.attachURL(t, &cri.AttachRequest{ContainerId: id, Stdout: true}))
	if err != nil {
		t.Fatal(err)
	}
	c, err := g.running(id)
	if err != nil {
		t.Fatal(err)
	}
	attached := func() int {
		c.process.stdout.mu.Lock()
		defer c.process.stdout.mu.Unlock()
		return len(c.process.stdout.clients)
	}
	says := func() {
		if _, err := io.WriteString(c.process.stdin, "hello\n"); err != nil {
			t.Error(err)
		}
	}
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	ended := make(chan error, 1)
	go func() { ended <- executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: &screen{}}) }()
	eventually(t, "the client is attached", func() bool { return attached() == 1 })
	hangUp()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	eventually(t, "the client is detached", func() bool { says(); return attached() == 0 })
	if _, err := g.running(id); err != nil {
		t.Error(err)
	}
}

// A kubelet on a busy machine has time to say what it asks for.
func TestTheStreamServerIsPatient(t *testing.T) {
	t.Parallel()
	if limit := newRig(t).streams.http.ReadHeaderTimeout; limit < 10*time.Second {
		t.Errorf("it waits %s for the headers of a request", limit)
	}
}

func (g *rig) attachURL(t *testing.T, req *cri.AttachRequest) string {
	t.Helper()
	resp, err := g.Attach(t.Context(), req)
	if err != nil {
		t.Error(err) // not in the test's goroutine
	}
	return resp.GetUrl()
}

func TestPortForward(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	pod := g.pod(t, "web")
	listener, err := net.Listen("tcp", net.JoinHostPort(g.ip(t, pod), "8080"))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:gosec // a test's
			_, _ = io.Copy(w, r.Body)
		}))
	}()
	defer func() { listener.Close(); <-served }()

	resp, err := g.PortForward(t.Context(), &cri.PortForwardRequest{PodSandboxId: pod})
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := url.Parse(resp.Url)
	if err != nil {
		t.Fatal(err)
	}
	transport, upgrader, err := spdy.RoundTripperFor(&rest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ready := make(chan struct{})
	dialer := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, parsed)
	forwarder, err := portforward.NewOnAddressesWithContext(ctx, dialer, []string{"127.0.0.1"}, []string{"0:8080"}, ready, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- forwarder.ForwardPorts() }()
	<-ready
	ports, err := forwarder.GetPorts()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := post(t, ports[0].Local, "hello"); got != "hello" {
			t.Errorf("the pod answered %q", got)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	near, far := net.Pipe()
	defer near.Close()
	err = streamingRuntime{g.Runtime}.PortForward(t.Context(), pod, 8081, far)
	if err == nil || !strings.Contains(err.Error(), "no container of pod default/web listens on port 8081") {
		t.Errorf("a port on which nothing listens: %v", err)
	}
}

// post returns the answer to a request.
func post(t *testing.T, port uint16, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d/", port), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	return string(answer)
}

// What can't be streamed is refused before there is a URL, which works once.
func TestStreamsThatAreRefused(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	pod := g.pod(t, "web")
	id := g.start(t, pod, containerConfig("app", "obey", "0"))
	gone := g.start(t, pod, containerConfig("gone", "exit", "0"))
	g.exited(t, gone)
	for _, tc := range []struct {
		req      *cri.ExecRequest
		code     codes.Code
		contains string
	}{
		{&cri.ExecRequest{ContainerId: id, Stdout: true}, codes.InvalidArgument, "no command to run"},
		{&cri.ExecRequest{ContainerId: "none", Cmd: []string{"echo"}, Stdout: true}, codes.NotFound, "not found"},
		{&cri.ExecRequest{ContainerId: gone, Cmd: []string{"echo"}, Stdout: true}, codes.FailedPrecondition, "CONTAINER_EXITED"},
		{&cri.ExecRequest{ContainerId: id, Cmd: []string{"echo"}}, codes.InvalidArgument, "one of stdin, stdout, or stderr"},
	} {
		_, err := g.Exec(t.Context(), tc.req)
		wantCode(t, err, tc.code, tc.contains)
	}
	_, err := g.Attach(t.Context(), &cri.AttachRequest{ContainerId: gone, Stdout: true})
	wantCode(t, err, codes.FailedPrecondition, "CONTAINER_EXITED")
	_, err = g.PortForward(t.Context(), &cri.PortForwardRequest{PodSandboxId: "none"})
	wantCode(t, err, codes.NotFound, "not found")
	if _, err := g.StopPodSandbox(t.Context(), &cri.StopPodSandboxRequest{PodSandboxId: pod}); err != nil {
		t.Fatal(err)
	}
	_, err = g.PortForward(t.Context(), &cri.PortForwardRequest{PodSandboxId: pod})
	wantCode(t, err, codes.FailedPrecondition, "is stopped")
}

func TestAStreamsURLWorksOnce(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	id := g.start(t, g.pod(t, "web"), containerConfig("app", "obey", "0"))
	url := g.execURL(t, &cri.ExecRequest{ContainerId: id, Cmd: []string{"exit", "3"}, Stdout: true})
	if code := stream(t, url, remotecommand.StreamOptions{Stdout: io.Discard}); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
	executor, err := newExecutor(url)
	if err != nil {
		t.Fatal(err)
	}
	if err := executor.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdout: io.Discard}); err == nil {
		t.Error("the URL worked twice")
	}
}
