package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/podsapi/server"
)

// asUser makes this test binary play skewrig.
const asUser = "SKEWRIG_TEST_AS_USER"

func TestMain(m *testing.M) {
	if os.Getenv(grow) != "" {
		growForEver()
	}
	if os.Getenv(asUser) != "" {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// otherUID is the ID of a user who owns no files, on any machine.
const otherUID = 65534

// runAsOtherUser runs a command line as another user. It skips the test where no process of another
// user can be started.
func runAsOtherUser(t *testing.T, args ...string) (code int, output string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can start a process of another user")
	}
	// The directory of the binary is closed to others, this way to it is not.
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", args...)
	cmd.Dir, cmd.Env = "/", []string{asUser + "=1"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherUID, Gid: otherUID}}
	text, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Skipf("no process of another user can be started here, though this one is root's: %v", err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

// TestAnotherUserIsDenied: by the directory, by the socket's mode, and where both are
// open, by the server; and not where nothing is in the way.
func TestAnotherUserIsDenied(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		dir, socket os.FileMode
		open        bool
		want        []string
		refused     bool // by the server
	}{
		"a closed directory": {0o700, 0o666, false, []string{"65534", " may not connect to SOCKET, since DIR has the mode 0700 and belongs to root (0): run this as root\n"}, false},
		"a closed socket":    {0o755, 0o600, false, []string{"since SOCKET has the mode 0600 and belongs to root (0): run this as root\n"}, false},
		"a group's socket":   {0o755, 0o660, false, []string{"since SOCKET has the mode 0660", "run this as root, or as a member of the group root\n"}, false},
		"a closed server":    {0o755, 0o666, false, []string{"the server at SOCKET ended the connection of", "65534", "it doesn't take this user: run this as root\n"}, true},
		"all open":           {0o755, 0o666, true, []string{"uid-web"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := podsServer(t, server.Config{Open: tc.open})
			dir := filepath.Dir(s.Socket())
			if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(s.Socket(), tc.socket), os.Chmod(dir, tc.dir)); err != nil {
				t.Fatal(err)
			}
			code, output := runAsOtherUser(t, "podsapi", "list", "--socket", s.Socket())
			for _, want := range tc.want {
				want = strings.NewReplacer("SOCKET", s.Socket(), "DIR", dir).Replace(want)
				if !strings.Contains(output, want) {
					t.Errorf("it doesn't say %q:\n%s", want, output)
				}
			}
			if listed := strings.Contains(output, "uid-web"); listed != (code == 0) || listed != (tc.open) {
				t.Errorf("exit code %d, pods listed: %t", code, listed)
			}
			if refused := s.Refused() > 0; refused != tc.refused {
				t.Errorf("the server refused %d connections", s.Refused())
			}
		})
	}
}

func TestAnotherUserChecksNothing(t *testing.T) {
	t.Parallel()
	socket := podsSocket(t)
	if code, output := runAsOtherUser(t, "podsapi", "check", "--socket", socket); code != exitNotJudged || !strings.Contains(output, "may not access "+socket) {
		t.Errorf("exit code %d:\n%s", code, output)
	}
}

// TestServeReportsAnotherUser checks that serve reports a connection that the server refused, and does
// not count it as a client.
func TestServeReportsAnotherUser(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	file, socket := filepath.Join(dir, "life.yaml"), filepath.Join(dir, "node", "pods.sock")
	golden.Write(t, file, life)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	log := &until{what: "the script has ended", then: func() {
		defer interrupt()
		if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(socket), 0o755), os.Chmod(socket, 0o666)); err != nil {
			t.Error(err)
		}
		runAsOtherUser(t, "podsapi", "list", "--socket", socket)
	}}
	var out bytes.Buffer
	code := run(ctx, []string{"podsapi", "serve", "--scenario", file, "--socket", socket, "--wait"}, &out, log)
	if code != 0 || !strings.Contains(out.String(), "In run 2 the server refused") {
		t.Errorf("exit code %d:\n%s", code, &out)
	}
}
