package build

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/checkout"
	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/program"
	"github.com/skewrig/skewrig/harness/release"
)

func TestParseSource(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	odd := filepath.Join(dir, "kubelet=at@home")
	if err := os.Mkdir(odd, 0o700); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]SourceName{
		dir:                               {Instead: release.Newest, Dir: dir},
		dir + "@main":                     {Instead: release.Newest, Dir: dir, Ref: "main"},
		dir + "@feature/a":                {Instead: release.Newest, Dir: dir, Ref: "feature/a"},
		"kubelet=" + dir:                  {Component: Kubelet, Instead: release.Newest, Dir: dir},
		"kubelet@previous=" + dir + "@a":  {Component: Kubelet, Instead: release.Previous, Dir: dir, Ref: "a"},
		"kube-apiserver@v1.90.1=" + dir:   {Component: APIServer, Instead: "v1.90.1", Dir: dir},
		odd:                               {Instead: release.Newest, Dir: odd},
		odd + "@main":                     {Instead: release.Newest, Dir: odd, Ref: "main"},
		"kube-scheduler=" + odd + "@v1.0": {Component: Scheduler, Instead: release.Newest, Dir: odd, Ref: "v1.0"},
	} {
		if got, err := ParseSource(text, release.Releases{}); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"nowhere":               `there is no directory "nowhere"`,
		"kubelet=nowhere":       `there is no directory "nowhere"`,
		"kubelt=" + dir:         "did you mean kubelet?",
		"etcd=" + dir:           "etcd is no component of Kubernetes",
		"kubelet@latest=" + dir: "did you mean newest?",
		"":                      "there is no directory",
	} {
		if _, err := ParseSource(text, release.Releases{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// kubernetes is a checkout with these files, as far as a lock is made of them.
func kubernetes(t *testing.T, files map[string]string) *checkout.Checkout {
	t.Helper()
	dir := t.TempDir()
	for path, text := range files {
		if err := writeBelow(dir, path, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgSign=false", "commit", "-qm", "a"}, {"tag", "v1.90.1"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	c, err := checkout.Open(t.Context(), dir, "", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTheLockOfACheckout(t *testing.T) {
	t.Parallel()
	goMod, err := os.ReadFile("testdata/checkout.mod")
	if err != nil {
		t.Fatal(err)
	}
	l, err := lockSource(t.Context(), kubernetes(t, map[string]string{"go.mod": string(goMod), "go.sum": "sums\n"}), "/copy")
	if err != nil || string(l.sum) != "sums\n" {
		t.Fatalf("%q, %v", l.sum, err)
	}
	golden.Check(t, "testdata/checkout.lock", string(l.mod))
}

func TestWhatIsNoCheckoutOfKubernetes(t *testing.T) {
	t.Parallel()
	for want, files := range map[string]map[string]string{
		"is no checkout of Kubernetes":                                     {"README.md": "a"},
		"is a checkout of example.org/a, and not of " + program.Kubernetes: {"go.mod": "module example.org/a\n\ngo 1.26.0\n", "go.sum": ""},
		"which Go that is for":                                             {"go.mod": "module " + program.Kubernetes + "\n", "go.sum": ""},
	} {
		if _, err := lockSource(t.Context(), kubernetes(t, files), "/copy"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestTargetsOnSources(t *testing.T) {
	t.Parallel()
	const mine release.Version = "v1.91.0+01234567"
	b := &Builder{Dir: t.TempDir(), Sources: []Source{{Source: release.Source{Component: string(Kubelet), Instead: release.Newest, Version: mine}}}}
	got := b.On([]Target{{Component: Kubelet, Version: release.Newest}, {Component: APIServer, Version: release.Newest}, {Component: Etcd, Version: release.Etcd}, {Component: Kubelet, Version: release.Reference}})
	for i, want := range []release.Version{mine, release.Newest, release.Etcd, release.Reference} {
		if got[i].Version != want {
			t.Errorf("%s, want %s", got[i], want)
		}
	}
	// A checkout that was not opened, such as that of a saved run.
	if _, err := b.Binary(t.Context(), Target{Component: Kubelet, Version: "v1.92.0+01234567"}); err == nil || !strings.Contains(err.Error(), ErrNoSource.Error()) {
		t.Errorf("%v, want %v", err, ErrNoSource)
	}
}
