package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/build"
)

// TestRunOutside: a scenario that reaches beyond its rig is refused by name, before anything is built.
func TestRunOutside(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	text := `apiVersion: skewrig.dev/v1alpha1
kind: Scenario
id: mine/host/outside
title: etcd writes a file of the machine
topology:
  controlPlane: {flags: {etcd: {log-outputs: /home/a/.bashrc}}}
steps:
- checks:
  - {id: a, observe: 'true', is: true, eventually: 1s}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cells, err := Select([]string{file})
	if err != nil {
		t.Fatal(err)
	}
	asked, noBinary := false, errors.New("no binary")
	o := Options{Dir: filepath.Join(t.TempDir(), "report"), Binary: func(context.Context, build.Target) (build.Binary, error) {
		asked = true
		return build.Binary{}, noBinary
	}}
	_, err = Run(t.Context(), cells, o)
	if want := `mine.yaml:6:46: etcd: log-outputs: "/home/a/.bashrc" is not allowed: the component writes files outside of the rig`; err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), AllowHost) {
		t.Errorf("the error is %v, want %s", err, want)
	}
	if asked {
		t.Error("a component was asked for")
	}
	o.AllowHost = true
	if _, err = Run(t.Context(), cells, o); !errors.Is(err, noBinary) {
		t.Errorf("with %s, the error is %v", AllowHost, err)
	}
}
