// Package existing connects to a cluster that others run. It reads what the cluster
// is, makes namespaces there, watches what is in them, and takes them away again. It writes
// nothing else.
package existing

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/skewrig/skewrig/harness/files"
)

// Config says which cluster is meant, as kubectl's flags do.
type Config struct {
	// Kubeconfig is a file. If unset, those of the environment variable KUBECONFIG, or
	// ~/.kube/config.
	Kubeconfig string
	// Context is one of the file. If unset, its current one.
	Context string
}

// Cluster is an existing cluster.
type Cluster struct {
	rest   *rest.Config
	client kubernetes.Interface
	host   string // of the API server's URL
	user   string // as the API server knows it; empty if it does not say
	run    string
}

// answerLimit is how long the cluster may take for its first answer.
const answerLimit = 15 * time.Second

// requestsPerSecond limits the requests of each client: a cell sends few, and they must not
// delay those of the cluster's other clients.
const requestsPerSecond = 50

// Connect connects to a cluster, and returns once it has answered. Nothing is written.
func Connect(ctx context.Context, of Config) (*Cluster, error) {
	config, _, err := of.Load()
	if err != nil {
		return nil, err
	}
	config.UserAgent, config.QPS, config.Burst = "skewrig", requestsPerSecond, 2*requestsPerSecond
	config.WarningHandler = rest.NoWarnings{}
	c := &Cluster{rest: config, host: hostOf(config.Host), run: newRun()}
	if c.client, err = kubernetes.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("using the kubeconfig: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, answerLimit, fmt.Errorf("no answer within %s", answerLimit))
	defer cancel()
	if _, err = c.readVersion(ctx); err != nil {
		return nil, fmt.Errorf("asking the API server of the kubeconfig for its version: %w", errors.Join(err, ended(ctx)))
	}
	if me, err := c.client.AuthenticationV1().SelfSubjectReviews().Create(ctx, new(authenticationv1.SelfSubjectReview), metav1.CreateOptions{}); err == nil {
		c.user = me.Status.UserInfo.Username
	}
	return c, nil
}

// ended is why a context has ended; nil if it has not.
func ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}

// Load reads the kubeconfig, by the rules that kubectl has: how to connect, and the namespace of
// the context. It asks nothing.
func (of Config) Load() (config *rest.Config, namespace string, err error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = of.Kubeconfig
	if err := readable(rules.GetLoadingPrecedence()); err != nil {
		return nil, "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: of.Context})
	config, err = loader.ClientConfig()
	if err == nil {
		namespace, _, err = loader.Namespace()
	}
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, "", errors.New("there is no kubeconfig, or it names no cluster: name one with --kubeconfig or the environment variable KUBECONFIG")
	case err != nil:
		return nil, "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return config, namespace, nil
}

// maxKubeconfig is the limit of a kubeconfig, which may have certificates of many clusters.
const maxKubeconfig = 16 << 20

// readable returns an error if a kubeconfig exists and is no regular file of a size that can be
// read. client-go, which reads it, would wait for a FIFO.
func readable(kubeconfigs []string) error {
	var problems []error
	for _, path := range kubeconfigs {
		if _, err := files.Read(path, maxKubeconfig); err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// hostOf is the host of a URL, or of HOST:PORT.
func hostOf(address string) string {
	at, err := url.Parse(address)
	if err != nil || at.Host == "" {
		at, err = url.Parse("https://" + address)
	}
	if err != nil {
		return ""
	}
	return at.Hostname()
}

// newRun is an id that no other run has.
func newRun() string {
	id := make([]byte, 4)
	_, _ = rand.Read(id) // it never fails
	return hex.EncodeToString(id)
}

// Run is the id of this run: namespaces that it made have it as the value of RunLabel.
func (c *Cluster) Run() string { return c.run }

// RESTConfig is how a client connects to the cluster.
func (c *Cluster) RESTConfig() *rest.Config { return rest.CopyConfig(c.rest) }

// Host is the API server's host, and User whom it takes the client for: what a report must not
// have. User is empty if that is not known.
func (c *Cluster) Host() string { return c.host }

// User is described at Host.
func (c *Cluster) User() string { return c.user }
