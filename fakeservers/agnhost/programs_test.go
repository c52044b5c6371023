package agnhost_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/record"
)

func TestPause(t *testing.T) {
	t.Parallel()
	for sig, want := range map[syscall.Signal]int{syscall.SIGINT: 1, syscall.SIGTERM: 2} {
		c := run(t, spec{})
		c.signals <- syscall.SIGUSR1
		c.signals <- sig
		c.expectExit(want)
		message := "exiting because of signal \"" + sig.String() + "\"\n"
		c.expectLogs("Paused\nSignals registered\n", message)
		if got, err := c.process.ReadFile("/dev/termination-log"); err != nil || string(got) != message {
			t.Errorf("termination message %q, error %v", got, err)
		}
	}
	c := run(t, spec{})
	c.kill()
	c.expectExit(137)
}

func TestPauseWritesItsTerminationMessage(t *testing.T) {
	t.Parallel()
	node := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(node, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := run(t, spec{
		env:    []string{"TERMINATION_MESSAGE_PATH=/etc/last-words"},
		mounts: []image.Mount{{ContainerPath: "/etc/last-words", HostPath: node}},
	})
	c.signals <- syscall.SIGTERM
	c.expectExit(2)
	if got, err := os.ReadFile(node); err != nil || string(got) != "exiting because of signal \"terminated\"\n" {
		t.Errorf("on the node: %q, error %v", got, err)
	}
}

func TestPauseImage(t *testing.T) {
	t.Parallel()
	c := run(t, spec{image: "registry.k8s.io/pause:3.10"})
	c.signals <- syscall.SIGTERM
	c.expectExit(0)
	c.expectLogs("Shutting down, got signal: Terminated\n")
	c = run(t, spec{image: "registry.k8s.io/pause", command: []string{"sh"}})
	c.expectExit(127)
	c.expectLogs(`"sh": skewrig doesn't implement this command here; it implements pause`)
	if c.image.Exec != nil {
		t.Error("something can be run in the pause image")
	}
}

func TestLiveness(t *testing.T) {
	t.Parallel()
	young := run(t, spec{args: []string{"liveness"}})
	young.listening(1)
	url := "http://" + young.address(8080)
	if status, body := get(t, url+"/healthz"); status != 200 || body != "ok" {
		t.Errorf("/healthz: %d %q", status, body)
	}
	if status, body := get(t, url+"/redirect?loc="+"http%3A%2F%2F0.0.0.0%2F"); status != 302 || body != "http://0.0.0.0/" {
		t.Errorf("/redirect: %d %q", status, body)
	}
	if status, body := get(t, url+"/redirect?loc=%25zz"); status != 400 || !strings.Contains(body, `"%zz"`) {
		t.Errorf("/redirect to nowhere: %d %q", status, body)
	}
	if status, _ := get(t, url+"/"); status != 404 {
		t.Errorf("/: %d", status)
	}
	if _, body := get(t, url+"/started"); !isDuration(body) {
		t.Errorf("/started: %q", body)
	}
	young.signals <- syscall.SIGTERM
	young.expectExit(2)

	old := run(t, spec{args: []string{"liveness"}, age: 11 * time.Second})
	old.listening(1)
	if status, body := get(t, "http://"+old.address(8080)+"/healthz"); status != 500 || !strings.HasPrefix(body, "error: 11.") {
		t.Errorf("/healthz after 11 s: %d %q", status, body)
	}
	old.kill()
	old.expectExit(137)
}

func isDuration(text string) bool {
	_, err := time.ParseDuration(text)
	return err == nil
}

func TestTestWebserver(t *testing.T) {
	t.Parallel()
	volume := t.TempDir()
	if err := os.WriteFile(filepath.Join(volume, "<b>.txt"), []byte("bold"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := run(t, spec{args: []string{"test-webserver", "--port=0"}, mounts: []image.Mount{{ContainerPath: "/data", HostPath: volume}}})
	url := "http://" + c.listening(1)[0]
	if err := c.process.WriteFile("/tmp/ready", []byte("yes")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/": ">data<", "/data/": "&lt;b&gt;.txt", "/data/%3Cb%3E.txt": "bold", "/tmp/ready": "yes",
	} {
		if status, body := get(t, url+path); status != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %q, want %q in it", path, status, body, want)
		}
	}
	for _, path := range []string{"/nowhere", "/data/../../etc/passwd"} {
		if status, _ := get(t, url+path); status != 404 {
			t.Errorf("%s: %d, want 404", path, status)
		}
	}
}

func TestH2CServer(t *testing.T) {
	t.Parallel()
	c := run(t, spec{args: []string{"h2c-server", "--port", "0"}})
	url := "http://" + c.listening(1)[0]
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	if response.StatusCode != 200 || string(body) != "ok" || response.Proto != "HTTP/2.0" || response.Header.Get("Content-Type") != "text/plain" {
		t.Errorf("answered %s %q over %s", response.Status, body, response.Proto)
	}
	if status, _, err := tryGet(t, url); err == nil {
		t.Errorf("answered HTTP/1.1 with %d", status)
	}
	c.expectLogs("Serving h2c on port 0.")
}

func TestServeHostname(t *testing.T) {
	t.Parallel()
	t.Run("HTTP", func(t *testing.T) {
		t.Parallel()
		c := run(t, spec{args: []string{"serve-hostname", "--close"}})
		c.listening(1)
		if status, body := get(t, "http://"+c.address(9376)); status != 200 || body != "web-0" {
			t.Errorf("answered %d %q", status, body)
		}
		c.expectLogs("Serving on port 9376.", "HTTP request from 127.")
	})
	t.Run("TCP and UDP", func(t *testing.T) {
		t.Parallel()
		c := run(t, spec{args: []string{"serve-hostname", "--http=false", "--tcp", "--udp"}, env: []string{"HOSTNAME=other"}})
		c.listening(1)
		conn, err := net.Dial("tcp", c.address(9376))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if got, err := io.ReadAll(conn); err != nil || string(got) != "other" {
			t.Errorf("over TCP: %q, error %v", got, err)
		}
		c.waitLogs("Serving on port")
		if got := askUDP(t, c.address(9376), "?"); got != "other" {
			t.Errorf("over UDP: %q", got)
		}
		c.signals <- syscall.SIGTERM
		c.waitLogs("Awaiting pod deletion.")
		c.kill()
		c.expectExit(137)
	})
	c := run(t, spec{args: []string{"serve-hostname", "--tcp"}})
	c.expectExit(1)
	c.expectLogs("add --http=false")
}

func askUDP(t *testing.T, address, question string) string {
	t.Helper()
	conn, err := net.Dial("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, question); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 1024)
	n, err := conn.Read(answer)
	if err != nil {
		t.Fatalf("%s: %v", question, err)
	}
	return string(answer[:n])
}

func TestPorter(t *testing.T) {
	t.Parallel()
	c := run(t, spec{args: []string{"porter", "--json-response"}, env: []string{
		"SERVE_PORT_8001=one", "SERVE_TCP_PORT_8002=two=2", "SERVE_TLS_PORT_8003=three", "SERVE_UDP_PORT_8004=four",
		"SERVE_PORT_http=no", "SERVE_SCTP_PORT_8005=no", "OTHER=x",
	}})
	c.listening(3)
	for port, want := range map[int]string{8001: "one", 8002: "two=2"} {
		if status, body := get(t, "http://"+c.address(port)); status != 200 || body != `{"Method":"GET","Body":"`+want+`"}` {
			t.Errorf("port %d: %d %q", port, status, body)
		}
	}
	conn, err := tls.Dial("tcp", c.address(8003), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	c.waitLogs("Started UDP server on port 8004", `server on port "http" failed: `, `server on port "8005" failed: skewrig has no SCTP`)
	if got := askUDP(t, c.address(8004), "?"); got != "four" {
		t.Errorf("over UDP: %q", got)
	}
	c.signals <- syscall.SIGTERM
	c.expectExit(2)
}

func TestTCPReset(t *testing.T) {
	t.Parallel()
	c := run(t, spec{args: []string{"tcp-reset"}})
	c.listening(1)
	conn, err := net.Dial("tcp", c.address(8080))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "hello"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("error %v, want a reset", err)
	}
	c.signals <- syscall.SIGTERM
	c.expectExit(0)
	for _, connection := range record.All[record.Connection](c.history.Events()) {
		if connection.Fault != behavior.Reset {
			t.Errorf("recorded %+v", connection)
		}
	}
}
