package server

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"github.com/skewrig/skewrig/harness/unixsocket"
)

// listen opens a unix socket that only its owner can connect to, in a directory
// in which no other user can replace it.
func listen(path string) (*net.UnixListener, error) {
	if path == "" {
		return nil, errors.New("no socket path: a kubelet's is /var/lib/kubelet/pods/kubelet.sock")
	}
	if len(path) > unixsocket.MaxPath {
		return nil, fmt.Errorf("the socket path %s has %d bytes, and a socket's has at most %d: use a shorter directory",
			path, len(path), unixsocket.MaxPath)
	}
	if err := secureDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	listener, err := unixsocket.Listen(path)
	if err != nil {
		return nil, err
	}
	return listener.(*net.UnixListener), nil
}

// secureDir makes a directory, or makes sure that only its owner, who is root or
// the user of this process, can change what is in it.
func secureDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the directory of the socket: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	const others = 0o022
	if info.Mode().Perm()&others != 0 {
		return fmt.Errorf("%s has the mode %#o, so other users than its owner can replace the socket: "+
			"run `chmod go-w %s`, or use another directory", dir, info.Mode().Perm(), dir)
	}
	if stat, known := info.Sys().(*syscall.Stat_t); known && stat.Uid != 0 && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to the user %d, who can replace the socket: use a directory of your own", dir, stat.Uid)
	}
	return nil
}
