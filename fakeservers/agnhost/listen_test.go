package agnhost_test

import (
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skewrig/skewrig/fakeservers/agnhost"
	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/record"
)

func TestServerImage(t *testing.T) {
	t.Parallel()
	c := run(t, spec{
		image: "skewrig.dev/server",
		args: []string{
			"--listen", `{"port":8080,"protocol":"http1","phases":[{"http":{"status":503,"body":"not yet"}}]}`,
			`--listen={"port":5000,"protocol":"grpc-tls","tls":{"certificate":"expired"}}`,
		},
		env: []string{`SKEWRIG_LISTEN=[{"port":5001,"protocol":"grpc"}]`},
	})
	c.listening(3)
	if status, body := get(t, "http://"+c.address(8080)); status != 503 || body != "not yet" {
		t.Errorf("answered %d %q", status, body)
	}
	for port, secure := range map[int]bool{5000: true, 5001: false} {
		if got, code := check(t, c.address(port), "", secure); got.String() != "SERVING" {
			t.Errorf("port %d: %v, %v", port, got, code)
		}
	}
	c.waitLogs("listening on port 8080: http1", "listening on port 5001: grpc")
	c.signals <- syscall.SIGTERM
	c.expectExit(0)
	c.expectLogs("ending after signal: terminated")
	for event := range record.All[record.Connection](c.history.Events()) {
		if event.Subject != "default/web-0/app" {
			t.Errorf("subject %q", event.Subject)
		}
	}
}

func TestServerImageNamesEveryProblem(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args, env []string
		logs      []string
	}{
		"nothing": {logs: []string{`nothing to listen for: use --listen '{"port":8080,"protocol":"http1"}' or SKEWRIG_LISTEN`}},
		"JSON": {
			args: []string{"--listen", "{", "--listen", `{"port":1,"color":"red"}`, "--listen", "{}{}"},
			env:  []string{"SKEWRIG_LISTEN={}"},
			logs: []string{
				`--listen number 1: reading "{": unexpected EOF`,
				`--listen number 2: reading "{\"port\":1,\"color\":\"red\"}": json: unknown field "color"`,
				`--listen number 3: reading "{}{}": more than one value`,
				`SKEWRIG_LISTEN: reading "{}": json: cannot unmarshal object`,
			},
		},
		"listeners": {
			args: []string{"--listen", `{"port":8080,"protocol":"smtp"}`, "--listen", `{"port":99999,"protocol":"tcp","phases":[{"delay":"-1s"}]}`},
			logs: []string{
				`listener 1: protocol: "smtp" is unknown: use http1`,
				"listener 2: port: 99999 is not a TCP port, 1 to 65535; phases[0].delay: -1s is negative",
			},
		},
		"flags": {args: []string{"--port=1"}, logs: []string{"Error: unknown flag: --port"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := tc.args
			if args == nil {
				args = []string{}
			}
			c := run(t, spec{image: agnhost.ServerImage, args: args, env: tc.env})
			c.expectExit(1)
			c.expectLogs(tc.logs...)
		})
	}
}

func TestListenersPlaysWhateverTheCommandIs(t *testing.T) {
	t.Parallel()
	fake := agnhost.Listeners(behavior.Listener{Port: 8080, Protocol: behavior.HTTP1, Phases: behavior.Timeline{{HTTP: &behavior.HTTP{Status: 500}}}})
	c := runImage(t, &fake, spec{command: []string{"nginx"}, args: []string{"-g", "daemon off;"}})
	c.listening(1)
	c.waitLogs("listening on port 8080")
	if status, _ := get(t, "http://"+c.address(8080)); status != 500 {
		t.Errorf("answered %d", status)
	}
	if code, _, _ := c.exec("true"); code != 0 {
		t.Errorf("true: %d", code)
	}
	c.kill()
	c.expectExit(137)
}

func TestEntriesAreFound(t *testing.T) {
	t.Parallel()
	catalog, err := image.NewCatalog(agnhost.Entries()...)
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{
		"registry.k8s.io/e2e-test-images/agnhost:2.53":     "/agnhost pause",
		"registry.k8s.io/pause:3.10.1":                     "/pause",
		"busybox":                                          "sh",
		"docker.io/library/busybox:1.36":                   "sh",
		"registry.k8s.io/e2e-test-images/busybox:1.37.0-1": "sh",
		"skewrig.dev/server":                               "/server",
	} {
		found, err := catalog.Find(ref)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := strings.Join(append(append([]string{}, found.Entrypoint...), found.Cmd...), " "); got != want || found.SizeBytes == 0 {
			t.Errorf("%s runs %q, %d bytes, want %q", ref, got, found.SizeBytes, want)
		}
	}
}

func TestAnyImage(t *testing.T) {
	t.Parallel()
	listener := behavior.Listener{Port: 8080, Protocol: behavior.HTTP1}
	for name, tc := range map[string]struct {
		command, args []string
		log           string
	}{
		"as it is":                  {log: "listening on port 8080: http1"},
		"with arguments of its own": {args: []string{"-g", "daemon off;"}, log: "listening on port 8080: http1"},
		"with a command of its own": {command: []string{"/usr/sbin/nginx"}, log: "listening on port 8080: http1"},
		"with a shell":              {command: []string{"/bin/sh", "-c"}, args: []string{"echo script; sleep infinity"}, log: "script"},
		"with a command as args":    {args: []string{"echo", "args"}, log: "args"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			any := agnhost.Any(listener)
			c := runImage(t, &any, spec{command: tc.command, args: tc.args})
			c.waitLogs(tc.log)
		})
	}
}

func TestAPrivilegedPortEndsTheProgram(t *testing.T) {
	t.Parallel()
	c := &container{t: t, logs: &logBuffer{}}
	catalog, err := image.NewCatalog(agnhost.Entries()...)
	if err != nil {
		t.Fatal(err)
	}
	found, err := catalog.Find(agnhostImage)
	if err != nil {
		t.Fatal(err)
	}
	p := &image.Process{Args: []string{"/agnhost", "h2c-server"}, IP: podIP(), Streams: image.Streams{Stdout: c.logs, Stderr: c.logs}}
	type outcome struct {
		skip error
		code int
	}
	result := make(chan outcome)
	go func() {
		// The thread gives up the privilege and so must not be used again: it
		// ends with the goroutine, which never unlocks it.
		runtime.LockOSThread()
		if err := dropPrivilege(); err != nil {
			result <- outcome{skip: err}
			return
		}
		result <- outcome{code: found.Run(t.Context(), p)}
	}()
	got := <-result
	if got.skip != nil {
		t.Skip(got.skip)
	}
	if got.code != 1 {
		t.Errorf("exit code %d, want 1", got.code)
	}
	c.expectLogs(":80: ports below ", "`sudo sysctl -w net.ipv4.ip_unprivileged_port_start=80`")
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
