package skewtest

import (
	"errors"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
)

// TestMissing: nothing is built where that is not wanted, and the error says how it is.
func TestMissing(t *testing.T) {
	b := builder{&build.Builder{Dir: t.TempDir()}, discard}
	targets := []build.Target{
		{Component: build.Kubelet, Version: release.Newest}, {Component: build.Kubelet, Version: release.Newest},
		{Component: build.Scheduler, Version: release.Newest},
	}
	want := " build kubelet@" + string(release.Newest) + " kube-scheduler@" + string(release.Newest) + "`"
	for _, policy := range []string{skipMissing, failMissing} {
		t.Setenv(MissingEnv, policy)
		if err := b.provide(t.Context(), targets, nil); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", policy, err)
		}
	}
	t.Setenv(MissingEnv, "perhaps")
	if err := b.provide(t.Context(), targets, nil); err == nil || !strings.Contains(err.Error(), `"perhaps"`) {
		t.Errorf("a policy that there is not: %v", err)
	}
}

// TestProgram: in a module that requires skewrig, go run needs a version, and in ours it
// takes none.
func TestProgram(t *testing.T) {
	t.Parallel()
	const path = "github.com/skewrig/skewrig/cmd/skewrig"
	for version, want := range map[string]string{"v0.90.1": path + "@v0.90.1", "(devel)": path, "": path, "unknown": path} {
		if got := program(version); got != want {
			t.Errorf("of version %q it is %s", version, got)
		}
	}
}

// TestSkips: a test is skipped with the reason, and only where that is wanted.
func TestSkips(t *testing.T) {
	t.Setenv(MissingEnv, skipMissing)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("KUBEBUILDER_ASSETS", "")
	for name, topology := range map[string]Topology{
		"skipped": {Nodes: []Node{{Name: "node-a"}}},
		"failed":  {Nodes: []Node{{Name: "Node"}}},
	} {
		got := new(outcome)
		got.run(func() { Start(got, topology) })
		if got.how != name || got.text == "" {
			t.Errorf("%s: it was %q: %s", name, got.how, got.text)
		}
	}
}

// TestGivenBinaries: what is given is not missing.
func TestGivenBinaries(t *testing.T) {
	t.Parallel()
	given := build.Given{Component: build.Kubelet, Version: release.Newest, Path: "kubelet"}
	b := builder{&build.Builder{Dir: t.TempDir(), Given: []build.Given{given}}, discard}
	missing, err := b.Missing(t.Context(), []build.Target{{Component: build.Kubelet, Version: release.Newest}})
	if err != nil || len(missing) != 0 {
		t.Errorf("missing %v, %v", missing, err)
	}
}
