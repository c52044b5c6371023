package agnhost_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/fakeservers/agnhost"
	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/fakeservers/shell"
	"github.com/skewrig/skewrig/harness/await"
	"github.com/skewrig/skewrig/record"
)

// script is an executable of this machine that leaves a file when it is run.
func script(t *testing.T, body string) (path, ran string) {
	t.Helper()
	dir := t.TempDir()
	path, ran = filepath.Join(dir, "program"), filepath.Join(dir, "ran")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n: > "+ran+"\n"+body+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path, ran
}

// withReleased runs a container whose grpc_health_probe is an executable of this
// machine, and that has a file on a volume.
func withReleased(t *testing.T, path string) *container {
	t.Helper()
	volume := t.TempDir()
	if err := os.WriteFile(filepath.Join(volume, "ca.crt"), []byte("of the container\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fake := shell.WithHealthProbe(agnhost.Listeners(behavior.Listener{Port: 5000, Protocol: behavior.GRPC}),
		shell.HealthProbe{Path: path, Program: "grpc-health-probe@v0.90.1"})
	c := runImage(t, &fake, spec{
		env:    []string{"SSL_CERT_FILE=/etc/hostname", "GRPC_TRACE=all"},
		mounts: []image.Mount{{ContainerPath: "/tls", HostPath: volume, ReadOnly: true}},
	})
	c.listening(1)
	return c
}

// TestAReleasedProbeGetsWhatIsTheContainers: the pod's address, copies of the
// container's files, and nothing of this machine's.
func TestAReleasedProbeGetsWhatIsTheContainers(t *testing.T) {
	t.Parallel()
	path, _ := script(t, `for arg; do case $arg in
-tls-ca-cert=*) cat "${arg#*=}" || echo nothing;;
*) echo "$arg";;
esac; done; env | grep -v '^PWD=\|^_=\|^SHLVL='; exit 4`)
	c := withReleased(t, path)
	ip := c.process.IP.String()
	for _, tc := range []struct{ args, stdout string }{
		{"grpc_health_probe -addr=:5000 -tls -tls-ca-cert=/tls/ca.crt", "-addr=passthrough:///" + ip + ":5000\n-tls=true\nof the container\n"},
		{"/bin/grpc_health_probe --addr localhost:5000 -v", "-addr=passthrough:///" + ip + ":5000\n-v=true\n"},
		{"grpc_health_probe -addr=127.0.0.1:5000 -tls-ca-cert=/etc/hostname", "-addr=passthrough:///" + ip + ":5000\nnothing\n"},
		{"grpc_health_probe -service=x", "-service=x\n"},
	} {
		code, stdout, stderr := c.exec(strings.Fields(tc.args)...)
		if code != 4 || stdout != tc.stdout {
			t.Errorf("%s: %d %q %q, want 4 %q", tc.args, code, stdout, stderr, tc.stdout)
		}
	}
	if code, _, stderr := c.exec("sh", "-c", "grpc_health_probe -addr=:5000 || exit 7"); code != 7 {
		t.Errorf("in a script: %d %q", code, stderr)
	}
	ran := record.All[record.ProcessRan](c.history.Events())
	n := 0
	for _, p := range ran {
		if n++; p.Program != "grpc-health-probe@v0.90.1" || p.ExitCode != 4 || p.DurationSeconds <= 0 {
			t.Errorf("recorded %+v", p)
		}
	}
	if n != 5 {
		t.Errorf("%d processes are recorded, 5 were started", n)
	}
}

// TestNothingElseIsExecuted: neither the program with arguments that reach the
// machine, nor any other program, whatever it is called.
func TestNothingElseIsExecuted(t *testing.T) {
	t.Parallel()
	path, ran := script(t, "")
	c := withReleased(t, path)
	for _, args := range []string{
		"grpc_health_probe -addr=unix:///var/run/some.sock",
		"grpc_health_probe -addr=unix-abstract:5000",
		"grpc_health_probe -addr=5000",
		"grpc_health_probe -addr=dns:///x:5000",
		"grpc_health_probe -addr=:5000 -spiffe",
		"grpc_health_probe -addr=:5000 -alts",
		path + " -addr=:5000",
		"/bin/sh " + path,
		"sh -c " + path,
		"uname",
	} {
		if code, stdout, stderr := c.exec(strings.Fields(args)...); code == 0 || stdout != "" {
			t.Errorf("%s: %d %q %q", args, code, stdout, stderr)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the program was run")
	}
}

// TestAReleasedProbeThatHangsIsKilled when the time of the command is over.
func TestAReleasedProbeThatHangsIsKilled(t *testing.T) {
	t.Parallel()
	path, ran := script(t, "echo $$; exec sleep 600")
	c := withReleased(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- c.image.Exec(ctx, c.process, []string{"grpc_health_probe", "-addr=:5000"}, image.Streams{Stdout: &out, Stderr: &out})
	}()
	if !await.Until(t.Context(), patience, func() bool { _, err := os.Stat(ran); return err == nil }) {
		t.Error("the program was not run")
	}
	cancel()
	select {
	case code := <-ended:
		if code != 137 {
			t.Errorf("the command ended with %d", code)
		}
	case <-time.After(patience):
		t.Fatal("the command did not end")
	}
	if pid := strings.TrimSpace(out.String()); pid != "" {
		if _, err := os.Stat(fmt.Sprintf("/proc/%s", pid)); err == nil {
			t.Errorf("process %s is still there", pid)
		}
	}
}
