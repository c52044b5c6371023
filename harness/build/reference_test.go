package build

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/program"
	"github.com/skewrig/skewrig/harness/release"
)

func TestTheReferenceHasOurServer(t *testing.T) {
	t.Parallel()
	r := &recipe{target: Target{Component: Kubelet, Version: release.Reference}, overlay: make(map[string][]byte)}
	if err := r.addReference(); err != nil {
		t.Fatal(err)
	}
	if text := string(r.overlay[podsServer]); !strings.Contains(text, "\npackage pods\n") {
		t.Errorf("%s is replaced by %q", podsServer, text)
	}
	dir := t.TempDir()
	mod, err := r.extractReference(dir, []byte("module lock\n"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(mod), "replace "+program.Skewrig+" => ./"+referenceDir+"\n") {
		t.Errorf("the lock is %q", mod)
	}
	for _, path := range []string{"go.mod", "podsapi/server/server.go", "podsapi/mask/mask.go", "harness/unixsocket/unixsocket.go", "harness/spelling/spelling.go"} {
		if _, err := os.Stat(filepath.Join(dir, referenceDir, path)); err != nil {
			t.Error(err)
		}
	}
	if slices.ContainsFunc(r.tree, func(line string) bool { return strings.Contains(line, "_test.go") }) {
		t.Error("a change of a test makes the reference another one")
	}
}

func TestTheReferenceIsTheNewestKubelet(t *testing.T) {
	t.Parallel()
	target := Target{Component: Kubelet, Version: release.Reference}
	if want := "k8s.io/kubernetes@" + string(release.Newest); target.module() != want {
		t.Errorf("it is compiled from %s, want %s", target.module(), want)
	}
	if got := target.source(); !strings.HasSuffix(got, "(with skewrig's Pods API server)") {
		t.Errorf("its source is %q", got)
	}
}
