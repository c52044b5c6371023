package server

import (
	"context"
	"errors"
	"net"
	"syscall"
)

// fill has the kernel leave clients without an answer: a listener whose queue is for
// no connection takes one, which fill makes. Nothing may accept it.
func fill(ctx context.Context, listener net.Listener) (net.Conn, error) {
	raw, err := listener.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil, err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = syscall.Listen(int(fd), 0) }); err != nil || failed != nil {
		return nil, errors.Join(err, failed)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", listener.Addr().String())
}
