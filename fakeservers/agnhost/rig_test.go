package agnhost_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/skewrig/skewrig/fakeservers/agnhost"
	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/record"
)

const (
	agnhostImage = "registry.k8s.io/e2e-test-images/agnhost:2.66.1"
	// patience is how long a test waits for what must come. It only runs out
	// when something is broken.
	patience = 20 * time.Second
)

// lastPod numbers the pods of this test binary.
var lastPod atomic.Uint32

// podIP returns a loopback address that no other pod has, of this run of the
// tests or another, so that programs can have their real ports.
func podIP() netip.Addr {
	pid, pod := os.Getpid(), lastPod.Add(1)
	return netip.AddrFrom4([4]byte{127, byte(64 + pid>>8&63), byte(pid), byte(pod)})
}

// container is a program that runs.
type container struct {
	t       *testing.T
	image   *image.Image
	process *image.Process
	history *record.History
	logs    *logBuffer
	signals chan syscall.Signal
	kill    context.CancelFunc
	exited  chan int
}

// spec is what a test changes about a container.
type spec struct {
	image   string
	command []string
	args    []string
	env     []string
	mounts  []image.Mount
	age     time.Duration
	network bool          // of a rig
	streams image.Streams // those of input
}

// run starts a container as the runtime does.
func run(t *testing.T, s spec) *container {
	t.Helper()
	if s.image == "" {
		s.image = agnhostImage
	}
	catalog, err := image.NewCatalog(agnhost.Entries()...)
	if err != nil {
		t.Fatal(err)
	}
	found, err := catalog.Find(s.image)
	if err != nil {
		t.Fatal(err)
	}
	return runImage(t, found, s)
}

func runImage(t *testing.T, of *image.Image, s spec) *container {
	t.Helper()
	args := append(append([]string{}, of.Entrypoint...), of.Cmd...)
	if s.args != nil {
		args = append(append([]string{}, of.Entrypoint...), s.args...)
	}
	if s.command != nil {
		args = append(append([]string{}, s.command...), s.args...)
	}
	c := &container{
		t: t, image: of, history: record.NewHistory(nil), logs: &logBuffer{},
		signals: make(chan syscall.Signal, 1), exited: make(chan int, 1),
	}
	c.process = &image.Process{
		Args: args, Env: s.env, Container: "default/web-0/app", IP: podIP(), Started: time.Now().Add(-s.age),
		Streams: s.streams, Mounts: s.mounts, Recorder: c.history,
	}
	if s.network {
		c.process.Network = netip.PrefixFrom(c.process.IP, 16).Masked()
	}
	c.process.Stdout, c.process.Stderr, c.process.Signals = c.logs, c.logs, c.signals
	ctx, kill := context.WithCancel(context.Background())
	c.kill = kill
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.exited <- of.Run(ctx, c.process)
	}()
	t.Cleanup(func() {
		kill()
		<-done
	})
	return c
}

// exit waits for the program to end.
func (c *container) exit() int {
	c.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case code := <-c.exited:
		return code
	case <-timer.C:
		c.t.Fatalf("still running: %s", c.logs)
		return 0
	}
}

// expectExit checks how the program ends.
func (c *container) expectExit(want int) {
	c.t.Helper()
	if got := c.exit(); got != want {
		c.t.Errorf("exit code %d, want %d; logs:\n%s", got, want, c.logs)
	}
}

// listening waits until n ports are open and returns their addresses, in the
// order in which they were opened.
func (c *container) listening(n int) []string {
	c.t.Helper()
	ctx, cancel := context.WithTimeoutCause(c.t.Context(), patience, errors.New("no process listens"))
	defer cancel()
	var addresses []string
	err := c.history.Wait(ctx, func(events []record.Event) bool {
		addresses = nil
		for _, l := range record.All[record.Listening](events) {
			addresses = append(addresses, l.Address)
		}
		return len(addresses) >= n
	})
	if err != nil {
		c.t.Fatalf("%v: %v; logs:\n%s", err, addresses, c.logs)
	}
	return addresses
}

// address is where a container serves on its real port.
func (c *container) address(port int) string {
	return netip.AddrPortFrom(c.process.IP, uint16(port)).String()
}

// exec runs a command in the container.
func (c *container) exec(args ...string) (code int, stdout, stderr string) {
	c.t.Helper()
	var out, err bytes.Buffer
	code = c.image.Exec(c.t.Context(), c.process, args, image.Streams{Stdout: &out, Stderr: &err})
	return code, out.String(), err.String()
}

// execIn runs a command beside the program until a context ends.
func (c *container) execIn(ctx context.Context, stderr io.Writer, args ...string) (code int) {
	return c.image.Exec(ctx, c.process, args, image.Streams{Stdout: io.Discard, Stderr: stderr})
}

// get asks for a path over HTTP/1.1.
func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	status, body, err := tryGet(t, url)
	if err != nil {
		t.Fatal(err)
	}
	return status, body
}

func tryGet(t *testing.T, url string) (status int, body string, err error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{
		Timeout:       patience,
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if location := response.Header.Get("Location"); location != "" {
		data = []byte(location)
	}
	return response.StatusCode, string(data), err
}

// logBuffer is a container's log.
type logBuffer struct {
	mu      sync.Mutex
	text    strings.Builder
	changed chan struct{}
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
	return l.text.Write(p)
}

// change returns a channel that is closed when something is written.
func (l *logBuffer) change() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.changed
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// expectLogs checks that each text is in the container's log.
func (c *container) expectLogs(want ...string) {
	c.t.Helper()
	logs := c.logs.String()
	for _, want := range want {
		if !strings.Contains(logs, want) {
			c.t.Errorf("%q is not in the log:\n%s", want, logs)
		}
	}
}

// waitLogs waits until each text is in the container's log.
func (c *container) waitLogs(want ...string) {
	c.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for _, want := range want {
		for changed := c.logs.change(); !strings.Contains(c.logs.String(), want); changed = c.logs.change() {
			select {
			case <-changed:
			case <-timer.C:
				c.t.Fatalf("%q is not in the log:\n%s", want, c.logs)
			}
		}
	}
}
