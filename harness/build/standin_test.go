package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/release"
)

func TestParseStandIn(t *testing.T) {
	t.Parallel()
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"k8s.io/ktesting=v0.37.1":                                   "k8s.io/ktesting@v0.37.1",
		"k8s.io/apiextensions-api=example.com/apiextensions@v0.1.0": "example.com/apiextensions@v0.1.0 for k8s.io/apiextensions-api",
		"k8s.io/ktesting=./ktesting":                                here + "/ktesting for k8s.io/ktesting",
		"k8s.io/ktesting":                                           "want MODULE=VERSION",
		"k8s.io/ktesting=":                                          "want MODULE=VERSION",
		"../up=v1.0.0":                                              "want MODULE=VERSION",
		"k8s.io/ktesting=ktesting":                                  "neither a version like v0.37.1 nor a directory",
		"k8s.io/ktesting=k8s.io/ktesting@main":                      "invalid",
	} {
		s, err := ParseStandIn(text)
		if got := s.String(); err == nil && got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
		if err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestWhatAUserLetsStandIn: stand-ins are in the lock and in the source of a binary. A committed lock has none. A change of
// a file in a directory that stands in changes the key.
func TestWhatAUserLetsStandIn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := &Builder{Dir: t.TempDir()}
	for _, text := range []string{"k8s.io/ktesting=" + dir, "example.com/gone/v7=example.com/gone/v7@v7.0.0", "k8s.io/api=v0.37.1"} {
		s, err := ParseStandIn(text)
		if err != nil {
			t.Fatal(err)
		}
		b.StandIns = append(b.StandIns, s)
	}
	target := b.whole(Target{Component: Kubelet, Version: "v1.99.0"})
	mod, err := lockKubernetes([]byte("module k8s.io/kubernetes\n\ngo 1.24.0\n\nrequire (\n\tk8s.io/api v0.0.0\n\tk8s.io/ktesting v0.0.0\n\texample.com/gone/v7 v7.0.1\n)\n\n"+
		"replace (\n\tk8s.io/api => ./staging/src/k8s.io/api\n\tk8s.io/ktesting => ./staging/src/k8s.io/ktesting\n)\n"), target)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"k8s.io/ktesting => " + dir, "example.com/gone/v7 => example.com/gone/v7 v7.0.0", "k8s.io/api => k8s.io/api v0.37.1"} {
		if !strings.Contains(string(mod), want) {
			t.Errorf("the lock does not say %q:\n%s", want, mod)
		}
	}
	if got, want := target.source(), "k8s.io/kubernetes@v1.99.0 with example.com/gone/v7@v7.0.0, k8s.io/api@v0.37.1, "+dir+" for k8s.io/ktesting"; got != want {
		t.Errorf("the source is %q, want %q", got, want)
	}
	of := func() string {
		lines, err := standInLines(target.instead)
		if err != nil || len(lines) != 1 {
			t.Fatalf("%q, %v", lines, err)
		}
		return lines[0]
	}
	if got := target.standInNames(); len(got) != 3 || got[0] != "example.com/gone/v7@v7.0.0" {
		t.Errorf("the stand-ins are %q", got)
	}
	before := of()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module k8s.io/ktesting\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if after := of(); after == before {
		t.Errorf("a new file makes no difference: %s", after)
	}
	if known := (Target{Component: Kubelet, Version: release.Newest}); !isLocked(known) || isLocked(b.whole(known)) || generatedLock(known) == generatedLock(b.whole(known)) {
		t.Error("a lock with stand-ins is the one without")
	}
	if etcd := b.whole(Target{Component: Etcd, Version: release.Etcd}); len(etcd.instead) > 0 {
		t.Errorf("etcd has %v", etcd.instead)
	}
	// The committed lock has k8s.io/api alone.
	known := b.whole(Target{Component: Kubelet, Version: release.Newest})
	if len(known.instead) != 1 || known.instead[0].For != "k8s.io/api" || isLocked(known) {
		t.Errorf("%s is compiled with %v", release.Newest, known.instead)
	}
	b.StandIns = b.StandIns[:2]
	if known := b.whole(Target{Component: Kubelet, Version: release.Newest}); !isLocked(known) {
		t.Errorf("%s is compiled with %v, which it does not ask for", release.Newest, known.instead)
	}
}
