// Package unixsocket opens unix sockets that only their owner can connect to.
package unixsocket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// MaxPath is the room for a path in a unix socket's address, in bytes, see unix(7).
const MaxPath = 107

// Listen opens a socket that only its owner can connect to. It replaces a
// socket at the path that no process serves; anything else at the path is an error,
// and is left alone. The directory must exist.
func Listen(path string) (net.Listener, error) {
	if err := removeDead(path); err != nil {
		return nil, err
	}
	config := net.ListenConfig{Control: ownerOnly}
	return config.Listen(context.Background(), "unix", path)
}

// ownerOnly sets the mode that bind(2) gives to the socket's file. Changing it
// after bind would leave a moment in which any user can connect.
func ownerOnly(_, _ string, conn syscall.RawConn) error {
	var chmodErr error
	err := conn.Control(func(fd uintptr) { chmodErr = unix.Fchmod(int(fd), 0o600) })
	return errors.Join(err, chmodErr)
}

// removeDead removes a socket that no process serves. Anything else at the
// path is an error.
func removeDead(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s is there and is not a socket: move it away, or use another path", path)
	}
	conn, err := net.DialTimeout("unix", path, time.Second) //nolint:noctx // bounded, and part of a start that has no context
	if err == nil {
		return errors.Join(fmt.Errorf("%s is served by another process: stop it, or use another path", path), conn.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("checking whether a process serves %s: %w", path, err)
	}
	return os.Remove(path)
}
