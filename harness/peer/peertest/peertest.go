// Package peertest connects to servers under test as another user of this machine.
package peertest

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// OtherUID is the ID of the user whose processes connect.
const OtherUID = 65534

// target is the variable of the environment of such a process that has the address.
const target = "SKEWRIG_TEST_CONNECT"

// Main is to be called by TestMain: it runs the tests, unless this process is one that Connect started.
func Main(m *testing.M) {
	if address := os.Getenv(target); address != "" {
		os.Exit(connect(address))
	}
	os.Exit(m.Run())
}

func connect(address string) int {
	connection, err := new(net.Dialer).DialContext(context.Background(), "tcp", address)
	if err != nil {
		return 1
	}
	_, _ = io.WriteString(connection, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	_, _ = io.Copy(os.Stdout, connection)
	return 0
}

// Connect has a process of another user connect, which asks for a page, prints what it gets, and ends with the connection. A
// test that can't start one is skipped.
func Connect(t *testing.T, address string) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can start a process of another user")
	}
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Open(executable) // whose directory the user may not enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	cmd := exec.CommandContext(t.Context(), "/proc/self/fd/3")
	cmd.Dir, cmd.ExtraFiles, cmd.Env = "/", []*os.File{program}, []string{target + "=" + address}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: OtherUID, Gid: OtherUID}}
	return cmd
}
