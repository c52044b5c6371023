package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
)

// Kubectl implements action.Rig.
func (r *run) Kubectl(ctx context.Context, k action.Kubectl, judged bool) error {
	program, err := r.binary(ctx, build.Target{Component: build.Kubectl, Version: k.Version})
	if err != nil {
		return err
	}
	kubeconfig, err := r.kubeconfig(r.server(""))
	if err != nil {
		return err
	}
	ran, err := runKubectl(ctx, program, kubeconfig, k)
	if err != nil {
		return err
	}
	r.history.Append("engine", r.current.Name, ran)
	if ran.Code != 0 && !judged {
		return fmt.Errorf("%w: it ended with exit code %d: %s", errUnmet, ran.Code, ran.Errors)
	}
	return nil
}

// runKubectl runs a kubectl to its end, in an empty directory and with next to no environment, so
// that it finds no files, plugins or settings of this machine.
func runKubectl(ctx context.Context, program build.Binary, kubeconfig string, k action.Kubectl) (ran record.KubectlRan, err error) {
	dir, err := os.MkdirTemp("", "skewrig-kubectl-")
	if err != nil {
		return ran, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	input, err := documents(k.Input)
	if err != nil {
		return ran, err
	}
	began := time.Now()
	ended, err := process.Command{
		Path: program.Path, Args: k.Args, Dir: dir, Stdin: bytes.NewReader(input),
		Env:      append(process.Offline(), "HOME="+dir, "KUBECONFIG="+kubeconfig),
		Confined: &process.Confinement{Dir: dir, Read: []string{kubeconfig}},
	}.Run(ctx)
	if ctx.Err() != nil {
		return ran, context.Cause(ctx)
	}
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		return ran, err
	}
	ran = record.KubectlRan{
		Program: fmt.Sprintf("%s@%s", program.Component, program.Version), Code: ended.State.ExitCode(),
		Errors: strings.TrimSpace(string(ended.Stderr)), Output: strings.TrimSpace(string(ended.Stdout)), Seconds: time.Since(began).Seconds(),
	}
	if json.Valid(ended.Stdout) {
		ran.Output = json.RawMessage(ended.Stdout)
	}
	return ran, nil
}

// documents are objects as one text.
func documents(objects []map[string]any) (text []byte, err error) {
	for _, object := range objects {
		document, err := yaml.Marshal(object)
		if err != nil {
			return nil, err
		}
		text = append(append(text, "---\n"...), document...)
	}
	return text, nil
}
