package agnhost_test

import (
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/skewrig/skewrig/fakeservers/image"
)

func TestShellOfStandardInput(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]struct {
		code           int
		stdout, stderr string
	}{
		"":                                     {},
		"echo a\necho b":                       {stdout: "a\nb\n"},
		"echo a; exit 3\necho b\n":             {code: 3, stdout: "a\n"},
		"false":                                {code: 1},
		"for i in a b; do\n echo $i\ndone\n":   {stdout: "a\nb\n"},
		"cd /tmp\npwd\nx=1\necho $x $?\n":      {stdout: "/tmp\n1 0\n"},
		"cat\nthis is read by cat\n":           {stdout: "this is read by cat\n"},
		"read x\nline\necho $x":                {stdout: "line\n"},
		"cat <<END\na\nEND\n":                  {stdout: "a\n"},
		"dance\necho a\n":                      {code: 127, stderr: "\"dance\": skewrig doesn't implement"},
		"echo a\nfi\necho b\n":                 {code: 127, stdout: "a\n", stderr: "sh: 2:1: `fi` can only"},
		"echo 'a\n":                            {code: 127, stderr: "sh: 1:6: reached EOF"},
		"echo <(true)\necho b\n":               {code: 127, stderr: "sh: 1:6: skewrig doesn't implement <()"},
		"trap 'echo bye' EXIT\ntrue\nexit 4\n": {code: 4, stdout: "bye\n"},
		"trap 'echo bye' EXIT\nfalse\n":        {code: 1, stdout: "bye\n"},

		// What is in the background outlives the line that starts it.
		"(sleep 0.05; touch /x) &\n{ sleep 0.05; touch /y; } & true\nwait\nls /\n": {stdout: "x\ny\n"},
	} {
		c := run(t, spec{})
		stdin := newPipe(t)
		if _, err := io.WriteString(stdin, script); err != nil {
			t.Fatal(err)
		}
		if err := stdin.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		var out, err strings.Builder
		code := c.image.Exec(t.Context(), c.process, []string{"sh"}, image.Streams{Stdin: stdin, Stdout: &out, Stderr: &err})
		if code != want.code || out.String() != want.stdout || !strings.HasPrefix(err.String(), want.stderr) || want.stderr == "" && err.Len() > 0 {
			t.Errorf("%q: %d, %q, %q, want %d, %q, %q", script, code, &out, &err, want.code, want.stdout, want.stderr)
		}
	}
}

// TestShellAtATerminal types, and waits each time for what the shell prints.
func TestShellAtATerminal(t *testing.T) {
	t.Parallel()
	c, stdin, signals, screen := run(t, spec{}), newPipe(t), make(chan syscall.Signal), &logBuffer{}
	ended := make(chan int, 1)
	go func() {
		ended <- c.image.Exec(t.Context(), c.process, []string{"/bin/sh"}, image.Streams{
			Stdin: stdin, Stdout: screen, Stderr: screen, Terminal: true, Signals: signals,
		})
	}()
	at := &container{t: t, logs: screen}
	at.waitLogs("/ # ")
	for _, step := range []struct {
		types string // "^C" and "^D" are those keys
		sees  string
	}{
		{"echo $((6*7))\n", "42\n/ # "},
		{"dance\n", "\"dance\": skewrig doesn't implement"},
		{"cd /tmp\n", "/tmp # "},
		{"if true; then\n", "> "},
		{"echo yes; fi\n", "yes\n/tmp # "},
		{"fi and the rest of the line\n", "sh: 6:1: `fi` can only"},
		{"cat >note\n", ""},
		{"some text\n", ""},
		{"^D", ""}, // of cat's input
		{"cat note\n", "some text\n/tmp # "},
		{"echo busy; sleep infinity\n", "busy\n"},
		{"^C", "^C\n/tmp # "},
		{"echo $?\n", "130\n/tmp # "},
		{"^C", "130\n/tmp # ^C\n/tmp # "},
		{"mkdir /data; echo busy2; sleep infinity; rm -r /data\n", "busy2\n"},
		{"^C", "busy2\n^C\n/tmp # "},
		{"ls /\n", "data\ntmp\n/tmp # "},
		{"if true; then\n", "tmp\n/tmp # > "},
		{"echo dropped\n", "> > "},
		{"^C", "> > ^C\n/tmp # "},
		{"echo not dropped\n", "/tmp # not dropped\n/tmp # "},
		{"echo reads; cat\n", "reads\n"},
		{"^C", "reads\n^C\n/tmp # "},
		{"echo after cat\n", "/tmp # after cat\n/tmp # "},
		{"echo reads a word; read word\n", "reads a word\n"},
		{"^D", "reads a word\n/tmp # "},
		{"echo after read\n", "/tmp # after read\n/tmp # "},
	} {
		switch step.types {
		case "^C":
			signals <- syscall.SIGINT
		case "^D":
			if err := stdin.End(); err != nil {
				t.Fatal(err)
			}
		default:
			if _, err := io.WriteString(stdin, step.types); err != nil {
				t.Fatal(err)
			}
		}
		at.waitLogs(step.sees)
	}
	if _, err := io.WriteString(stdin, "exit 5\n"); err != nil {
		t.Fatal(err)
	}
	if code := <-ended; code != 5 {
		t.Errorf("exit code %d, want 5; screen:\n%s", code, screen)
	}
}
