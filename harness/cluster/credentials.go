package cluster

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/keyutil"

	"github.com/skewrig/skewrig/harness/pki"
)

// credentials is a rig's own certificate authority and what it has signed, in
// one directory.
type credentials struct {
	dir string
	ca  *pki.CA
}

func newCredentials(dir string) (*credentials, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	ca, err := pki.NewCA("skewrig")
	if err != nil {
		return nil, err
	}
	signer, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return nil, err
	}
	c := &credentials{dir: dir, ca: ca}
	return c, errors.Join(os.WriteFile(c.caFile(), ca.CertPEM(), 0o600), os.WriteFile(c.serviceAccountKey(), signer, 0o600))
}

func (c *credentials) caFile() string { return filepath.Join(c.dir, "ca.crt") }

// serviceAccountKey is the key that signs service account tokens.
func (c *credentials) serviceAccountKey() string { return filepath.Join(c.dir, "service-accounts.key") }

// issue signs a certificate and writes it and its key.
func (c *credentials) issue(file string, r pki.Request) (keyPair, error) {
	pair, err := c.ca.Issue(r)
	if err != nil {
		return keyPair{}, err
	}
	cert, key, err := pair.Write(c.dir, file)
	return keyPair{cert: cert, key: key}, err
}

// serve issues the certificate of a server, which is also known by other names.
func (c *credentials) serve(file, name, address string, others ...string) (serving, error) {
	pair, err := c.issue(file, pki.Request{CommonName: name, Hosts: append([]string{address}, others...)})
	return serving{address: address, keyPair: pair}, err
}

// Serving returns the address at which fake servers that API servers ask may listen, a
// certificate for it, and the certificate of the authority, in PEM, by which it is trusted.
func (c *Cluster) Serving(name string) (host string, certificate tls.Certificate, trust []byte, err error) {
	host = c.block.controlPlane().String()
	pair, err := c.creds.ca.Issue(pki.Request{CommonName: name, Hosts: []string{host}})
	if err != nil {
		return "", certificate, nil, err
	}
	certificate, err = pair.TLS()
	return host, certificate, c.creds.ca.CertPEM(), err
}

// administrator is a client that may do everything.
func administrator(name string) pki.Request {
	return pki.Request{CommonName: name, Organizations: []string{"system:masters"}}
}

func nodeClient(node string) pki.Request {
	return pki.Request{CommonName: "system:node:" + node, Organizations: []string{"system:nodes"}}
}

// kubeconfig writes a self-contained kubeconfig for a client, which leads to a
// server.
func (c *credentials) kubeconfig(file string, who pki.Request, server string) (string, error) {
	pair, err := c.ca.Issue(who)
	if err != nil {
		return "", err
	}
	const rig = "skewrig"
	config := clientcmdapi.NewConfig()
	config.Clusters[rig] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: c.ca.CertPEM()}
	config.AuthInfos[who.CommonName] = &clientcmdapi.AuthInfo{ClientCertificateData: pair.CertPEM, ClientKeyData: pair.KeyPEM}
	config.Contexts[rig] = &clientcmdapi.Context{Cluster: rig, AuthInfo: who.CommonName}
	config.CurrentContext = rig
	path := filepath.Join(c.dir, file+".kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil { // 0600
		return "", fmt.Errorf("writing the kubeconfig of %s: %w", who.CommonName, err)
	}
	return path, nil
}

// restConfig is what a kubeconfig says as a client configuration, unthrottled.
func restConfig(kubeconfig string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.UserAgent, config.QPS = "skewrig", -1
	config.WarningHandler = rest.NoWarnings{} // a library must not log on its own
	return config, nil
}
