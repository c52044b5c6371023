package server

import (
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// gone is what poll reports when the client has closed or reset its side.
const gone = unix.POLLRDHUP | unix.POLLHUP | unix.POLLERR

// waitUnread returns when the client or the server has closed the connection,
// without ever taking a byte out of the kernel's buffer: the client's window
// fills up as it would with a server that never gets to accept.
func (c *conn) waitUnread() {
	socket, err := c.socket()
	if err != nil {
		return
	}
	// The callback runs at once and whenever something has happened on the
	// socket. An error means that the server has closed it.
	_ = socket.Read(func(fd uintptr) bool { return c.hungUp(int(fd)) })
}

// hungUp reports whether the client has closed or reset its side.
func (c *conn) hungUp(fd int) bool {
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	if n, err := unix.Poll(poll, 0); err != nil || n == 0 || poll[0].Revents&gone == 0 {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR); err == nil && code != 0 {
		c.noteEnd(syscall.Errno(code))
	}
	c.noteEnd(io.EOF)
	return true
}

// takeUnread records what the client sent and the server has not read: a server
// that expects something else reads only the beginning of a ClientHello. c.mu
// is held, and no goroutine reads.
func (c *conn) takeUnread() {
	socket, err := c.socket()
	if err != nil {
		return
	}
	// The callback runs once. An error means that there is no socket any more,
	// and nothing in it.
	_ = socket.Control(func(fd uintptr) {
		unread, err := unix.IoctlGetInt(int(fd), unix.SIOCINQ)
		if err != nil || unread == 0 {
			return
		}
		c.in += int64(unread)
		first := make([]byte, min(unread, maxHello))
		if n, _, err := unix.Recvfrom(int(fd), first, unix.MSG_PEEK|unix.MSG_DONTWAIT); err == nil {
			c.first = appendFirst(c.first, first[:n])
		}
	})
}

func (c *conn) socket() (syscall.RawConn, error) {
	socket, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, syscall.ENOTSOCK
	}
	return socket.SyscallConn()
}
