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
	kubeconfig, err := r.kubeconfig("")
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
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, program.Path, k.Args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, []string{"HOME=" + dir, "KUBECONFIG=" + kubeconfig}, bytes.NewReader(input), &out, &said
	began := time.Now()
	err = process.Run(cmd)
	if ctx.Err() != nil {
		return ran, context.Cause(ctx)
	}
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		return ran, err
	}
	ran = record.KubectlRan{
		Program: fmt.Sprintf("%s@%s", program.Component, program.Version), Code: cmd.ProcessState.ExitCode(),
		Errors: strings.TrimSpace(said.String()), Output: strings.TrimSpace(out.String()), Seconds: time.Since(began).Seconds(),
	}
	if json.Valid(out.Bytes()) {
		ran.Output = json.RawMessage(out.Bytes())
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
