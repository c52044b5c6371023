package build

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
