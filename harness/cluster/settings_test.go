package cluster

import (
	"context"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/record"
)

// outsideSettings reach beyond a rig.
var outsideSettings = record.Settings{Flags: map[string]string{"log-dir": "/tmp"}}

// TestSettingsOutside: nothing starts with settings that reach beyond the rig, unless that is allowed.
func TestSettingsOutside(t *testing.T) {
	topology := record.Topology{
		Etcd:    record.Settings{Flags: map[string]string{"log-outputs": "/tmp/a"}},
		Members: []record.Component{{Name: "kube-apiserver/b", Settings: outsideSettings}},
		Nodes:   []record.Node{{Name: "a", Settings: record.Settings{Config: map[string]any{"volumePluginDir": "/tmp"}}}},
	}
	_, err := New(t.Context(), Config{Topology: topology, TempDir: "/does/not/exist"})
	for _, want := range []string{"etcd: log-outputs", "kube-apiserver/b: log-dir", "kubelet/a: volumePluginDir"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not have %q: %v", want, err)
		}
	}
	allowed := rightConfig(t)
	allowed.Topology, allowed.Via, allowed.AllowHost = topology, nil, true
	if err := allowed.validate(); err != nil {
		t.Error(err)
	}
}

// TestChangeOutside: a component is not started again with such settings either.
func TestChangeOutside(t *testing.T) {
	c := &Cluster{cfg: Config{Binary: func(context.Context, build.Target) (build.Binary, error) {
		t.Error("it is started")
		return build.Binary{}, context.Canceled
	}}}
	c.ctx, c.fail = context.WithCancelCause(t.Context())
	c.add(&component{name: "kubelet/a", kind: build.Kubelet})
	err := c.Start(t.Context(), "kubelet/a", Change{Settings: outsideSettings})
	if err == nil || !strings.Contains(err.Error(), "kubelet/a: log-dir") {
		t.Error(err)
	}
}
