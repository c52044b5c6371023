package agnhost_test

import (
	"bytes"
	"strings"
	"syscall"
	"testing"

	"github.com/skewrig/skewrig/fakeservers/agnhost"
	"github.com/skewrig/skewrig/fakeservers/image"
)

// runShell runs a script in the container of a process.
func runShell(t *testing.T, p *image.Process, script string) (code int, output string) {
	t.Helper()
	catalog, err := agnhost.NewCatalog(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	found, err := catalog.Find(agnhostImage)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	code = found.Exec(t.Context(), p, []string{"sh", "-c", script}, image.Streams{Stdout: &out, Stderr: &out})
	return code, out.String()
}

func TestKill(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]struct {
		code int
		sent syscall.Signal
		out  string
	}{
		"kill 1":            {sent: syscall.SIGTERM},
		"kill -s INT 1":     {sent: syscall.SIGINT},
		"kill -SIGHUP 1":    {sent: syscall.SIGHUP},
		"kill -10 -- 1":     {sent: syscall.SIGUSR1},
		"/bin/kill -0 1":    {sent: 0},
		"kill 2 1":          {code: 1, sent: syscall.SIGTERM, out: "kill: (2) - no such process\n"},
		"kill -s WHAT 1":    {code: 1, sent: -1, out: "kill: there is no signal WHAT\n"},
		"kill":              {code: 1, sent: -1, out: "kill: it takes a process\n"},
		"kill %1":           {code: 1, sent: -1, out: "kill: skewrig understands the number of a process, not %1\n"},
		"(kill 1); kill -9": {code: 1, sent: syscall.SIGTERM, out: "kill: it takes a process\n"},
	} {
		sent := syscall.Signal(-1)
		p := &image.Process{Kill: func(pid int, signal syscall.Signal) error {
			if pid != 1 {
				return syscall.ESRCH
			}
			sent = signal
			return nil
		}}
		code, out := runShell(t, p, script)
		if code != want.code || sent != want.sent || out != want.out {
			t.Errorf("%s: exit code %d, signal %d, %q, want %+v", script, code, sent, out, want)
		}
	}
}

// TestARelativePathLeadsFromTheWorkingDirectory, in a shell and in a program.
func TestARelativePathLeadsFromTheWorkingDirectory(t *testing.T) {
	t.Parallel()
	p := &image.Process{Dir: "/opt/app"}
	if code, out := runShell(t, p, "echo x >file; cat /opt/app/file; pwd; cd ..; cat app/file"); code != 0 || out != "x\n/opt/app\nx\n" {
		t.Errorf("exit code %d, %q", code, out)
	}
	if data, err := p.ReadFile("../app/file"); err != nil || !strings.HasPrefix(string(data), "x") {
		t.Errorf("a program reads %q: %v", data, err)
	}
}
