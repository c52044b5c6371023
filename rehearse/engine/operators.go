package engine

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

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
func (s *side) startOperators() (err error) {
	o := &operators{exits: make(map[string][]string)}
	if o.dir, err = os.MkdirTemp("", "skewrig-operators-"); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	o.cancel = cancel
	s.operators = o
	for _, of := range s.Operators {
		kubeconfig, err := s.kubeconfig(of)
		if err != nil {
			return fmt.Errorf("operator %s: %w", of.Name, err)
		}
		log, err := os.OpenFile(filepath.Join(s.out.LogDir, "operator-"+of.Name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		command := process.Command{
			Path: of.Path, Args: of.Args, Name: "operator " + of.Name, Stdout: log, Stderr: log,
			Env: append(process.ToolEnv(), "KUBECONFIG="+kubeconfig, "POD_NAMESPACE="+of.Namespace, "POD_NAME="+of.Name+"-0"),
		}
		o.running.Go(func() {
			defer log.Close()
			o.keep(ctx, of.Name, command)
		})
	}
	return nil
}

// kubeconfig writes a kubeconfig with the rights of an operator's ServiceAccount, which leads to the API server of controllers.
func (s *side) kubeconfig(of rehearse.Operator) (string, error) {
	path, err := s.cluster.ClientKubeconfig(of.Name)
	if err != nil {
		return "", err
	}
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return "", err
	}
	if err := api.FlattenConfig(config); err != nil {
		return "", err
	}
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
