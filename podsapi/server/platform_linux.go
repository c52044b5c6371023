package server

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// credentialOf returns who made a connection, as the kernel noted it then.
func credentialOf(conn *net.UnixConn) (credential, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return credential{}, err
	}
	var (
		ucred   *unix.Ucred
		sockErr error
	)
	err = raw.Control(func(fd uintptr) {
		ucred, sockErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err := errors.Join(err, sockErr); err != nil {
		return credential{}, fmt.Errorf("finding the user of a connection: %w", err)
	}
	return credential{pid: int(ucred.Pid), uid: int(ucred.Uid)}, nil
}

// owner returns whom a file belongs to.
func owner(info fs.FileInfo) (uid int, known bool) {
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, false
	}
	return int(stat.Uid), true
}

// supported reports why the Pods API can't be served on this platform, if so.
func supported() error { return nil }
