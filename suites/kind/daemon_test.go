package kind

import (
	"context"
	_ "embed"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skewrig/skewrig/harness/containerd"
	"github.com/skewrig/skewrig/harness/docker"
	"github.com/skewrig/skewrig/harness/process"
)

// withoutResource is a runtime for Docker whose containers don't have CAP_SYS_RESOURCE. Where this process may not have it,
// runc can't give it to any container.
//
//go:embed testdata/runtime.sh
var withoutResource string

// withDocker has Docker answer: the daemon that there is, or one of the test's own, which ends with
// it. Skips if this machine can have none.
func withDocker(t *testing.T) {
	t.Helper()
	if docker.Check(t.Context()) == nil {
		t.Log("Docker answers, and is used")
		return
	}
	var missing []error
	if os.Geteuid() != 0 {
		missing = append(missing, errors.New("it takes root"))
	}
	for _, program := range []string{"docker", "dockerd", "runc"} {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, err)
		}
	}
	if err := errors.Join(missing...); err != nil {
		t.Skipf("no Docker answers, and none can be started:\n%v", err)
	}
	start(t)
}

// start starts a Docker daemon with all that it has in a directory, and no network but those that
// are made. It changes no rule of the machine's firewall.
func start(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	socket := "unix://" + in("docker.sock")
	args := []string{
		"--config-file", in("daemon.json"), "--data-root", in("data"), "--exec-root", in("exec"), "--pidfile", in("pid"),
		"--host", socket, "--bridge", "none", "--iptables=false",
	}
	if !mayHaveResource() {
		args = append(args, "--add-runtime", "without-resource="+in("runtime"), "--default-runtime", "without-resource")
	}
	err := errors.Join(os.WriteFile(in("daemon.json"), []byte("{}"), 0o600), os.WriteFile(in("runtime"), []byte(withoutResource), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DOCKER_HOST", socket)
	path, _ := exec.LookPath("dockerd") // it was there
	daemon, err := process.Start(t.Context(), process.Config{
		Name: "dockerd", Path: path, Args: args, Env: os.Environ(), Dir: dir, Log: in("log"), Ready: docker.Check,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := daemon.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("ending Docker: %v", err)
		}
	})
}

// mayHaveResource reports whether processes may have CAP_SYS_RESOURCE.
func mayHaveResource() bool {
	return containerd.LookUp(os.TempDir()).Capabilities&(1<<unix.CAP_SYS_RESOURCE) != 0
}
