package server

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"sync/atomic"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// credential is who made a connection.
type credential struct{ pid, uid int }

// guard is a listener that lets only some users in.
type guard struct {
	net.Listener
	// identify says who made a connection.
	identify func(net.Conn) (credential, error)
	allowed  []int
	clients  *clients
	refused  atomic.Int64
}

func newGuard(listener *net.UnixListener, allowed []int, clients *clients) *guard {
	return &guard{
		Listener: listener,
		identify: identify,
		allowed:  append([]int{0, os.Geteuid()}, allowed...),
		clients:  clients,
	}
}

func identify(conn net.Conn) (credential, error) {
	local, ok := conn.(*net.UnixConn)
	if !ok {
		return credential{}, errors.New("not a connection of a unix socket")
	}
	return credentialOf(local)
}

// Accept returns the next connection of a user who may make one. Others are
// closed at once, and so are those of which it can't be found out whose they are.
func (g *guard) Accept() (net.Conn, error) {
	for {
		conn, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		who, err := g.identify(conn)
		if err == nil && slices.Contains(g.allowed, who.uid) {
			return &clientConn{Conn: conn, client: g.clients.connected(who)}, nil
		}
		g.refused.Add(1)
		_ = conn.Close() // There is nobody to tell.
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

// callers are transport credentials that tell a call's handler whose connection
// the call came on. There is no handshake: the kernel has vouched for the client.
type callers struct{}

// caller is what a handler is told.
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

// clientOf returns the client that makes a call. A call that came on no
// connection is that of a client nobody asks about.
func clientOf(ctx context.Context) *client {
	if from, ok := peer.FromContext(ctx); ok {
		if info, ok := from.AuthInfo.(caller); ok {
			return info.client
		}
	}
	return newClient(0, credential{}, nil)
}
