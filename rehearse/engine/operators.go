package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/skewrig/skewrig/harness/await"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/pki"
	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/scenarios/ask"
)

// operators are programs that act on the objects of a side. One that ends is started again, as a kubelet does.
type operators struct {
	dir     string // has a directory for each, and their kubeconfigs
	env     map[string][]string
	listen  []string // where they serve webhooks
	started bool
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu    sync.Mutex
	exits map[string][]string // since they were taken, by the name
}

// prepareOperators makes what operators need, before anything is stored: directories, and where they are to serve webhooks.
func (s *side) prepareOperators() (err error) {
	o := &operators{exits: make(map[string][]string), env: make(map[string][]string), cancel: func() {}}
	if o.dir, err = os.MkdirTemp("", "skewrig-operators-"); err != nil {
		return err
	}
	s.operators, s.endpoints = o, make(map[string]rehearse.Endpoint)
	for _, of := range s.Operators {
		temporary := filepath.Join(o.dir, of.Name, "tmp")
		if err := os.MkdirAll(temporary, 0o700); err != nil {
			return err
		}
		o.env[of.Name] = []string{"TMPDIR=" + temporary}
		if len(of.Services) == 0 {
			continue
		}
		endpoint, env, err := serving(of, filepath.Join(temporary, certs))
		if err != nil {
			return fmt.Errorf("operator %s: preparing its webhooks: %w", of.Name, err)
		}
		o.env[of.Name], o.listen = append(o.env[of.Name], env...), append(o.listen, endpoint.Address)
		for _, service := range of.Services {
			s.endpoints[service] = endpoint
			s.stored.Mocked = append(s.stored.Mocked, "the way to the webhooks of Service "+service+": API servers ask a port of this machine")
		}
	}
	return nil
}

// certs is where controller-runtime looks for the certificate of webhooks, in the directory for temporary files
// (pkg/webhook/server.go).
var certs = filepath.Join("k8s-webhook-server", "serving-certs")

// serving writes a certificate for the webhooks of an operator, finds a free port, and returns the variables that have them.
func serving(of rehearse.Operator, dir string) (e rehearse.Endpoint, env []string, err error) {
	ca, err := pki.NewCA("skewrig webhooks of " + of.Name)
	if err != nil {
		return e, nil, err
	}
	const host = "127.0.0.1"
	pair, err := ca.Issue(pki.Request{CommonName: of.Name, Hosts: []string{host}})
	if err != nil {
		return e, nil, err
	}
	free, err := net.Listen("tcp", net.JoinHostPort(host, "0")) //nolint:noctx // no name is resolved
	if err != nil {
		return e, nil, err
	}
	e = rehearse.Endpoint{Address: free.Addr().String(), Trust: ca.CertPEM()}
	_, port, err := net.SplitHostPort(e.Address)
	err = errors.Join(err, free.Close(), os.MkdirAll(dir, 0o700))
	if err == nil {
		_, _, err = pair.Write(dir, "tls")
	}
	return e, []string{rehearse.WebhookPort + "=" + port, rehearse.WebhookCerts + "=" + dir}, errors.Join(err, os.WriteFile(filepath.Join(dir, "ca.crt"), e.Trust, 0o600))
}

// startOperators starts the operators of a side, unless they run.
func (s *side) startOperators(asking context.Context) error {
	o := s.operators
	if o.started {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	o.cancel, o.started = cancel, true
	for _, of := range s.Operators {
		env, err := s.environ(asking, of)
		if err != nil {
			return fmt.Errorf("operator %s: %w", of.Name, err)
		}
		log, err := os.OpenFile(filepath.Join(s.out.LogDir, "operator-"+of.Name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		command := process.Command{
			Path: of.Path, Args: expand(of.Args, env), Name: "operator " + of.Name, Stdout: log, Stderr: log,
			Env: append(process.ToolEnv(), env...),
		}
		o.running.Go(func() {
			defer log.Close()
			o.keep(ctx, of.Name, command)
		})
	}
	return o.await(asking, limit)
}

// expand puts variables in the place of $(NAME) in arguments, as Kubernetes does in those of a container.
func expand(args, env []string) (expanded []string) {
	var pairs []string
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		pairs = append(pairs, "$("+name+")", value)
	}
	replacer := strings.NewReplacer(pairs...)
	for _, arg := range args {
		expanded = append(expanded, replacer.Replace(arg))
	}
	return expanded
}

// await waits until webhooks are served, for as long as a limit: API servers refuse what they can't ask about. An error is one of
// the context.
func (o *operators) await(ctx context.Context, limit time.Duration) error {
	var dialer net.Dialer
	for _, address := range o.listen {
		await.Until(ctx, limit, func() bool {
			conn, err := dialer.DialContext(ctx, "tcp", address)
			return err == nil && conn.Close() == nil
		})
	}
	return context.Cause(ctx)
}

// environ is by what an operator finds the API server that controllers ask, with the rights of its ServiceAccount: a kubeconfig,
// and what a pod has.
func (s *side) environ(ctx context.Context, of rehearse.Operator) ([]string, error) {
	path, err := s.cluster.ClientKubeconfig(of.Name)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return nil, err
	}
	if err := api.FlattenConfig(config); err != nil {
		return nil, err
	}
	env := append([]string{"POD_NAMESPACE=" + of.Namespace, "POD_NAME=" + of.Name + "-0"}, s.operators.env[of.Name]...)
	if of.InCluster {
		pods, err := s.podEnviron(ctx, of, config.Clusters[config.Contexts[config.CurrentContext].Cluster])
		if err != nil {
			return nil, err
		}
		env = append(env, pods...)
	}
	kubeconfig, err := s.kubeconfig(of, config)
	return append(env, "KUBECONFIG="+kubeconfig), err
}

// podEnviron writes the files of a ServiceAccount, and returns what a pod finds them and the API server by.
func (s *side) podEnviron(ctx context.Context, of rehearse.Operator, server *api.Cluster) ([]string, error) {
	at, err := url.Parse(server.Server)
	if err != nil {
		return nil, err
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(tokenLife.Seconds()))}}
	token, err := s.cluster.Client().CoreV1().ServiceAccounts(of.Namespace).CreateToken(ctx, of.Account, request, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(s.operators.dir, of.Name)
	for name, content := range map[string][]byte{"token": []byte(token.Status.Token), "ca.crt": server.CertificateAuthorityData, "namespace": []byte(of.Namespace)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return nil, err
		}
	}
	return []string{"KUBERNETES_SERVICE_HOST=" + at.Hostname(), "KUBERNETES_SERVICE_PORT=" + at.Port(), build.ServiceAccountDir + "=" + dir}, nil
}

// tokenLife is longer than any rehearsal.
const tokenLife = 24 * time.Hour

// kubeconfig writes a kubeconfig with the rights of an operator's ServiceAccount.
func (s *side) kubeconfig(of rehearse.Operator, config *api.Config) (string, error) {
	for _, user := range config.AuthInfos {
		user.Impersonate = "system:serviceaccount:" + of.Namespace + ":" + of.Account
		user.ImpersonateGroups = []string{"system:serviceaccounts", "system:serviceaccounts:" + of.Namespace, "system:authenticated"}
	}
	own := filepath.Join(s.operators.dir, of.Name+".kubeconfig")
	return own, clientcmd.WriteToFile(*config, own)
}

// The time until a program that ended is started again is doubled each time, from firstPause to lastPause.
const firstPause, lastPause = time.Second, 10 * time.Second

// keep runs a program until the context ends.
func (o *operators) keep(ctx context.Context, name string, command process.Command) {
	for wait := firstPause; ctx.Err() == nil; wait = min(2*wait, lastPause) {
		tail := new(tail)
		run := command
		run.Stdout, run.Stderr = io.MultiWriter(command.Stdout, tail), io.MultiWriter(command.Stderr, tail)
		_, err := run.Run(ctx)
		if ctx.Err() != nil {
			return
		}
		text := process.Cause(tail.String())
		if text == "" && err != nil {
			text = err.Error()
		}
		o.mu.Lock()
		o.exits[name] = append(o.exits[name], text)
		o.mu.Unlock()
		if ask.Sleep(ctx, wait) != nil {
			return
		}
	}
}

// take returns how operators ended since the last time.
func (o *operators) take() map[string][]string {
	o.mu.Lock()
	defer o.mu.Unlock()
	exits := o.exits
	o.exits = make(map[string][]string)
	return exits
}

// stop ends the operators, and removes their kubeconfigs.
func (o *operators) stop() error {
	if o == nil {
		return nil
	}
	o.cancel()
	o.running.Wait()
	return os.RemoveAll(o.dir)
}

// tail keeps the end of what a program writes.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const maxTail = 64 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-maxTail):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
