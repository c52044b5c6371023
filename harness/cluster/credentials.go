package cluster

import (
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
	dir    string
	ca     *pki.CA
	server string // https URL of the API server
}

func newCredentials(dir, server string) (*credentials, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	ca, err := pki.NewCA("skewrig")
	if err != nil {
		return nil, err
	}
	c := &credentials{dir: dir, ca: ca, server: server}
	return c, errors.Join(os.WriteFile(c.caFile(), ca.CertPEM(), 0o600), c.writeServiceAccountKey())
}

func (c *credentials) caFile() string { return filepath.Join(c.dir, "ca.crt") }

func (c *credentials) serviceAccountKey() string { return filepath.Join(c.dir, "service-accounts.key") }

// writeServiceAccountKey makes the key that signs service account tokens.
func (c *credentials) writeServiceAccountKey() error {
	text, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return err
	}
	return os.WriteFile(c.serviceAccountKey(), text, 0o600)
}

// issue signs a certificate and returns the paths of it and its key.
func (c *credentials) issue(name string, r pki.Request) (certPath, keyPath string, err error) {
	pair, err := c.ca.Issue(r)
	if err != nil {
		return "", "", err
	}
	return pair.Write(c.dir, name)
}

// identity is who a client is to the API server.
type identity struct{ user, group string }

var (
	adminIdentity             = identity{"skewrig-admin", "system:masters"}
	kubeletClientIdentity     = identity{"kube-apiserver-kubelet-client", "system:masters"}
	controllerManagerIdentity = identity{"system:kube-controller-manager", ""}
	schedulerIdentity         = identity{"system:kube-scheduler", ""}
)

// guestIdentity is that of a program that is no part of Kubernetes.
func guestIdentity(name string) identity { return identity{name, "system:masters"} }

func nodeIdentity(node string) identity { return identity{"system:node:" + node, "system:nodes"} }

func (i identity) request() pki.Request {
	r := pki.Request{CommonName: i.user}
	if i.group != "" {
		r.Organizations = []string{i.group}
	}
	return r
}

// kubeconfig writes a self-contained kubeconfig for an identity, which leads to
// a server.
func (c *credentials) kubeconfig(name string, who identity, server string) (string, error) {
	pair, err := c.ca.Issue(who.request())
	if err != nil {
		return "", err
	}
	const rig = "skewrig"
	config := clientcmdapi.NewConfig()
	config.Clusters[rig] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: c.ca.CertPEM()}
	config.AuthInfos[who.user] = &clientcmdapi.AuthInfo{ClientCertificateData: pair.CertPEM, ClientKeyData: pair.KeyPEM}
	config.Contexts[rig] = &clientcmdapi.Context{Cluster: rig, AuthInfo: who.user}
	config.CurrentContext = rig
	path := filepath.Join(c.dir, name+".kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil { // 0600
		return "", fmt.Errorf("writing the kubeconfig of %s: %w", who.user, err)
	}
	return path, nil
}

// restConfig is the administrator's client configuration, unthrottled.
func (c *credentials) restConfig() (*rest.Config, error) {
	pair, err := c.ca.Issue(adminIdentity.request())
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host:      c.server,
		UserAgent: "skewrig",
		QPS:       -1,
		// A library must not log on its own.
		WarningHandler: rest.NoWarnings{},
		TLSClientConfig: rest.TLSClientConfig{
			CAData: c.ca.CertPEM(), CertData: pair.CertPEM, KeyData: pair.KeyPEM,
		},
	}, nil
}
