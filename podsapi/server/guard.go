package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// credential is who made a connection.
type credential struct{ pid, uid int }

// guard is a listener that lets only root and the user of this process in.
type guard struct {
	net.Listener
	// identify says who made a connection.
	identify func(net.Conn) (credential, error)
	// open has every user let in.
	open    bool
	clients *clients
	refused atomic.Int64
}

func newGuard(listener *net.UnixListener, open bool, clients *clients) *guard {
	return &guard{Listener: listener, identify: identify, open: open, clients: clients}
}

// identify returns who made a connection, as the kernel noted it then.
func identify(conn net.Conn) (credential, error) {
	raw, err := conn.(*net.UnixConn).SyscallConn()
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

// Accept returns the next connection of a user who may make one. Others are
// closed at once, and so are those whose user is unknown.
func (g *guard) Accept() (net.Conn, error) {
	for {
		conn, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		who, err := g.identify(conn)
		if err == nil && (g.open || who.uid == 0 || who.uid == os.Geteuid()) {
			return &clientConn{Conn: conn, client: g.clients.connected(who)}, nil
		}
		g.refused.Add(1)
		_ = conn.Close()
	}
}

// clientConn is a connection of a client that is known.
type clientConn struct {
	net.Conn
	client *client
}

// Close implements net.Conn.
func (c *clientConn) Close() error {
	c.client.disconnected()
	return c.Conn.Close()
}

// callers are transport credentials that name the client of a connection to the
// handlers of its calls. There is no handshake: the kernel has vouched for the client.
type callers struct{}

// caller is what a handler gets.
type caller struct {
	credentials.CommonAuthInfo
	client *client
}

// AuthType names the security protocol.
func (caller) AuthType() string { return "unix" }

// ServerHandshake takes a connection on.
func (callers) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	from, ok := conn.(*clientConn)
	if !ok {
		return nil, nil, errors.New("the connection did not pass the guard")
	}
	local := credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity}
	return conn, caller{local, from.client}, nil
}

// ClientHandshake is not for servers.
func (callers) ClientHandshake(context.Context, string, net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errors.ErrUnsupported
}

// Info names the security protocol.
func (callers) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: caller{}.AuthType()}
}

// Clone returns a copy.
func (c callers) Clone() credentials.TransportCredentials { return c }

// OverrideServerName is for clients.
func (callers) OverrideServerName(string) error { return nil }

// clientOf returns the client that makes a call, or a new one for a call that came
// on no connection.
func clientOf(ctx context.Context) *client {
	if from, ok := peer.FromContext(ctx); ok {
		if info, ok := from.AuthInfo.(caller); ok {
			return info.client
		}
	}
	return newClient(0, credential{}, nil)
}
