// Package peer finds out which user of this machine is at the other end of a TCP connection over the
// loopback interface. Servers of a rig are for the user who runs it: any user can connect to a port
// of a loopback address, and an address does not show who did.
package peer

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Foreign returns the user at the other end of a connection, and whether that is another one than this
// process's. The end of a client that is gone already belongs to no user.
func Foreign(c net.Conn) (uid uint32, foreign bool) {
	server, client := addrPort(c.LocalAddr()), addrPort(c.RemoteAddr())
	if !server.Addr().IsLoopback() || !client.Addr().IsLoopback() {
		return 0, false
	}
	uid, found := kernel.owner(client, server)
	return uid, found && uid != uint32(os.Geteuid())
}

// Own is a listener whose connections are of this process's user. Those of others are closed.
func Own(l net.Listener) net.Listener { return own{l} }

type own struct{ net.Listener }

// Accept implements net.Listener.
func (o own) Accept() (net.Conn, error) {
	for {
		c, err := o.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if _, foreign := Foreign(c); !foreign {
			return c, nil
		}
		_ = c.Close() // nothing was written there
	}
}

func addrPort(a net.Addr) netip.AddrPort {
	tcp, is := a.(*net.TCPAddr)
	if !is {
		return netip.AddrPort{}
	}
	at := tcp.AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

// What the kernel is asked, and answers (linux/inet_diag.h), by offsets in bytes.
const (
	requestSize  = unix.SizeofNlMsghdr + 56
	answerSize   = unix.SizeofNlMsghdr + 72
	socketID     = 8 // in a request
	uidOffset    = unix.SizeofNlMsghdr + 64
	inodeOffset  = unix.SizeofNlMsghdr + 68
	byFamily     = 20 // SOCK_DIAG_BY_FAMILY
	answerMemory = 4 << 10
	// patience is how long an answer may take, which the kernel has when the request is sent.
	patience = time.Second
)

// kernel is asked through one socket, by one goroutine at a time.
var kernel asked

type asked struct {
	mu     sync.Mutex
	opened bool
	socket int // negative: the kernel has none for this
	last   uint32
}

// owner is the user whose socket is bound to one address and connected to another.
func (k *asked) owner(local, remote netip.AddrPort) (uid uint32, found bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.opened {
		k.open()
	}
	if k.socket < 0 {
		return 0, false
	}
	k.last++
	if err := unix.Send(k.socket, request(k.last, local, remote), 0); err != nil {
		return 0, false
	}
	answer := make([]byte, answerMemory)
	for {
		n, err := unix.Read(k.socket, answer)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil || n < unix.SizeofNlMsghdr:
			return 0, false
		case binary.NativeEndian.Uint32(answer[8:]) != k.last: // late, of a request before
		case n < answerSize || binary.NativeEndian.Uint16(answer[4:]) != byFamily || binary.NativeEndian.Uint32(answer[inodeOffset:]) == 0:
			return 0, false // there is no such socket, or no process has it any more
		default:
			return binary.NativeEndian.Uint32(answer[uidOffset:]), true
		}
	}
}

func (k *asked) open() {
	k.opened, k.socket = true, -1
	socket, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return
	}
	timeout := unix.NsecToTimeval(patience.Nanoseconds())
	if unix.SetsockoptTimeval(socket, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout) != nil || unix.Connect(socket, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}) != nil {
		_ = unix.Close(socket)
		return
	}
	k.socket = socket
}

// request asks for the socket of one connection.
func request(sequence uint32, local, remote netip.AddrPort) []byte {
	b := make([]byte, requestSize)
	binary.NativeEndian.PutUint32(b[0:], requestSize)
	binary.NativeEndian.PutUint16(b[4:], byFamily)
	binary.NativeEndian.PutUint16(b[6:], unix.NLM_F_REQUEST)
	binary.NativeEndian.PutUint32(b[8:], sequence)
	diag := b[unix.SizeofNlMsghdr:]
	diag[0], diag[1] = unix.AF_INET, unix.IPPROTO_TCP
	if local.Addr().Is6() {
		diag[0] = unix.AF_INET6
	}
	binary.NativeEndian.PutUint32(diag[4:], ^uint32(0)) // in any state
	id := diag[socketID:]
	binary.BigEndian.PutUint16(id[0:], local.Port())
	binary.BigEndian.PutUint16(id[2:], remote.Port())
	copy(id[4:20], local.Addr().AsSlice())
	copy(id[20:36], remote.Addr().AsSlice())
	binary.NativeEndian.PutUint64(id[40:], ^uint64(0)) // no cookie
	return b
}
