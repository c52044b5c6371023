package server

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"golang.org/x/net/http2"

	"github.com/skewrig/skewrig/record"
)

const (
	// maxFirst is how much of the beginning of a connection is kept: enough
	// for a request line.
	maxFirst = 1 << 10
	// maxHello is how much is kept where TLS begins: one record, the longest
	// that there is (RFC 8446 section 5.1).
	maxHello = 5 + 1<<14
	// maxFirstHex is how much of it is recorded.
	maxFirstHex = 64

	recordHandshake   = 0x16
	handshakeOfClient = 0x01
	recordHeaderSize  = 5
)

// Classify says what the first bytes of a connection are. It looks at no more
// than the first KiB.
func Classify(first []byte) record.First {
	first = first[:min(len(first), maxFirst)]
	switch {
	case len(first) == 0:
		return record.FirstNothing
	case isClientHello(first):
		return record.FirstTLS
	case bytes.HasPrefix(first, []byte(http2.ClientPreface)):
		return record.FirstHTTP2
	case isRequestLine(first):
		return record.FirstHTTP1
	default:
		return record.FirstOther
	}
}

// isClientHello looks at the header of the record, whose version is 3.x for
// every version of TLS, and at the type of the message in it.
func isClientHello(b []byte) bool {
	return len(b) > recordHeaderSize && b[0] == recordHandshake && b[1] == 3 && b[recordHeaderSize] == handshakeOfClient
}

// isRequestLine reports whether b begins as "GET / HTTP/1.1" does. Of a line
// longer than b, method and target must do.
func isRequestLine(b []byte) bool {
	line, _, complete := bytes.Cut(b, []byte("\n"))
	method, rest, found := bytes.Cut(line, []byte(" "))
	if !found || len(method) == 0 || len(method) > 20 || !isUpper(method) {
		return false
	}
	target, version, found := bytes.Cut(rest, []byte(" "))
	if len(target) == 0 || !isPrintable(target) {
		return false
	}
	if !complete {
		return found || len(b) == maxFirst
	}
	return bytes.HasPrefix(version, []byte("HTTP/1."))
}

func isUpper(b []byte) bool {
	return !bytes.ContainsFunc(b, func(r rune) bool { return r < 'A' || r > 'Z' })
}

func isPrintable(b []byte) bool {
	return !bytes.ContainsFunc(b, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

// appendFirst adds what has arrived to the first bytes of a connection, as far
// as they are kept.
func appendFirst(first, b []byte) []byte {
	if len(first) == 0 && len(b) > 0 {
		first, b = []byte{b[0]}, b[1:]
	}
	limit := maxFirst
	if len(first) > 0 && first[0] == recordHandshake {
		limit = maxHello
	}
	return append(first, b[:min(len(b), limit-len(first))]...)
}

// errRead ends a handshake that was begun only to read the ClientHello.
var errRead = errors.New("the ClientHello has been read")

// parseClientHello reads the ClientHello at the start of first, and returns
// nil if it isn't one or isn't complete. crypto/tls parses it, as it would for
// a server, so this works where no TLS server runs.
func parseClientHello(first []byte) *record.ClientHello {
	if !isClientHello(first) {
		return nil
	}
	var hello *record.ClientHello
	config := &tls.Config{GetConfigForClient: func(info *tls.ClientHelloInfo) (*tls.Config, error) {
		hello = newClientHello(info)
		return nil, errRead
	}}
	// The outcome is always an error: what counts is whether the ClientHello
	// was understood before it.
	_ = tls.Server(&replay{in: bytes.NewReader(first)}, config).Handshake()
	return hello
}

func newClientHello(info *tls.ClientHelloInfo) *record.ClientHello {
	hello := &record.ClientHello{
		ServerName:   cut(info.ServerName),
		CipherSuites: len(info.CipherSuites),
	}
	for _, version := range info.SupportedVersions[:min(len(info.SupportedVersions), maxListed)] {
		hello.Versions = append(hello.Versions, versionName(version))
	}
	for _, protocol := range info.SupportedProtos[:min(len(info.SupportedProtos), maxListed)] {
		hello.ALPN = append(hello.ALPN, cut(protocol))
	}
	return hello
}

// versionName returns "1.3" where crypto/tls says "TLS 1.3".
func versionName(version uint16) string {
	return strings.TrimPrefix(tls.VersionName(version), "TLS ")
}

func versionNumber(name string) uint16 {
	versions := []uint16{tls.VersionTLS12, tls.VersionTLS13}
	i := slices.IndexFunc(versions, func(v uint16) bool { return versionName(v) == name })
	if i < 0 {
		return 0
	}
	return versions[i]
}

// replay is a connection on which the given bytes arrive, and nothing is sent.
type replay struct {
	net.Conn
	in io.Reader
}

func (r *replay) Read(p []byte) (int, error) { return r.in.Read(p) }
func (*replay) Write(p []byte) (int, error)  { return len(p), nil }
