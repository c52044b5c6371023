// Package pki is a small certificate authority for one run: it signs what the
// components of a rig need to trust each other, and the certificates, good and
// bad, that fake servers present. Keys never leave the run's directory.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"
)

// backdate is how long before now a certificate starts to be valid, so that a
// component whose clock runs behind still accepts it.
const backdate = time.Hour

// lifetime is how long a certificate is valid. A rig lives for minutes, or
// days when a person works in it.
const lifetime = 30 * 24 * time.Hour

// CA signs certificates.
type CA struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Pair is a certificate and its private key, both PEM-encoded.
type Pair struct {
	CertPEM []byte
	KeyPEM  []byte
}

// Request says what a certificate is for.
type Request struct {
	// CommonName is the subject's name: a user name for a client certificate.
	CommonName string
	// Organizations are the subject's groups, in Kubernetes' reading of a
	// client certificate.
	Organizations []string
	// Hosts are the DNS names and IP addresses that a server certificate is
	// valid for. If unset, the certificate is for clients only.
	Hosts []string
	// NotBefore and NotAfter bound the certificate's validity. If unset, it is
	// valid from an hour ago for 30 days.
	NotBefore, NotAfter time.Time
}

// NewCA makes a certificate authority with the given common name.
func NewCA(commonName string) (*CA, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: commonName},
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := sign(template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("signing CA %q: %w", commonName, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &CA{cert: cert, key: key}, nil
}

// CertPEM returns the authority's own certificate, PEM-encoded.
func (ca *CA) CertPEM() []byte { return certPEM(ca.cert.Raw) }

// Pool returns a pool that trusts only this authority.
func (ca *CA) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	return pool
}

// Issue signs a new certificate with a new key.
func (ca *CA) Issue(r Request) (Pair, error) { return issue(r, ca) }

// SelfSigned makes a certificate that is signed by its own key.
func SelfSigned(r Request) (Pair, error) { return issue(r, nil) }

// issue has the authority sign a certificate, or its own key if there is none.
func issue(r Request, by *CA) (Pair, error) {
	key, err := newKey()
	if err != nil {
		return Pair{}, err
	}
	template := leaf(r)
	if by == nil {
		by = &CA{cert: template, key: key}
	}
	der, err := sign(template, by.cert, &key.PublicKey, by.key)
	if err != nil {
		return Pair{}, fmt.Errorf("signing a certificate for %q: %w", r.CommonName, err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{CertPEM: certPEM(der), KeyPEM: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})}, nil
}

// TLS returns the pair as crypto/tls wants it.
func (p Pair) TLS() (tls.Certificate, error) { return tls.X509KeyPair(p.CertPEM, p.KeyPEM) }

// Write stores the pair as dir/name.crt and dir/name.key, readable by the
// owner only, and returns the two paths.
func (p Pair) Write(dir, name string) (certPath, keyPath string, err error) {
	certPath = filepath.Join(dir, name+".crt")
	keyPath = filepath.Join(dir, name+".key")
	return certPath, keyPath, errors.Join(os.WriteFile(certPath, p.CertPEM, 0o600), os.WriteFile(keyPath, p.KeyPEM, 0o600))
}

func leaf(r Request) *x509.Certificate {
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: r.CommonName, Organization: r.Organizations},
		NotBefore:   r.NotBefore,
		NotAfter:    r.NotAfter,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	for _, host := range r.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	if len(r.Hosts) > 0 {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	return template
}

// sign fills in the validity where it is unset, and signs.
func sign(template, parent *x509.Certificate, public *ecdsa.PublicKey, key *ecdsa.PrivateKey) ([]byte, error) {
	if template.NotBefore.IsZero() {
		template.NotBefore = time.Now().Add(-backdate)
	}
	if template.NotAfter.IsZero() {
		template.NotAfter = time.Now().Add(lifetime)
	}
	return x509.CreateCertificate(rand.Reader, template, parent, public, key)
}

func newKey() (*ecdsa.PrivateKey, error) {
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

func certPEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
