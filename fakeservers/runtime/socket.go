package runtime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxSocketPath is the room for a path in a unix socket's address, see unix(7).
const maxSocketPath = 107

// listen opens a unix socket that only its owner can connect to.
func listen(path string) (net.Listener, error) {
	if err := removeDeadSocket(path); err != nil {
		return nil, err
	}
	config := net.ListenConfig{Control: ownerOnly}
	return config.Listen(context.Background(), "unix", path)
}

// ownerOnly sets the mode that bind(2) gives to the socket's file. Changing it
// after bind would leave a moment in which anybody can connect.
func ownerOnly(_, _ string, conn syscall.RawConn) error {
	var chmodErr error
	err := conn.Control(func(fd uintptr) { chmodErr = unix.Fchmod(int(fd), 0o600) })
	return errors.Join(err, chmodErr)
}

// removeDeadSocket removes a socket that nobody serves any more. Anything else
// at the path is an error.
func removeDeadSocket(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s exists and is not a socket", path)
	}
	conn, err := net.DialTimeout("unix", path, time.Second) //nolint:noctx // bounded, and part of a start that has no context
	if err == nil {
		return errors.Join(fmt.Errorf("%s is served by another process", path), conn.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("finding out whether a process serves %s: %w", path, err)
	}
	return os.Remove(path)
}

// mountpoint returns the directory at which the file system of dir is mounted.
func mountpoint(dir string) (string, error) {
	device, err := deviceOf(dir)
	if err != nil {
		return "", err
	}
	for parent := filepath.Dir(dir); parent != dir; dir, parent = parent, filepath.Dir(parent) {
		other, err := deviceOf(parent)
		if err != nil {
			return "", err
		}
		if other != device {
			return dir, nil
		}
	}
	return dir, nil
}

func deviceOf(dir string) (uint64, error) {
	var stat unix.Stat_t
	if err := unix.Stat(dir, &stat); err != nil {
		return 0, fmt.Errorf("finding the file system of %s: %w", dir, err)
	}
	return stat.Dev, nil
}
