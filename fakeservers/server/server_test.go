package server_test

import (
	"errors"
	"io"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/server"
	"github.com/skewrig/skewrig/record"
)

func TestStartRecordsThatItListens(t *testing.T) {
	t.Parallel()
	certificate := clientCertificate(t)
	for name, tc := range map[string]struct {
		config server.Config
		want   record.Listening
	}{
		"plaintext":   {server.Config{Listener: behavior.Listener{Protocol: behavior.H2C}}, record.Listening{Protocol: behavior.H2C}},
		"TLS":         {server.Config{Listener: behavior.Listener{Protocol: behavior.HTTPS}}, record.Listening{Protocol: behavior.HTTPS, Certificate: "self-signed"}},
		"a bad one":   {server.Config{Listener: behavior.Listener{Protocol: behavior.GRPCTLS, TLS: &behavior.TLS{Certificate: behavior.Expired}}}, record.Listening{Protocol: behavior.GRPCTLS, Certificate: "expired"}},
		"one's own":   {server.Config{Listener: behavior.Listener{Protocol: behavior.HTTPS}, Certificate: &certificate}, record.Listening{Protocol: behavior.HTTPS, Certificate: "file"}},
		"not for TCP": {server.Config{Listener: behavior.Listener{Protocol: behavior.TCP}, Certificate: &certificate}, record.Listening{Protocol: behavior.TCP}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, tc.config)
			events := r.history.Events()
			if len(events) != 1 || events[0].Source != "server/default/web/app" || events[0].Subject != "default/web/app" {
				t.Fatalf("recorded %+v", events)
			}
			tc.want.Address, tc.want.Port = r.addr(), int32(r.server.Addr().Port())
			got, _ := record.As[record.Listening](events[0])
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("listening (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	r := serve(t, behavior.Listener{Protocol: behavior.TCP})
	for name, tc := range map[string]struct {
		config server.Config
		want   []string
	}{
		"a listener with problems": {
			server.Config{IP: loopback, Listener: behavior.Listener{Port: -1, Protocol: "smtp"}},
			[]string{"port: -1 is not a TCP port", `protocol: "smtp" is unknown`},
		},
		"an address of the network": {
			server.Config{IP: netip.MustParseAddr("0.0.0.0"), Listener: behavior.Listener{Protocol: behavior.TCP}},
			[]string{"0.0.0.0:0: not a loopback address"},
		},
		"no address": {
			server.Config{Listener: behavior.Listener{Protocol: behavior.TCP}},
			[]string{"not a loopback address"},
		},
		"a port that is taken": {
			server.Config{IP: loopback, Listener: behavior.Listener{Port: int32(r.server.Addr().Port()), Protocol: behavior.TCP}},
			[]string{"listening on " + r.addr(), "the port is taken", "ss -ltnp", "address already in use"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := server.Start(tc.config)
			if err == nil {
				_ = s.Close()
				t.Fatal("it started")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q, want %q in it", err, want)
				}
			}
		})
	}
}

func TestAPrivilegedPortSaysWhatToDo(t *testing.T) {
	t.Parallel()
	type outcome struct {
		skip string
		err  error
	}
	result := make(chan outcome)
	go func() {
		// The thread gives up the privilege and so must not be used again: it
		// ends with the goroutine, which never unlocks it.
		runtime.LockOSThread()
		if err := dropPrivilege(); err != nil {
			result <- outcome{skip: err.Error()}
			return
		}
		s, err := server.Start(server.Config{IP: loopback, Listener: behavior.Listener{Port: 1, Protocol: behavior.TCP}})
		if err == nil {
			err = errors.Join(errors.New("it started"), s.Close())
		}
		result <- outcome{err: err}
	}()
	got := <-result
	if got.skip != "" {
		t.Skip(got.skip)
	}
	for _, want := range []string{"listening on 127.0.0.1:1: ", "sysctl -w net.ipv4.ip_unprivileged_port_start=1`"} {
		if !errors.Is(got.err, syscall.EACCES) || !strings.Contains(got.err.Error(), want) {
			t.Errorf("error %v, want %q in it", got.err, want)
		}
	}
}

// dropPrivilege takes from the thread what lets root open low ports.
func dropPrivilege() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return err
	}
	data[0].Effective &^= 1 << unix.CAP_NET_BIND_SERVICE
	return unix.Capset(&header, &data[0])
}

func TestCloseEndsEverything(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, protocol := range behavior.Protocols() {
		for _, fault := range append(behavior.Faults(), "") {
			phase := behavior.Phase{Fault: fault, Delay: behavior.Duration(time.Hour)}
			if (behavior.Listener{Port: 1, Protocol: protocol, Phases: behavior.Timeline{phase}}).Validate() != nil {
				continue
			}
			r := serve(t, behavior.Listener{Protocol: protocol, Phases: behavior.Timeline{phase}})
			if fault == behavior.StallConnect {
				if err := r.server.Close(); err != nil {
					t.Errorf("%s, %s: %v", protocol, fault, err)
				}
				continue
			}
			silent, talking := dial(t, r.addr()), dial(t, r.addr())
			send(t, talking, getRequest)
			if err := r.server.Close(); err != nil {
				t.Errorf("%s, %s: %v", protocol, fault, err)
			}
			if err := r.server.Close(); err != nil {
				t.Errorf("%s, %s, again: %v", protocol, fault, err)
			}
			// Those that were never accepted are reset by the kernel, and not
			// recorded: no server has seen them.
			_, _ = io.Copy(io.Discard, silent)
			_, _ = io.Copy(io.Discard, talking)
			for _, c := range record.All[record.Connection](r.history.Events()) {
				if c.CloseReason == "" || c.Closed.IsZero() {
					t.Errorf("%s, %s: recorded %+v", protocol, fault, c)
				}
			}
		}
	}
	waitForGoroutines(t, before)
}

// waitForGoroutines waits until no more than n goroutines are left. The last
// act of a goroutine that a server waits for comes a moment before its end.
func waitForGoroutines(t *testing.T, n int) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for runtime.NumGoroutine() > n {
		select {
		case <-deadline.C:
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, want %d:\n%s", runtime.NumGoroutine(), n, stacks[:runtime.Stack(stacks, true)])
		default:
			runtime.Gosched()
		}
	}
}

func TestCloseRecordsWhatIsInProgress(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
	})
	r := start(t, server.Config{Listener: behavior.Listener{Protocol: behavior.H2C}, Handler: handler})
	failed := make(chan error)
	go func() {
		_, err := probe{http2: true}.get(t, "http://"+r.addr())
		failed <- err
	}()
	<-arrived
	if err := r.server.Close(); err != nil {
		t.Error(err)
	}
	if err := <-failed; err == nil {
		t.Error("the request was answered")
	}
	c := r.connection()
	if c.CloseReason != record.Shutdown || len(c.Requests) != 1 || c.Requests[0].Status != 0 || c.Requests[0].Duration <= 0 {
		t.Errorf("recorded %+v", c)
	}
}

func TestEveryConnectionIsRecordedOnce(t *testing.T) {
	t.Parallel()
	const clients, each = 8, 25
	for _, protocol := range []behavior.Protocol{behavior.HTTP1, behavior.GRPC, behavior.HTTPS, behavior.TCP} {
		t.Run(string(protocol), func(t *testing.T) {
			t.Parallel()
			r := serve(t, behavior.Listener{Protocol: protocol})
			var running sync.WaitGroup
			for range clients {
				running.Go(func() {
					for range each {
						_ = dial(t, r.addr()).Close()
					}
				})
			}
			running.Wait()
			ids := map[int]int{}
			for _, c := range r.wait(clients * each) {
				ids[c.ID]++
			}
			if err := r.server.Close(); err != nil {
				t.Error(err)
			}
			want := map[int]int{}
			for id := range clients * each {
				want[id+1] = 1
			}
			if diff := cmp.Diff(want, ids); diff != "" {
				t.Errorf("connections by ID (-want +got):\n%s", diff)
			}
			r.connections(clients * each)
		})
	}
}

func TestTheRecordOfAHostileClientIsBounded(t *testing.T) {
	t.Parallel()
	r := serve(t, behavior.Listener{Protocol: behavior.HTTP1})
	conn := dial(t, r.addr())
	long := strings.Repeat("a", 10_000)
	var header strings.Builder
	header.WriteString("GET / HTTP/1.1\r\nHost: a\r\n")
	for i := range 100 {
		header.WriteString("X-" + strings.Repeat("b", i) + ": \xff\r\n")
	}
	header.WriteString("\r\n")
	send(t, conn, "GET /"+long+" HTTP/1.1\r\nHost: a\r\nX-Long: "+long+"\r\n\r\n"+header.String())
	for range 300 {
		send(t, conn, getRequest)
	}
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	receive(t, conn)

	c := r.connection()
	if len(c.Requests) != 256 || c.DroppedRequests != 46 {
		t.Errorf("%d requests, %d dropped, want 256 and 46", len(c.Requests), c.DroppedRequests)
	}
	first, second := c.Requests[0], c.Requests[1]
	if len(first.Path) > 600 || len(first.Headers["X-Long"][0]) > 600 {
		t.Errorf("a path of %d bytes, a header of %d", len(first.Path), len(first.Headers["X-Long"][0]))
	}
	if len(second.Headers) != 64 || second.Headers["X-B"][0] != "\uFFFD" {
		t.Errorf("%d headers, such as %q", len(second.Headers), second.Headers["X-B"])
	}
}

func TestRequestHeaders(t *testing.T) {
	t.Parallel()
	r := serve(t, behavior.Listener{Protocol: behavior.HTTP1})
	conn := dial(t, r.addr())
	send(t, conn, "GET / HTTP/1.1\r\nHost: web.example\r\nUser-Agent: kube-probe/1.37\r\nAccept: */*\r\nX-A: 1\r\nX-A: 2\r\nConnection: close\r\n\r\n")
	receive(t, conn)
	want := record.Request{
		Method: "GET", Path: "/", Proto: "HTTP/1.1", Host: "web.example", UserAgent: "kube-probe/1.37", Status: 200, BodyBytes: 2,
		Headers: map[string][]string{"Accept": {"*/*"}, "X-A": {"1", "2"}, "Connection": {"close"}},
	}
	if diff := cmp.Diff(want, r.connection().Requests[0], cmpopts.IgnoreFields(record.Request{}, "Started", "Duration")); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestFailedHandshakesAreLogged(t *testing.T) {
	t.Parallel()
	var logged lockedBuffer
	r := start(t, server.Config{Listener: behavior.Listener{Protocol: behavior.HTTPS}, Log: &logged})
	if got, err := (probe{}).get(t, "http://"+r.addr()); err != nil || !strings.Contains(got.body, "HTTP request to an HTTPS server") {
		t.Errorf("answered %+v, error %v", got, err)
	}
	if err := r.server.Close(); err != nil {
		t.Error(err)
	}
	if got := logged.String(); !strings.Contains(got, "client sent an HTTP request to an HTTPS server") {
		t.Errorf("logged %q", got)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func BenchmarkRequests(b *testing.B) {
	for _, protocol := range []behavior.Protocol{behavior.HTTP1, behavior.H2C} {
		b.Run(string(protocol), func(b *testing.B) {
			s, err := server.Start(server.Config{IP: loopback, Listener: behavior.Listener{Protocol: protocol}})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			client := probe{http2: protocol == behavior.H2C}.client()
			defer client.CloseIdleConnections()
			for b.Loop() {
				response, err := client.Get("http://" + s.Addr().String())
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
			}
		})
	}
}
