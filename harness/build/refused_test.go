package build

import (
	"archive/zip"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// serveModules is a module proxy that serves each module of a go.mod, by path@version, and refuses all others.
func serveModules(t *testing.T, goMods map[string]string) {
	t.Helper()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, file, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/@v/")
		version := file[:max(0, strings.LastIndex(file, "."))]
		mod, there := goMods[path+"@"+version]
		switch {
		case !there:
			http.Error(w, "This module version is not available", http.StatusForbidden)
		case strings.HasSuffix(file, ".mod"):
			fmt.Fprint(w, mod)
		case strings.HasSuffix(file, ".info"):
			fmt.Fprintf(w, `{"Version": %q}`, version)
		default:
			archive := zip.NewWriter(w)
			for name, text := range map[string]string{"go.mod": mod, "p.go": "package p\n"} {
				if f, err := archive.Create(path + "@" + version + "/" + name); err == nil {
					_, _ = f.Write([]byte(text))
				}
			}
			_ = archive.Close()
		}
	}))
	t.Cleanup(proxy.Close)
	t.Setenv("GOPROXY", proxy.URL)
	t.Setenv("GONOSUMDB", "*")
	t.Setenv("GOFLAGS", "-modcacherw")
	t.Setenv("GOMODCACHE", t.TempDir())
}

// TestModulesThatAProxyRefuses: all of them are named, each once, before anything is compiled.
func TestModulesThatAProxyRefuses(t *testing.T) {
	serveModules(t, map[string]string{
		"k8s.io/kubernetes@v1.99.0": "module k8s.io/kubernetes\n\ngo 1.24.0\n\nrequire (\n\tk8s.io/api v0.0.0\n\tk8s.io/ktesting v0.0.0\n\texample.com/there v1.0.0\n\texample.com/gone/v7 v7.0.1\n)\n\n" +
			"replace (\n\tk8s.io/api => ./staging/src/k8s.io/api\n\tk8s.io/ktesting => ./staging/src/k8s.io/ktesting\n)\n",
		"k8s.io/api@v0.99.0":       "module k8s.io/api\n",
		"example.com/there@v1.0.0": "module example.com/there\n",
	})
	b := &Builder{Dir: t.TempDir()}
	_, err := b.Binary(t.Context(), Target{Component: APIServer, Version: "v1.99.0"})
	if !errors.Is(err, ErrRefused) {
		t.Fatalf("got %v", err)
	}
	want := "the module proxy does not serve example.com/gone/v7@v7.0.1 (403 Forbidden), k8s.io/ktesting@v0.99.0 (403 Forbidden) (go env"
	if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v\nwant %q in it, in one line", err, want)
	}
}
