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
		{args: []string{"test", "1", "-lt", "2"}},
		{args: []string{"test", "1", "-lt"}, code: 2, stderr: "1:1: -lt must be followed by a word\n"},
		{args: []string{"test", "-O", "/data"}, code: 127, stderr: "sh: test: skewrig doesn't implement -O\n"},
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
	for _, args := range [][]string{{"/usr/bin/wget", "-f"}, {"nc"}, {""}, nil} {
		code, _, stderr := c.exec(args...)
		if code != 127 || !strings.Contains(stderr, "skewrig doesn't implement this command here; it implements :, [, awk, bash, cat, ") {
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
		" \n \n":                     {},
		"true":                       {},
		"exit 3":                     {code: 3},
		"exit":                       {},
		"false; exit":                {code: 1},
		"exit 300":                   {code: 44},
		"exit now":                   {code: 2, stderr: "invalid exit status code: \"now\"\n"},
		"false; true":                {},
		"false && echo a":            {code: 1},
		"false || echo a":            {stdout: "a\n"},
		"true || echo a && echo b":   {stdout: "b\n"},
		"false && echo a || echo b":  {stdout: "b\n"},
		"echo a;echo b":              {stdout: "a\nb\n"},
		"echo 'a; b'  \"c  d\"e":     {stdout: "a; b c  de\n"},
		"echo '$HOME' $HOME ~":       {stdout: "$HOME /root /root\n"},
		"echo a >/tmp/f; cat /tmp/f": {stdout: "a\n"},
		"echo a>/tmp/f\necho b >> /tmp/f\ncat /tmp/f": {stdout: "a\nb\n"},
		"{ echo a; echo b; } >/tmp/f; cat </tmp/f":    {stdout: "a\nb\n"},
		"> /tmp/f; test -s /tmp/f":                    {code: 1},
		"echo a > /dev/null; cat /dev/null":           {code: 1, stderr: "cat: open /dev/null: file does not exist\n"},
		"echo a >&2; echo b >/dev/stderr":             {stderr: "a\nb\n"},
		"echo a >/tmp/f; rm -rf /tmp/f; cat /tmp/f":   {code: 1, stderr: "cat: open /tmp/f: file does not exist\n"},
		"cat </tmp/f": {code: 1, stderr: "open /tmp/f: file does not exist\n"},
		"cd /tmp; touch a b; echo *; ls; pwd; rm a; [ -e b ] && ! [ -e /tmp/a ]": {stdout: "a b\na\nb\n/tmp\n"},
		"[ ! -e /tmp/f ] && echo none":                                           {stdout: "none\n"},
		"sleep 0 && exit 7":                                                      {code: 7},
		"sh -c 'exit 5' || exit 6":                                               {code: 6},
		"export A=1 B=2; C=3; sh -c 'echo $A$B$C $0 $1' name x":                  {stdout: "12 name x\n"},
		"cd /tmp; sh -c 'pwd; echo echo \\$0 >s; sh s'":                          {stdout: "/tmp\ns\n"},
		"n=0; while [ $n -lt 3 ]; do n=$((n+1)); done; echo $n":                  {stdout: "3\n"},
		"for i in a b; do echo $i; done | cat":                                   {stdout: "a\nb\n"},
		"if test -d /tmp; then echo yes; else echo no; fi":                       {stdout: "yes\n"},
		"f() { local a=$1; echo \"<$a>\"; return 4; }; f \"b  c\"":               {code: 4, stdout: "<b  c>\n"},
		"case abc in a*) echo $(echo in; false);; esac":                          {stdout: "in\n"},
		"cat <<END\n$((6*7))\nEND":                                               {stdout: "42\n"},
		"trap 'echo bye' EXIT; eval 'exit 3'":                                    {code: 3, stdout: "bye\n"},
		"sleep 0.01 & wait; echo done":                                           {stdout: "done\n"},
		"sleep 10 & exit 1":                                                      {code: 1},
		"printf '%s-%d' a 7":                                                     {stdout: "a-7"},
		"trap 'exit 0' DANCE; sleep 10":                                          {code: 127, stderr: "sh: trap: there is no signal DANCE\n"},
		"trap 'exit 9' TERM; echo a >f; echo $(<f); (exit 3) & wait $!; echo $?": {stdout: "a\n3\n"},
		"trap 'cat <(echo a)' TERM; echo b":                                      {code: 127, stderr: "sh: 1:5: skewrig doesn't implement <()"},
		"__skewrig_end_job":                                                      {code: 127, stderr: "\"__skewrig_end_job\": skewrig doesn't implement"},
		"trap 'echo a' TERM EXIT; exit 4":                                        {code: 4, stdout: "a\n"},
		"dance":                                                                  {code: 127, stderr: "\"dance\": skewrig doesn't implement this command here"},
		"dance || true":                                                          {code: 127, stderr: "\"dance\": skewrig doesn't implement this command here"},
		"sh -c dance || true":                                                    {code: 127, stderr: "\"dance\": skewrig doesn't implement this command here"},
		"echo 'a":                                                                {code: 127, stderr: "sh: sh:1:6: reached EOF without closing quote"},
		"echo a >":                                                               {code: 127, stderr: "sh: sh:1:8: `>` must be followed by a word"},
		"&& true":                                                                {code: 127, stderr: "sh: sh:1:1: `&&` can only immediately follow a statement"},
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
		{args: []string{"sh", "-c"}, code: 127},
		{args: []string{"sh", "-y", "-c", "true"}, code: 127},
		{args: []string{"sh", "-e", "-u", "-c", "echo $1", "sh", "-a"}, stdout: "-a\n"},
		{args: []string{"sh", "-euc", "echo $1; echo on"}, code: 1},
	} {
		if code, stdout, _ := c.exec(tc.args...); code != tc.code || stdout != tc.stdout {
			t.Errorf("%q: %d, %q, want %d, %q", tc.args, code, stdout, tc.code, tc.stdout)
		}
	}
}

// TestScriptsDontReachTheHost has a file on the host, and one of the name that
// the interpreter gives its own: whatever a script tries, it can neither read,
// write nor run one, nor learn that it is there.
func TestScriptsDontReachTheHost(t *testing.T) {
	host := t.TempDir()
	t.Setenv("TMPDIR", host)
	t.Setenv("HOME", host)
	secret, fifo := filepath.Join(host, "secret"), filepath.Join(host, "sh-interp-1")
	marker := filepath.Join(host, "marker")
	script := "#!/bin/sh\ntouch " + marker + "\necho classified\n"
	for _, name := range []string{secret, fifo} {
		if err := os.WriteFile(name, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(secret, filepath.Join(host, "link")); err != nil {
		t.Fatal(err)
	}
	c := run(t, spec{})
	for _, attempt := range []string{
		"cat SECRET", "cat <SECRET", "echo $(<SECRET)", "cat <FIFO", "echo $(<FIFO)", "read a <FIFO; echo $a", "SECRET", "exec SECRET",
		". SECRET", "source SECRET", "cd HOST && echo classified", "cd; ls", "ls HOST", "echo HOST/*", "echo HOST/s*", "[ -e SECRET ] && echo classified", "[ -x SECRET ] && echo classified", "test -s SECRET && echo classified",
		"[ -O SECRET ] && echo classified", "[ SECRET -ef SECRET ] && echo classified", "[[ -e SECRET ]] && echo classified", "eval '[[ -e SECRET ]] && echo classified'", "eval 'cat SECRET'", "eval \"eval '. SECRET'\"",
		"cat <(cat SECRET)", "eval 'cat <(echo classified)'", "trap 'cat <(echo classified)' EXIT", "trap 'cat SECRET' EXIT",
		"PATH=HOST; secret", "PATH=HOST command -v secret", "PATH=HOST type secret", "PATH=HOST hash secret", "builtin command -v secret",
		"shopt -s expand_aliases; alias a='cat <(echo classified)'; a", "echo ~root", "echo ~root | cat", "a=~root; echo $a", "echo {~root,a}",
		"touch HOST/link/a; cd HOST/link && pwd -P", "[ $HOME != HOST ] || echo classified", "eval '[[ -O / ]]'", "trap '[[ -O / ]]' EXIT",
		"[[ -s SECRET || -d HOST || -L HOST/link ]] && echo classified", "[[ -x ../../../../..SECRET ]] && echo classified", "[[ $HOME == HOST ]] && echo classified",
		"cd /tmp; [[ $(ls HOST) == *secret* ]] && echo classified", "[[ -e /etc/passwd ]] && echo classified", "[[ SECRET -ef SECRET ]] && echo classified", "[[ a == ~root ]]",
		"echo $HOME $TMPDIR $PATH", "export; set", "sh SECRET", "sh -c 'cat SECRET'", "bash -c '[[ -e SECRET ]] && echo classified'",
		"mapfile a <SECRET; echo $a", "coproc cat SECRET", "cat /etc/passwd", "/bin/cat /etc/passwd", "TMPDIR=HOST sh -c 'cat <FIFO'",
		"echo over >SECRET", "echo over >>SECRET", "echo over >FIFO", "rm SECRET", "fallocate -l 1K SECRET",
	} {
		attempt = strings.NewReplacer("SECRET", secret, "FIFO", fifo, "HOST", host).Replace(attempt)
		code, stdout, stderr := c.exec("sh", "-c", attempt)
		refused := code == 127 || !strings.Contains(attempt, "~") && !strings.Contains(attempt, "-O")
		if !refused || strings.Contains(stdout+stderr, "classified\n") || strings.Contains(stdout+stderr, "root:") || strings.Contains(stdout, "secret") {
			t.Errorf("%s: %d, %q, %q", attempt, code, stdout, stderr)
		}
		// What a script makes in its container is not on the host.
		c.exec("rm", "-rf", host)
	}
	names, err := os.ReadDir(host)
	if err != nil || len(names) != 3 {
		t.Errorf("on the host are %v, %v", names, err)
	}
	for _, name := range []string{secret, fifo} {
		if data, err := os.ReadFile(name); err != nil || string(data) != script {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

func TestACommandEndsWithItsContext(t *testing.T) {
	t.Parallel()
	c := run(t, spec{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out strings.Builder
	if code := c.image.Exec(ctx, c.process, []string{"sh", "-c", "sleep infinity; echo on"}, image.Streams{Stdout: &out, Stderr: &out}); code != 137 || out.Len() > 0 {
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
	c = run(t, spec{command: []string{"sh", "-c", "echo $COLOR; echo late >&2"}, env: []string{"COLOR=red"}})
	c.expectExit(0)
	c.expectLogs("red\nlate\n")
	run(t, spec{command: []string{"nginx"}}).expectExit(127)
}
