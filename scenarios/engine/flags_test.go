package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// TestFlagsAreTriedBeforeAnythingStarts, each set of them once, and all refusals are said, in the
// component's own words.
func TestFlagsAreTriedBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "component")
	text := `#!/bin/sh
for flag; do case $flag in
  --help) exit 0;;
  --v=*) ;;
  --helpless=*) echo 'kubelet: pflag: help requested' >&2; exit 1;;
  *) echo "Usage of it"; echo; echo "Error: unknown flag: ${flag%=*}" >&2; exit 1;;
esac; done
`
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	member := func(name string, v release.Version, flags map[string]string) record.Component {
		return record.Component{Name: name, Version: v, Settings: record.Settings{Flags: flags}}
	}
	cells := []plan.Cell{
		{File: "good.yaml", Topology: record.Topology{Members: []record.Component{
			member("kube-apiserver/a", "v1.90.1", map[string]string{"v": "6"}), member("kube-apiserver/b", "v1.90.1", nil),
		}}},
		{File: "bad.yaml", Topology: record.Topology{
			Members: []record.Component{member("kube-apiserver", "v1.90.1", map[string]string{"v": "6", "no-such": "1"})},
			Nodes:   []record.Node{{Name: "a", Version: "v1.89.3", Settings: record.Settings{Flags: map[string]string{"max-pods": "1"}}}},
		}, Steps: []plan.Step{{Components: []record.Component{member("kubelet/a", "v1.89.3", map[string]string{"helpless": "1"})}}}},
	}
	var (
		asking sync.Mutex
		asked  []build.Target
	)
	err := CheckFlags(t.Context(), cells, func(_ context.Context, target build.Target) (build.Binary, error) {
		asking.Lock()
		defer asking.Unlock()
		asked = append(asked, target)
		return build.Binary{Path: script}, nil
	})
	want := "bad.yaml: kube-apiserver v1.90.1: unknown flag: --no-such\n" +
		"bad.yaml: kubelet v1.89.3: unknown flag: --max-pods; what is a field of KubeletConfiguration goes into config"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want:\n%s", err, want)
	}
	if len(asked) != 4 {
		t.Errorf("asked for %v", asked)
	}
	broken := errors.New("no compiler")
	if err := CheckFlags(t.Context(), cells, func(context.Context, build.Target) (build.Binary, error) { return build.Binary{}, broken }); !errors.Is(err, broken) {
		t.Errorf("a component that can't be had: %v", err)
	}
	if err := CheckFlags(t.Context(), nil, nil); err != nil {
		t.Error(err)
	}
	if got := words("nothing known\nthe last line\n"); !strings.HasPrefix(got, "the last") {
		t.Error(got)
	}
}
