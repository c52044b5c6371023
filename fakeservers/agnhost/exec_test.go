package agnhost_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skewrig/skewrig/fakeservers/image"
)

func TestExec(t *testing.T) {
	t.Parallel()
	volume := t.TempDir()
	if err := os.WriteFile(filepath.Join(volume, "color"), []byte("red\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := run(t, spec{mounts: []image.Mount{{ContainerPath: "/data", HostPath: volume, ReadOnly: true}}})
	// In order: what one makes another sees.
	for _, tc := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{args: []string{"true"}},
		{args: []string{"/bin/true", "ignored"}},
		{args: []string{"/bin/false"}, code: 1},
		{args: []string{"cat", "/data/color"}, stdout: "red\n"},
		{args: []string{"cat", "/tmp/ready"}, code: 1, stderr: "cat: open /tmp/ready: file does not exist\n"},
		{args: []string{"cat", "/none", "/data/color"}, code: 1, stdout: "red\n", stderr: "cat: open /none: file does not exist\n"},
		{args: []string{"test", "-e", "/tmp/ready"}, code: 1},
		{args: []string{"touch", "/tmp/ready"}},
		{args: []string{"test", "-e", "/tmp/ready"}},
		{args: []string{"test", "-f", "/tmp/ready"}},
		{args: []string{"test", "-d", "/tmp"}},
		{args: []string{"test", "-d", "/tmp/ready"}, code: 1},
		{args: []string{"test", "-s", "/tmp/ready"}, code: 1},
		{args: []string{"test", "-s", "/data/color"}},
		{args: []string{"[", "!", "-e", "/tmp/ready", "]"}, code: 1},
		{args: []string{"test", "a", "=", "a"}},
		{args: []string{"test", "a", "!=", "a"}, code: 1},
		{args: []string{"test", "-n", "a"}},
		{args: []string{"test", "-z", "a"}, code: 1},
		{args: []string{"test", "a"}},
		{args: []string{"test"}, code: 1},
		{args: []string{"test", "1", "-lt", "2"}, code: 2, stderr: "test: \"1 -lt 2\": skewrig understands -e, -f, -d, -s, -n, -z, = and !=\n"},
		{args: []string{"ls", "/data"}, stdout: "color\n"},
		{args: []string{"ls", "-l", "/tmp/ready"}, stdout: "/tmp/ready\n"},
		{args: []string{"ls"}, stdout: "data\ntmp\n"},
		{args: []string{"ls", "/none"}, code: 1, stderr: "ls: stat /none: file does not exist\n"},
		{args: []string{"rm", "/tmp"}, code: 1, stderr: "rm: /tmp: is a directory\n"},
		{args: []string{"rm", "/tmp/ready"}},
		{args: []string{"rm", "/tmp/ready"}, code: 1, stderr: "rm: stat /tmp/ready: file does not exist\n"},
		{args: []string{"rm", "-f", "/tmp/ready"}},
		{args: []string{"touch", "/data/new"}, code: 1, stderr: "touch: open /data/new: read-only file system\n"},
		{args: []string{"echo", "a", "b"}, stdout: "a b\n"},
		{args: []string{"echo", "-n", "a"}, stdout: "a"},
		{args: []string{"sleep", "0.001"}},
		{args: []string{"sleep", "soon"}, code: 1, stderr: "sleep: invalid time interval \"soon\"\n"},
		{args: []string{"sleep"}, code: 1, stderr: "sleep: missing operand\n"},
	} {
		code, stdout, stderr := c.exec(tc.args...)
		if code != tc.code || stdout != tc.stdout || stderr != tc.stderr {
			t.Errorf("%q: %d, %q, %q, want %d, %q, %q", tc.args, code, stdout, stderr, tc.code, tc.stdout, tc.stderr)
		}
	}
	for _, args := range [][]string{{"/usr/bin/curl", "-f"}, {"nc"}, {""}, nil} {
		code, _, stderr := c.exec(args...)
		if code != 127 || !strings.Contains(stderr, "skewrig doesn't play this command here: it plays :, [, bash, cat, ") {
			t.Errorf("%q: %d, %q", args, code, stderr)
		}
	}
}

func TestFallocate(t *testing.T) {
	t.Parallel()
	volume := t.TempDir()
	c := run(t, spec{mounts: []image.Mount{{ContainerPath: "/data", HostPath: volume, ReadOnly: true}}})
	c.exec("sh", "-c", "echo text >/small")
	// In order, with the bytes of all files after each.
	for _, tc := range []struct {
		args   []string
		bytes  uint64
		stderr string
	}{
		{args: []string{"-l", "100", "/a"}, bytes: 105},
		{args: []string{"-l", "4K", "/a"}, bytes: 4<<10 + 5},
		{args: []string{"-l", "1", "/a"}, bytes: 4<<10 + 5},
		{args: []string{"-l", "1M", "/b"}, bytes: 1<<20 + 4<<10 + 5},
		{args: []string{"-l", "10", "/small"}, bytes: 1<<20 + 4<<10 + 10},
		{args: []string{"-l", "16M", "/c"}, bytes: 17<<20 + 4<<10 + 10},
		{args: []string{"-l", "17M", "/d"}, stderr: `length "17M": no file here can have more than 16777216 bytes`},
		{args: []string{"-l", "9G", "/d"}, stderr: `length "9G": no file here can have more than 16777216 bytes`},
		{args: []string{"-l", "0", "/d"}, stderr: `invalid length "0"`},
		{args: []string{"-l", "M", "/d"}, stderr: `invalid length "M"`},
		{args: []string{"-l", "1KM", "/d"}, stderr: `invalid length "1KM"`},
		{args: []string{"-l", "1T", "/d"}, stderr: `invalid length "1T"`},
		{args: []string{"-l", "1M"}, stderr: "skewrig understands -l SIZE FILE"},
		{args: []string{"-n", "1M", "/d"}, stderr: "skewrig understands -l SIZE FILE"},
		{args: []string{"-l", "1M", "/data/d"}, stderr: "open /data/d: read-only file system"},
	} {
		code, _, stderr := c.exec(append([]string{"fallocate"}, tc.args...)...)
		switch got := c.process.Files.Bytes(); {
		case tc.stderr == "" && (code != 0 || stderr != "" || got != tc.bytes):
			t.Errorf("%q: %d, %q, there are %d bytes, want %d", tc.args, code, stderr, got, tc.bytes)
		case tc.stderr != "" && (code != 1 || stderr != "fallocate: "+tc.stderr+"\n"):
			t.Errorf("%q: %d, %q, want %q", tc.args, code, stderr, tc.stderr)
		}
	}
	if _, stdout, _ := c.exec("cat", "/small"); stdout != "text\n"+strings.Repeat("\x00", 5) {
		t.Errorf("what was in the file is now %q", stdout)
	}
}

func TestShell(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]struct {
		code           int
		stdout, stderr string
	}{
		"":                           {},
		" \n ; \n":                   {},
		"true":                       {},
		"exit 3":                     {code: 3},
		"exit":                       {},
		"false; exit":                {code: 1},
		"exit 300":                   {code: 44},
		"exit now":                   {code: 2},
		"false; true":                {},
		"false && echo a":            {code: 1},
		"false || echo a":            {stdout: "a\n"},
		"true || echo a && echo b":   {stdout: "b\n"},
		"false && echo a || echo b":  {stdout: "b\n"},
		"echo a;echo b":              {stdout: "a\nb\n"},
		"echo 'a; b'  \"c  d\"e":     {stdout: "a; b c  de\n"},
		"echo '$HOME'":               {stdout: "$HOME\n"},
		"echo a >/tmp/f; cat /tmp/f": {stdout: "a\n"},
		"echo a>/tmp/f\necho b >> /tmp/f\ncat /tmp/f": {stdout: "a\nb\n"},
		"echo a > /dev/null":                          {},
		"echo a >/tmp/f; rm -rf /tmp/f; cat /tmp/f":   {code: 1, stderr: "cat: open /tmp/f: file does not exist\n"},
		"[ ! -e /tmp/f ] && echo none":                {stdout: "none\n"},
		"sleep 0 && exit 7":                           {code: 7},
		"sh -c 'exit 5' || exit 6":                    {code: 6},
		"dance":                                       {code: 127, stderr: "\"dance\": skewrig doesn't play this command here"},
		"dance || true":                               {code: 127, stderr: "\"dance\": skewrig doesn't play this command here"},
		"echo $HOME":                                  {code: 127, stderr: "sh: '$': skewrig understands commands, quotes, ; && || > and >>\n"},
		"echo \"$HOME\"":                              {code: 127, stderr: "sh: \"$HOME\": skewrig understands"},
		"echo a | cat":                                {code: 127, stderr: "sh: '|': skewrig understands"},
		"sleep 10 & exit 1":                           {code: 127, stderr: "sh: '&': skewrig understands"},
		"echo 'a":                                     {code: 127, stderr: "sh: a quote without an end: skewrig understands"},
		"echo a >":                                    {code: 127, stderr: "sh: > without a file of its own"},
		"echo a > > b":                                {code: 127, stderr: "sh: > without a file of its own"},
		"&& true":                                     {code: 127, stderr: "sh: nothing to run before or after &&"},
		"true &&":                                     {code: 127, stderr: "sh: nothing to run before or after ;"},
		"> /tmp/f":                                    {code: 127, stderr: "sh: nothing to run"},
	} {
		c := &container{t: t, process: &image.Process{}}
		c.image = run(t, spec{args: []string{"entrypoint-tester"}}).image
		code, stdout, stderr := c.exec("/bin/sh", "-c", script)
		if code != want.code || stdout != want.stdout || !strings.HasPrefix(stderr, want.stderr) || want.stderr == "" && stderr != "" {
			t.Errorf("%q: %d, %q, %q, want %d, %q, %q", script, code, stdout, stderr, want.code, want.stdout, want.stderr)
		}
	}
}

func TestShellOptions(t *testing.T) {
	t.Parallel()
	c := run(t, spec{})
	for _, tc := range []struct {
		args   []string
		code   int
		stdout string
	}{
		{args: []string{"sh", "-ec", "false; echo a"}, code: 1},
		{args: []string{"sh", "-ec", "false || echo a; false; echo b"}, code: 1, stdout: "a\n"},
		{args: []string{"bash", "-c", "echo a"}, stdout: "a\n"},
		{args: []string{"sh"}},
		{args: []string{"sh", "/script.sh"}, code: 127},
		{args: []string{"sh", "-x", "true"}, code: 127},
	} {
		if code, stdout, _ := c.exec(tc.args...); code != tc.code || stdout != tc.stdout {
			t.Errorf("%q: %d, %q, want %d, %q", tc.args, code, stdout, tc.code, tc.stdout)
		}
	}
}

func TestACommandEndsWithItsContext(t *testing.T) {
	t.Parallel()
	c := run(t, spec{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out strings.Builder
	if code := c.image.Exec(ctx, c.process, []string{"sh", "-c", "sleep infinity; echo on"}, &out, &out); code != 137 || out.Len() > 0 {
		t.Errorf("exit code %d, output %q", code, out.String())
	}
}

func TestTheMainProcessSharesItsFiles(t *testing.T) {
	t.Parallel()
	c := run(t, spec{image: "busybox:1.36", args: []string{"/bin/sh", "-c", "echo ok >/tmp/health; echo begun; sleep 600"}})
	c.waitLogs("begun")
	if code, stdout, _ := c.exec("cat", "/tmp/health"); code != 0 || stdout != "ok\n" {
		t.Errorf("cat: %d, %q", code, stdout)
	}
	// Process 1 has no handler for it, so nothing happens.
	c.signals <- syscall.SIGTERM
	if code, _, _ := c.exec("rm", "/tmp/health"); code != 0 {
		t.Errorf("rm: %d", code)
	}
	if code, _, _ := c.exec("cat", "/tmp/health"); code != 1 {
		t.Errorf("cat: %d", code)
	}
	c.kill()
	c.expectExit(137)

	run(t, spec{command: []string{"/bin/bash", "-c", "exit 4"}}).expectExit(4)
	run(t, spec{command: []string{"nginx"}}).expectExit(127)
}
