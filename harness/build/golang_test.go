package build

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/build/gotool"
)

// TestAKnownReleaseIsChecked: a proxy can't serve another module in the place of one that the committed lock of
// a release has. Without network, that needs no checksum database.
func TestAKnownReleaseIsChecked(t *testing.T) {
	proxy := t.TempDir()
	at := filepath.Join(proxy, "k8s.io", "api", "@v")
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"v0.37.1.info": `{"Version":"v0.37.1"}`, "v0.37.1.mod": "module k8s.io/api\n"} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	archive, err := os.Create(filepath.Join(at, "v0.37.1.zip"))
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(archive)
	if _, err := w.Create("k8s.io/api@v0.37.1/go.mod"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOPROXY", "file://"+proxy)
	t.Setenv("GOMODCACHE", t.TempDir())
	_, err = download(t.Context(), t.TempDir(), Target{Component: APIServer, Version: "v1.37.1"}, "k8s.io/api@v0.37.1")
	if err == nil || !strings.Contains(err.Error(), "checksum mismatch") {
		t.Errorf("of another module: %v", err)
	}
}

// TestAModuleCannotBeAskedFor: the error of a build and of a download is ErrUnreachable.
func TestAModuleCannotBeAskedFor(t *testing.T) {
	t.Setenv("GOPROXY", "http://127.0.0.1:1")
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GONOSUMDB", "*")
	b := &Builder{Dir: t.TempDir()}
	_, err := b.Binary(t.Context(), Target{Component: Kubelet, Version: "v1.35.99"})
	if !errors.Is(err, gotool.ErrUnreachable) {
		t.Errorf("of a release: %v", err)
	}
	if _, err := b.Module(t.Context(), "k8s.io/api"); !errors.Is(err, gotool.ErrUnreachable) {
		t.Errorf("of a module of skewrig: %v", err)
	}
}

// TestAModuleThatIsNotDownloadedForANewerGo: the error of the first download says what to do.
func TestAModuleThatIsNotDownloadedForANewerGo(t *testing.T) {
	serveModules(t, map[string]string{"k8s.io/kubernetes@v1.99.0": "module k8s.io/kubernetes\n\ngo 1.99.0\n"})
	t.Setenv("GOTOOLCHAIN", "local")
	b := &Builder{Dir: t.TempDir()}
	_, err := b.Binary(t.Context(), Target{Component: Kubelet, Version: "v1.99.0"})
	if err == nil || !strings.Contains(err.Error(), "needs Go 1.99.0 or newer: install it") {
		t.Errorf("got %v", err)
	}
}
