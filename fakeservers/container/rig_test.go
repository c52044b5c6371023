package container

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
)

const (
	// placeVariable has a process of the test binary be one of a container: its value is the
	// directory of a place.
	placeVariable = "SKEWRIG_TEST_PLACE"
	// firstVariable has it be the main one.
	firstVariable = "SKEWRIG_TEST_FIRST"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(placeVariable); dir != "" {
		os.Exit(placeIn(dir).run())
	}
	os.Exit(m.Run())
}

// placeIn is where a process is played that has the files of a directory. It listens on a
// loopback address that is its own.
func placeIn(dir string) place {
	pid := os.Getpid()
	return place{
		root: filepath.Join(dir, "root"), args: os.Args, plays: os.Getenv(Variable), file: filepath.Join(dir, "image.json"), socket: filepath.Join(dir, "record", SocketName),
		ip:    netip.AddrFrom4([4]byte{127, byte(64 + pid>>8&63), byte(pid), 9}),
		first: os.Getenv(firstVariable) != "",
	}
}

// container is a directory with the files of one.
type container struct {
	t   *testing.T
	dir string
}

func newContainer(t *testing.T, file File) container {
	t.Helper()
	c := container{t: t, dir: t.TempDir()}
	if err := os.MkdirAll(filepath.Join(c.dir, "root", "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	golden.Write(t, filepath.Join(c.dir, "image.json"), string(text))
	return c
}

// listen is where processes of the container send what they record.
func (c container) listen() net.Listener {
	c.t.Helper()
	if err := os.Mkdir(filepath.Join(c.dir, "record"), 0o700); err != nil {
		c.t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(c.dir, "record", SocketName))
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = listener.Close() })
	return listener
}

// command is a process of the container.
func (c container) command(first bool, args ...string) (*exec.Cmd, *bytes.Buffer) {
	c.t.Helper()
	self, err := os.Executable()
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	c.t.Cleanup(cancel)
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, self)
	cmd.Args, cmd.Stdout, cmd.Stderr = args, &out, &out
	cmd.Env = []string{placeVariable + "=" + c.dir, "HOSTNAME=web"}
	if first {
		cmd.Env = append(cmd.Env, firstVariable+"=yes")
	}
	return cmd, &out
}

// run runs a process beside the main one, and returns its exit code and what it wrote.
func (c container) run(args ...string) (code int, output string) {
	c.t.Helper()
	cmd, out := c.command(false, args...)
	_ = cmd.Run() // the code says it
	if cmd.ProcessState == nil {
		c.t.Fatalf("%q was not started", args)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

// process is a process of the container, with what it writes.
type process struct {
	cmd *exec.Cmd
	out *bytes.Buffer
}

// play starts a process of a container that a variable tells what it plays.
func (c container) play(first bool, variable string, args ...string) (*process, error) {
	c.t.Helper()
	cmd, out := c.command(first, args...)
	cmd.Env = append(cmd.Env, variable)
	return &process{cmd, out}, cmd.Start()
}

// code waits for its end, and returns its exit code.
func (p *process) code() int {
	_ = p.cmd.Wait() // the code says it
	return p.cmd.ProcessState.ExitCode()
}
