package gotool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheUsersConfigurationShapesNoBinary: what go env -w stores is in a key, or has no effect.
func TestTheUsersConfigurationShapesNoBinary(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "env")
	t.Setenv("GOENV", config)
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOAMD64", "")
	t.Setenv("GOPRIVATE", "of.the.environment")
	for name, text := range map[string]string{
		"env":     "GOFLAGS=-tags=evil\nCGO_ENABLED=1\nGO111MODULE=off\nGOAMD64=v2\nGOPRIVATE=of.the.file\nGONOSUMDB=of.the.file\n",
		"go.mod":  "module tags\n",
		"main.go": "//go:build !evil\n\npackage main\n\nfunc main() {}\n",
		"evil.go": "//go:build evil\n\npackage main\n\nfunc main() { println() }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	compiled, err := Run(t.Context(), dir, []string{"list", "-f", "{{.GoFiles}}", "."})
	if err != nil || strings.TrimSpace(compiled) != "[main.go]" {
		t.Errorf("compiled is %s, %v", compiled, err)
	}
	for name, want := range map[string]string{
		"CGO_ENABLED": "0", "GO111MODULE": "on", "GOPRIVATE": "of.the.environment", "GONOSUMDB": "of.the.file", "GOAMD64": "v2",
	} {
		if got, err := Run(t.Context(), dir, []string{"env", name}); err != nil || strings.TrimSpace(got) != want {
			t.Errorf("%s is %q, %v, not %q", name, got, err, want)
		}
	}
}
