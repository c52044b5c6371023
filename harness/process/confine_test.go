package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// confined runs a script of a shell that is confined, and returns what it wrote.
func confined(t *testing.T, c *Confinement, script string, args ...string) string {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	p, err := Start(t.Context(), Config{
		Name: "script", Path: "/bin/sh", Args: append([]string{"-c", script, "sh"}, args...), Dir: c.Dir, Log: log, Confined: c,
	})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Exited()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAConfinedProcess changes files of its directory, reads those that it may, and executes nothing but itself.
func TestAConfinedProcess(t *testing.T) {
	if !Confines() {
		t.Skip("the kernel has no Landlock, or one older than of Linux 5.19")
	}
	own, given, other := t.TempDir(), t.TempDir(), t.TempDir()
	for _, dir := range []string{given, other} {
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte("text\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(other, filepath.Join(own, "link")); err != nil {
		t.Fatal(err)
	}
	c := &Confinement{Dir: own, Read: []string{given, filepath.Join(other, "absent")}}
	const script = `given=$1 other=$2
try() { if eval "$2" 2>/dev/null; then echo "$1: done"; else echo "$1: refused"; fi; }
try 'write its own' 'echo x >own'
try 'truncate its own' '>own'
try 'write to /dev/null' 'echo x >/dev/null'
try 'read what it may' 'read -r x <"$given/file"'
try 'write what it may read' 'echo x >"$given/file"'
try 'make a file beside that' 'echo x >"$given/new"'
try 'read another' 'read -r x <"$other/file"'
try 'write another' 'echo x >"$other/file"'
try 'write through a link' 'echo x >link/file'
try 'make another' 'echo x >"$other/new"'
try 'write by way of /proc' 'echo x >/proc/self/root/"$other/new"'
try 'execute' '/bin/true'
try 'signal another process' 'kill -0 "$PPID"'
`
	want := `write its own: done
truncate its own: done
write to /dev/null: done
read what it may: done
write what it may read: refused
make a file beside that: refused
read another: refused
write another: refused
write through a link: refused
make another: refused
write by way of /proc: refused
execute: refused
`
	got := confined(t, c, script, given, other)
	got, signal, _ := strings.Cut(got, "signal another process: ")
	if got != want {
		t.Errorf("it did\n%swant\n%s", got, want)
	}
	if refused := landlock() >= 6; (signal == "refused\n") != refused {
		t.Errorf("a signal to another process was %swant it refused: %v", signal, refused)
	}
	if text, err := os.ReadFile(filepath.Join(other, "file")); err != nil || string(text) != "text\n" {
		t.Errorf("the file of another directory has %q, %v", text, err)
	}
}

// TestConfinedLeavesSkewrigFree: the thread that started a confined process is no other one's.
func TestConfinedLeavesSkewrigFree(t *testing.T) {
	c := &Confinement{Dir: t.TempDir()}
	for range 20 {
		confined(t, c, "exit 0")
		if err := os.WriteFile(filepath.Join(t.TempDir(), "file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
