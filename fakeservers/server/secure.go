package server

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/pki"
)

const day = 24 * time.Hour

// tlsConfig returns how the port presents itself over TLS, and nil if it
// doesn't.
func tlsConfig(config Config) (*tls.Config, error) {
	listener := config.Listener
	if !listener.Protocol.TLS() {
		return nil, nil
	}
	secure := &tls.Config{NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12}
	if listener.Protocol.HTTP() {
		secure.NextProtos = append(secure.NextProtos, "http/1.1")
	}
	if t := listener.TLS; t != nil {
		secure.MinVersion = cmp.Or(versionNumber(t.MinVersion), tls.VersionTLS12)
		secure.MaxVersion = versionNumber(t.MaxVersion)
		if t.RequireClientCertificate {
			secure.ClientAuth = tls.RequireAnyClientCert
		}
	}
	if config.Certificate != nil {
		secure.Certificates = []tls.Certificate{*config.Certificate}
		return secure, nil
	}
	kind := certificateKind(listener)
	certificate, err := makeCertificate(kind, config.IP.String())
	if err != nil {
		return nil, fmt.Errorf("making a %s certificate for port %d: %w", kind, listener.Port, err)
	}
	secure.Certificates = []tls.Certificate{certificate}
	return secure, nil
}

// handshake does the TLS handshake of a connection, when it is time for it.
func (s *Server) handshake(raw net.Conn, secure *tls.Config) (*tls.Conn, error) {
	inner := tls.Server(raw, secure)
	if t := s.config.Listener.TLS; t != nil && !s.wait(s.ctx, time.Duration(t.Delay)) {
		return inner, net.ErrClosed
	}
	return inner, inner.HandshakeContext(s.ctx)
}

// peeked is a connection of which the first byte was read already.
type peeked struct {
	*conn
	first []byte
}

// Read reads the first byte again, and then what follows.
func (p *peeked) Read(b []byte) (int, error) {
	if len(p.first) == 0 {
		return p.conn.Read(b)
	}
	n := copy(b, p.first)
	p.first = p.first[n:]
	return n, nil
}

// encrypted reports whether there is TLS on a connection, which on some ports the
// client's first byte decides. The connection is to be read from what is returned.
func (s *Server) encrypted(c *conn) (net.Conn, bool, error) {
	if p := s.config.Listener.Protocol; !p.Either() {
		return c, p.TLS(), nil
	}
	first := make([]byte, 1)
	if _, err := io.ReadFull(c, first); err != nil {
		return c, false, err
	}
	return &peeked{conn: c, first: first}, first[0] == recordHandshake, nil
}

func certificateKind(listener behavior.Listener) behavior.Certificate {
	if listener.TLS == nil {
		return behavior.SelfSigned
	}
	return cmp.Or(listener.TLS.Certificate, behavior.SelfSigned)
}

func makeCertificate(kind behavior.Certificate, host string) (tls.Certificate, error) {
	request := pki.Request{CommonName: "skewrig fake server", Hosts: []string{host, "localhost"}}
	now := time.Now()
	switch kind {
	case behavior.Expired:
		request.NotBefore, request.NotAfter = now.Add(-2*day), now.Add(-day)
	case behavior.NotYetValid:
		request.NotBefore, request.NotAfter = now.Add(day), now.Add(2*day)
	case behavior.WrongName:
		request.Hosts = []string{"wrong.example"}
	case behavior.UnknownCA:
		ca, err := pki.NewCA("skewrig unknown authority")
		if err != nil {
			return tls.Certificate{}, err
		}
		return asTLS(ca.Issue(request))
	}
	return asTLS(pki.SelfSigned(request))
}

func asTLS(pair pki.Pair, err error) (tls.Certificate, error) {
	if err != nil {
		return tls.Certificate{}, err
	}
	return pair.TLS()
}
