package server

import (
	"cmp"
	"crypto/tls"
	"fmt"
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
	if listener.Protocol == behavior.HTTPS {
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
