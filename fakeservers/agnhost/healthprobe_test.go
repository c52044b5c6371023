package agnhost_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/fakeservers/agnhost"
	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/image"
)

// TestGRPCHealthProbe: the exit codes are those that grpc_health_probe
// documents, and each kind of server has its own.
func TestGRPCHealthProbe(t *testing.T) {
	t.Parallel()
	volume := t.TempDir()
	if err := os.WriteFile(filepath.Join(volume, "ca.crt"), []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	unhealthy := behavior.Timeline{{GRPC: &behavior.Health{Services: map[string]behavior.ServingStatus{"": behavior.NotServing}}}}
	unimplemented := behavior.Timeline{{GRPC: &behavior.Health{Unimplemented: true}}}
	fake := agnhost.Listeners(
		behavior.Listener{Port: 5000, Protocol: behavior.GRPC},
		behavior.Listener{Port: 5001, Protocol: behavior.GRPCTLS},
		behavior.Listener{Port: 5002, Protocol: behavior.GRPC, Phases: unhealthy},
		behavior.Listener{Port: 5003, Protocol: behavior.GRPC, Phases: unimplemented},
		behavior.Listener{Port: 5004, Protocol: behavior.GRPC, Phases: behavior.Timeline{{Fault: behavior.StallHandshake}}},
	)
	c := runImage(t, &fake, spec{mounts: []image.Mount{{ContainerPath: "/tls", HostPath: volume, ReadOnly: true}}})
	c.listening(5)
	for _, tc := range []struct {
		args   string
		code   int
		stdout string
		stderr string
	}{
		{args: "-addr=:5000", stdout: "status: SERVING\n"},
		{args: "--addr localhost:5000 -v", stdout: "status: SERVING\n"},
		{args: "-addr=127.0.0.1:5001 -tls -tls-no-verify", stdout: "status: SERVING\n"},
		{args: "-addr=:5001 -tls -connect-timeout 50ms", code: 2, stderr: `error: failed to connect service ":5001" within 50ms`},
		{args: "-addr=:5001 -connect-timeout 50ms", code: 2, stderr: "error: failed to connect"},
		{args: "-addr=:5000 -tls -tls-no-verify -connect-timeout 50ms", code: 2, stderr: "error: failed to connect"},
		{args: "-addr=:5999 -connect-timeout 50ms", code: 2, stderr: "error: failed to connect"},
		{args: "-addr=:5004 -connect-timeout 50ms", code: 2, stderr: "error: failed to connect"},
		{args: "-addr=:5000 -service=other", code: 3, stderr: "error: health rpc failed: "},
		{args: "-addr=:5003", code: 3, stderr: "error: this server does not implement the grpc health protocol"},
		{args: "-addr=:5002", code: 4, stderr: `service unhealthy (responded with "NOT_SERVING")`},
		{args: "", code: 1, stderr: "error: -addr not specified"},
		{args: "-addr=5000", code: 2, stderr: "error: address 5000: missing port in address"},
		{args: "-addr=unix:///tmp/socket", code: 2, stderr: "no host and port"},
		{args: "-addr=unix-abstract:5000", code: 2, stderr: "no host and port"},
		{args: "-addr=:5000 -tls-no-verify", code: 1, stderr: "without specifying -tls"},
		{args: "-addr=:5000 -tls -tls-no-verify -tls-server-name=x", code: 1, stderr: "can't be combined with"},
		{args: "-addr=:5000 -tls -tls-client-cert=x", code: 1, stderr: "go together"},
		{args: "-addr=:5000 -rpc-timeout=0s", code: 1, stderr: "greater than zero"},
		{args: "-addr=:5000 -spiffe", code: 1, stderr: "flag provided but not defined: -spiffe"},
		{args: "-addr=:5001 -tls -tls-ca-cert=/tls/ca.crt", code: 1, stderr: "no certificate in /tls/ca.crt"},
		{args: "-addr=:5001 -tls -tls-ca-cert=/tls/none", code: 1, stderr: "no such file"},
	} {
		code, stdout, stderr := c.exec(append([]string{"/bin/grpc_health_probe"}, strings.Fields(tc.args)...)...)
		if code != tc.code || stdout != tc.stdout || !strings.Contains(stderr, tc.stderr) {
			t.Errorf("grpc_health_probe %s: %d %q %q, want %d %q %q", tc.args, code, stdout, stderr, tc.code, tc.stdout, tc.stderr)
		}
	}
}
