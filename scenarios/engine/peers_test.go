package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// TestCheckPeers: a ready-made API server can't be one of several that know each other.
func TestCheckPeers(t *testing.T) {
	t.Parallel()
	servers := func(proxy bool) plan.Cell {
		member := record.Component{Name: "kube-apiserver/a", Version: "v1.37.1"}
		return plan.Cell{Topology: record.Topology{Version: "v1.37.1", Members: []record.Component{member}, PeerProxy: proxy}}
	}
	for source, want := range map[string]string{build.ReadyMade: "leave out /bin/kube-apiserver", "k8s.io/kubernetes@v1.37.1": ""} {
		binary := func(context.Context, build.Target) (build.Binary, error) {
			return build.Binary{Path: "/bin/kube-apiserver", Source: source}, nil
		}
		err := CheckPeers(t.Context(), []plan.Cell{servers(true)}, binary)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", source, err, want)
		}
		if err := CheckPeers(t.Context(), []plan.Cell{servers(false)}, binary); err != nil {
			t.Errorf("%s, without a proxy: %v", source, err)
		}
	}
}
