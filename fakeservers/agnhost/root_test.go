package agnhost_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skewrig/skewrig/fakeservers/image"
)

func TestEntrypointTester(t *testing.T) {
	t.Parallel()
	c := run(t, spec{command: []string{"/agnhost-2"}, args: []string{"entrypoint-tester", "a", "b c"}})
	c.expectExit(0)
	c.expectLogs("[/agnhost-2 entrypoint-tester a b c]\n")
}

func TestLogsGenerator(t *testing.T) {
	t.Parallel()
	c := run(t, spec{args: []string{"logs-generator", "-t", "5", "--run-duration=10ms"}})
	c.expectExit(0)
	c.expectLogs("] 0 ", "] 4 ", "/api/v1/namespaces/")
	if got := strings.Count(c.logs.String(), "\n"); got != 5 {
		t.Errorf("%d lines, want 5", got)
	}
	c = run(t, spec{args: []string{"logs-generator", "-t", "5"}})
	c.expectExit(255)
	c.expectLogs("Invalid duration: 0s")
	c = run(t, spec{args: []string{"logs-generator", "-t", "5", "-d", "1h"}})
	c.signals <- syscall.SIGTERM
	c.expectExit(2)
}

func TestMounttest(t *testing.T) {
	t.Parallel()
	volume := t.TempDir()
	mounts := []image.Mount{{ContainerPath: "/data", HostPath: volume}}
	c := run(t, spec{mounts: mounts, args: []string{
		"mounttest", "--new_file_0644=/data/new", "--file_mode=/data/new", "--file_perm=/data", "--file_content_in_loop=/data/new",
	}})
	c.expectExit(0)
	c.expectLogs(
		"content of file \"/data/new\": mount-tester new file\n",
		"mode of file \"/data/new\": -rw-r--r--\n",
		"perms of file \"/data\": -rwx",
	)
	c = run(t, spec{args: []string{"mounttest", "--file_content=/nowhere", "--fs_type=/", "--file-owner=/"}})
	c.expectExit(1)
	c.expectLogs("/nowhere: file does not exist", "skewrig doesn't implement --fs_type", "skewrig doesn't implement --file_owner")
}

func TestCommandLinesThatAreWrong(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args []string
		code int
		logs []string
	}{
		"unknown subcommand":  {[]string{"dance"}, 1, []string{`Error: unknown command "dance" for "app"`}},
		"unknown flag":        {[]string{"liveness", "--fast"}, 1, []string{"Error: unknown flag: --fast"}},
		"a value of no type":  {[]string{"h2c-server", "--port=http"}, 1, []string{`invalid argument "http" for "--port" flag`}},
		"too many arguments":  {[]string{"pause", "now"}, 1, []string{"Error: accepts at most 0 arg(s), received 1"}},
		"a port there isn't":  {[]string{"h2c-server", "--port=70000"}, 1, []string{"port: 70000 is not a TCP port"}},
		"not played":          {[]string{"guestbook", "--backend-port=1"}, 1, []string{"Error: skewrig doesn't implement agnhost's guestbook; it implements entrypoint-tester, "}},
		"no subcommand":       {[]string{}, 0, []string{"Usage:", "grpc-health-checking"}},
		"help":                {[]string{"netexec", "--help"}, 0, []string{"--delay-shutdown"}},
		"version":             {[]string{"--version"}, 0, []string{"app version skewrig"}},
		"flags for the log":   {[]string{"entrypoint-tester", "-v=4", "--vmodule=a=1"}, 0, []string{"[/agnhost entrypoint-tester -v=4"}},
		"flags under a score": {[]string{"mounttest", "--retry_time=1", "--retry-time=2"}, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := run(t, spec{args: tc.args})
			c.expectExit(tc.code)
			c.expectLogs(tc.logs...)
		})
	}
}

func TestAPortThatIsTakenEndsTheProgram(t *testing.T) {
	t.Parallel()
	c := run(t, spec{args: []string{"liveness"}})
	c.listening(1)
	again := *c.image
	second := &image.Process{
		Args: c.process.Args, IP: c.process.IP, Container: "default/web-0/second", Started: time.Now(),
		Streams: image.Streams{Stdout: c.logs, Stderr: c.logs}, Recorder: c.history,
	}
	if code := again.Run(t.Context(), second); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	c.expectLogs("listening on " + c.address(8080) + ": the port is taken: give the containers of a pod different ports")
}

func TestEtcHosts(t *testing.T) {
	t.Parallel()
	hosts := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(hosts, []byte("127.0.0.1\tlocalhost\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := run(t, spec{args: []string{"etc-hosts"}, mounts: []image.Mount{{ContainerPath: "/etc/hosts", HostPath: hosts}}})
	c.expectExit(0)
	c.expectLogs("127.0.0.1\tlocalhost\n")

	if err := os.WriteFile(hosts, []byte("# web-0\n127.0.0.1\tlocalhost\n127.64.0.2\tweb-0.pods.example\tweb-0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, said := c.exec("hostname", "-f"); code != 0 || out != "web-0.pods.example\n" {
		t.Errorf("hostname -f: %d, %q, %q", code, out, said)
	}
	if code, _, said := c.exec("hostname", "-i"); code != 1 || !strings.Contains(said, "not -i") {
		t.Errorf("hostname -i: %d, %q", code, said)
	}
	c = run(t, spec{args: []string{"etc-hosts"}})
	c.expectExit(1)
}

func TestNginxRunsAShellIfThatIsTheCommand(t *testing.T) {
	t.Parallel()
	c := run(t, spec{image: "registry.k8s.io/e2e-test-images/nginx:1.14-4", command: []string{"/bin/sh", "-c", "exit 3"}})
	c.expectExit(3)
}
