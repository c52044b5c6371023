package engine

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/sweep/trial"
)

// exiting is the error of a process that ends with 1: before it is ready, or afterwards.
func exiting(t *testing.T, ready error) *process.ExitError {
	t.Helper()
	p, err := process.Start(t.Context(), process.Config{
		Name: "kube-controller-manager/a v1.37.1", Path: "/bin/sh", Args: []string{"-c", "echo leaderelection lost; exit 1"},
		Log: filepath.Join(t.TempDir(), "log"), Ready: func(context.Context) error { return ready },
	})
	if err == nil {
		<-p.Exited()
		return p.Exit()
	}
	exit, is := errors.AsType[*process.ExitError](err)
	if !is {
		t.Fatal(err)
	}
	return exit
}

// TestExitOf: that a component ends by itself is seen of it, with its name and how, whether the plan notices or not. All
// else that goes wrong is an error.
func TestExitOf(t *testing.T) {
	t.Parallel()
	ran, never := exiting(t, nil), exiting(t, errors.New("not yet"))
	of := func(e *process.ExitError, started bool) *trial.Exit {
		return &trial.Exit{Component: "kube-controller-manager/a", Started: started, State: "exit status 1", Text: e.Error()}
	}
	other := errors.New("connection refused")
	for name, tc := range map[string]struct {
		rig, plan   error
		interrupted bool
		want        *trial.Exit
		err         error
	}{
		"it ends":                   {ran, ran, false, of(ran, true), nil},
		"it ends, and others fail":  {ran, other, false, of(ran, true), nil},
		"it ends in the last phase": {ran, nil, false, of(ran, true), nil},
		"it does not start":         {nil, errors.Join(never, nil), false, of(never, false), nil},
		"all is well":               {nil, nil, false, nil, nil},
		"something else fails":      {nil, other, false, nil, other},
		"the rig fails unnoticed":   {other, nil, false, nil, other},
		"the sweep is interrupted":  {nil, never, true, nil, never},
	} {
		ctx, interrupt := context.WithCancel(t.Context())
		rig, end := context.WithCancelCause(t.Context())
		if tc.rig != nil {
			end(tc.rig)
		}
		if tc.interrupted {
			interrupt()
		}
		exit, err := exitOf(ctx, rig, tc.plan)
		if diff := cmp.Diff(tc.want, exit); diff != "" || !errors.Is(err, tc.err) || (err == nil) != (tc.err == nil) {
			t.Errorf("%s: %v; (-want +got):\n%s", name, err, diff)
		}
		interrupt()
		end(nil)
	}
}
