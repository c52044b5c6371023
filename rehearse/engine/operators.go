package engine

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/scenarios/ask"
)

// operators are programs that act on the objects of a side. One that ends is started again, as a kubelet does.
type operators struct {
	dir     string // has their kubeconfigs
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu    sync.Mutex
	exits map[string][]string // since they were taken, by the name
}

// startOperators starts the operators of a side.
func (s *side) startOperators(asking context.Context) (err error) {
	o := &operators{exits: make(map[string][]string)}
	if o.dir, err = os.MkdirTemp("", "skewrig-operators-"); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	o.cancel = cancel
	s.operators = o
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
			Path: of.Path, Args: of.Args, Name: "operator " + of.Name, Stdout: log, Stderr: log,
			Env: append(process.ToolEnv(), env...),
		}
		o.running.Go(func() {
			defer log.Close()
			o.keep(ctx, of.Name, command)
		})
	}
	return nil
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
	env := []string{"POD_NAMESPACE=" + of.Namespace, "POD_NAME=" + of.Name + "-0"}
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
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
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
	if o == nil {
		return nil
	}
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
