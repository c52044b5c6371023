package images_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	health "google.golang.org/grpc/health/grpc_health_v1"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/fakeservers/container/images"
	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

const (
	agnhost = "registry.k8s.io/e2e-test-images/agnhost:2.66.1"
	busybox = "busybox:1.37"
	mapped  = "registry.test/team/health:v1"
	probed  = "registry.test/probed:v1"
)

// TestRealContainers runs the players in containers of containerd and runc, as a kubelet does.
func TestRealContainers(t *testing.T) {
	changing := listener(5000, behavior.GRPCTLS)
	changing.Phases = behavior.Timeline{
		{For: behavior.Duration(3 * time.Second)},
		{GRPC: &behavior.Health{Services: map[string]behavior.ServingStatus{"": behavior.NotServing}}},
	}
	n := newNode(t, images.Set{
		Library: container.Library{Images: []record.Image{
			{Image: "registry.test/team/*", Listen: []behavior.Listener{changing}},
			{Image: probed, Listen: []behavior.Listener{listener(5000, behavior.GRPC)}, HealthProbe: release.HealthProbe},
		}},
		Images: []images.Image{
			{Reference: pauseImage}, {Reference: agnhost}, {Reference: busybox}, {Reference: probed},
			{Reference: mapped, Commands: []string{"/opt/app/serve"}},
		},
	})
	for name, test := range map[string]func(*testing.T, *node){
		"a behavior over time over TLS": aBehaviorOverTime, "grpc-health-checking": grpcHealthChecking, "netexec": netexec,
		"a namespace that is shared": aSharedNamespace, "a script": aScript, "a released probe": aReleasedProbe,
		"liveness": liveness, "a shell with a trap": aTrap, "what commands return": whatCommandsReturn, "another user": anotherUser,
	} {
		t.Run(name, func(t *testing.T) {
			own := *n
			own.t = t
			test(t, &own)
		})
	}
	var latest time.Duration
	for e, c := range record.All[record.Connection](n.history.Events()) {
		latest = max(latest, e.At.Sub(c.Closed))
	}
	t.Logf("the latest of the connections was recorded %s after its end", latest)
}

// ask asks for the health of a server over TLS.
func ask(t *testing.T, addr string) string {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{InsecureSkipVerify: true}))) //nolint:gosec // as a probe does
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	answer, err := health.NewHealthClient(conn).Check(ctx, &health.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return answer.Status.String()
}

func aBehaviorOverTime(t *testing.T, n *node) {
	config := of(mapped, "--whatever")
	config.Command = []string{"/opt/app/serve"}
	p := n.run("changing", config)
	if got := p.listens(5000); got.Address != p.addr(5000) || got.Protocol != behavior.GRPCTLS || got.Certificate != "self-signed" {
		t.Errorf("it listens as %+v, and the pod is %s", got, p.ip)
	}
	if got := ask(t, p.addr(5000)); got != "SERVING" {
		t.Errorf("at first it is %s", got)
	}
	n.until("the second phase begins", func() bool { return ask(t, p.addr(5000)) == "NOT_SERVING" })
	c := p.connection("the connection is recorded", func(c record.Connection) bool { return len(c.Requests) > 0 })
	if c.Local != p.addr(5000) || c.First != record.FirstTLS || c.ClientHello == nil || c.Handshake == nil || c.Requests[0].Path != "/grpc.health.v1.Health/Check" {
		t.Errorf("it is %+v", c)
	}
	p.stop(patience)
	if code := p.exited(); code != 0 {
		t.Errorf("it exits with %d: %s", code, p.log())
	}
}

func grpcHealthChecking(t *testing.T, n *node) {
	p := n.run("health", of(agnhost, "grpc-health-checking", "--port", "6000"))
	p.listens(6000)
	if code, out := p.exec("grpc_health_probe", "-addr=localhost:6000"); code != 0 || !strings.Contains(out, "SERVING") {
		t.Errorf("its health is %d: %s", code, out)
	}
	if status, _ := get(t, "http://"+p.addr(8080)+"/make-not-serving"); status != http.StatusOK {
		t.Errorf("/make-not-serving answers %d", status)
	}
	if code, out := p.exec("/bin/grpc_health_probe", "-addr=:6000"); code != 4 {
		t.Errorf("then its health is %d: %s", code, out)
	}
	p.stop(patience)
	if code := p.exited(); code != 2 {
		t.Errorf("a Go program that is process 1 exits with %d after SIGTERM, want 2", code)
	}
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}).Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Error(err)
	}
	return answer.StatusCode, string(text)
}

func netexec(t *testing.T, n *node) {
	p := n.run("netexec", of(agnhost, "netexec"))
	p.listens(8080)
	if _, body := get(t, "http://"+p.addr(8080)+"/hostname"); body != "netexec-host" {
		t.Errorf("its host name is %q", body)
	}
	if _, body := get(t, "http://"+p.addr(8080)+"/shell?cmd=echo+from+the+shell+>/tmp/said"); body != "{}" {
		t.Errorf("the shell answers %s", body)
	}
	if code, out := p.exec("cat", "/tmp/said"); code != 0 || out != "from the shell\n" {
		t.Errorf("what the server wrote is %q for others (%d)", out, code)
	}
	if code, out := p.exec("curl", "-s", "http://localhost:8080/hostname"); code != 0 || out != "netexec-host" {
		t.Errorf("over the loopback interface: %d, %q", code, out)
	}
	get(t, "http://"+p.addr(8080)+"/exit?code=7")
	if code := p.exited(); code != 7 {
		t.Errorf("it exits with %d", code)
	}
	p.connection("the request that ended it is recorded", func(c record.Connection) bool {
		return len(c.Requests) == 1 && strings.HasPrefix(c.Requests[0].Path, "/exit") && c.CloseReason == record.Shutdown
	})
}

func liveness(t *testing.T, n *node) {
	p := n.run("liveness", of(agnhost, "liveness"))
	p.listens(8080)
	if status, body := get(t, "http://"+p.addr(8080)+"/healthz"); status != http.StatusOK || body != "ok" {
		t.Errorf("it answers %d: %s", status, body)
	}
	n.until("it is dead", func() bool {
		status, _ := get(t, "http://"+p.addr(8080)+"/healthz")
		return status == http.StatusInternalServerError
	})
	conn, err := net.Dial("tcp", p.addr(8080))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /half HTTP/1.1\r\nHost: half\r\n"); err != nil {
		t.Fatal(err)
	}
	// The kernel has taken it; when the server has, the next request is answered after it.
	get(t, "http://"+p.addr(8080)+"/healthz")
	p.stop(0)
	if code := p.exited(); code != 137 {
		t.Errorf("a container that is killed exits with %d", code)
	}
	p.connection("a connection that was open is recorded as closed by the kill", func(c record.Connection) bool {
		return c.Remote == conn.LocalAddr().String() && c.CloseReason == record.Shutdown && !c.Closed.IsZero()
	})
}

func aTrap(t *testing.T, n *node) {
	config := of(busybox, "-c", `trap 'echo bye >/tmp/said; echo said bye; exit 3' TERM; touch /tmp/ready; while true; do sleep 1 & wait; done`)
	config.Command = []string{"/bin/sh"}
	p := n.run("trap", config)
	n.until("the trap is set", func() bool {
		code, _ := p.exec("sh", "-c", "test -f /tmp/ready")
		return code == 0
	})
	if code, _ := p.exec("sh", "-c", "kill -0 1 && kill -USR1 1"); code != 0 {
		t.Errorf("kill exits with %d", code)
	}
	if code, out := p.exec("sh", "-c", "cat /tmp/said; kill 4711"); code != 1 || !strings.Contains(out, "no such process") {
		t.Errorf("it was ended by a signal that it has no trap for, or there is a process 4711: %d: %s", code, out)
	}
	if code, _ := p.exec("kill", "1"); code != 0 {
		t.Errorf("kill exits with %d", code)
	}
	if code := p.exited(); code != 3 || !strings.Contains(p.log(), "stdout F said bye") {
		t.Errorf("it exits with %d: %s", code, p.log())
	}
}

func whatCommandsReturn(t *testing.T, n *node) {
	p := n.run("commands", of(busybox, "sleep", "1000"))
	for _, c := range []struct {
		command string
		code    int32
		out     string
	}{
		{"exit 5", 5, ""},
		{"cat /nowhere", 1, "no such file"},
		{"echo $HOSTNAME; hostname; echo $0 $1", 0, "commands-host\ncommands-host\nsh\n"},
		{"mkdir -p /tmp/a/b && echo x >/tmp/a/b/c && ls /tmp/a/b && rm -r /tmp/a && ls /tmp", 0, "c\n"},
		{"kill $$; sleep 100", 143, ""},
		{"trap 'exit 9' INT; kill -s INT $$; sleep 1", 9, ""},
		{"cat /proc/1/comm", 0, "sleep\n"},
	} {
		if code, out := p.exec("sh", "-c", c.command); code != c.code || !strings.Contains(out, c.out) || c.out == "" && out != "" {
			t.Errorf("%s: exit code %d, %q, want %d, %q", c.command, code, out, c.code, c.out)
		}
	}
	answer, err := n.runtime.ExecSync(t.Context(), &cri.ExecSyncRequest{ContainerId: p.id, Cmd: []string{"no-such-command"}})
	if err == nil {
		t.Errorf("an unknown command gives %v", answer)
	}
	began := time.Now()
	const times = 10
	for range times {
		p.exec("true")
	}
	t.Logf("an exec takes %s", time.Since(began)/times)
	p.stop(time.Second)
	if code := p.exited(); code != 137 {
		t.Errorf("process 1 has no handler for SIGTERM, and exits with %d", code)
	}
}

// aSharedNamespace: the first process of the namespace is the sandbox's.
func aSharedNamespace(t *testing.T, n *node) {
	config := of(mapped)
	config.Command = []string{"sh"}
	config.Args = []string{"-c", "nothing of this"}
	config.Linux = &cri.LinuxContainerConfig{SecurityContext: &cri.LinuxContainerSecurityContext{
		NamespaceOptions: &cri.NamespaceOption{Pid: cri.NamespaceMode_POD},
	}}
	p := n.run("shared", config)
	p.listens(5000) // as the main process of a mapped image does, whatever its command
	if code, out := p.exec("sh", "-c", "cat /proc/1/comm; exit 4"); code != 4 || out != "pause\n" {
		t.Errorf("beside it, a shell exits with %d: %s", code, out)
	}
	p.stop(patience)
	if code := p.exited(); code != 0 {
		t.Errorf("it exits with %d: %s", code, p.log())
	}
}

// aScript is one of a volume, which the kernel has the shell run.
func aScript(t *testing.T, n *node) {
	golden.Write(t, n.path("script"), "#!/bin/sh\necho \"$1\" >said; pwd; cat /tmp/said\nexit 5\n")
	if err := os.Chmod(n.path("script"), 0o755); err != nil {
		t.Fatal(err)
	}
	config := of(busybox, "from the script")
	config.Command, config.WorkingDir = []string{"/scripts/run"}, "/tmp"
	config.Mounts = []*cri.Mount{{ContainerPath: "/scripts/run", HostPath: n.path("script"), Readonly: true}}
	p := n.run("script", config)
	if code := p.exited(); code != 5 || !strings.Contains(p.log(), "F /tmp\n") || !strings.Contains(p.log(), "F from the script\n") {
		t.Errorf("it exits with %d: %s", code, p.log())
	}
}

// aReleasedProbe runs grpc_health_probe itself.
func aReleasedProbe(t *testing.T, n *node) {
	p := n.run("probe", of(probed))
	p.listens(5000)
	if code, out := p.exec("grpc_health_probe", "-addr=:5000"); code != 0 || !strings.Contains(out, "SERVING") {
		t.Errorf("it exits with %d: %s", code, out)
	}
	n.until("the process is recorded", func() bool {
		for e, ran := range record.All[record.ProcessRan](n.history.Events()) {
			if e.Subject == p.subject() && ran.Program == "grpc-health-probe@"+string(release.HealthProbe) && ran.ExitCode == 0 {
				return true
			}
		}
		return false
	})
}

func anotherUser(t *testing.T, n *node) {
	config := of(agnhost, "netexec", "--http-port", "8085", "--udp-port", "-1")
	config.Linux = &cri.LinuxContainerConfig{SecurityContext: &cri.LinuxContainerSecurityContext{
		RunAsUser: &cri.Int64Value{Value: 1000}, ReadonlyRootfs: true,
	}}
	p := n.run("user", config)
	p.listens(8085)
	if code, out := p.exec("sh", "-c", "echo x >/tmp/x"); code == 0 || !strings.Contains(out, "read-only file system") {
		t.Errorf("on a file system that is read-only: %d: %s", code, out)
	}
}
