package build

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/build/gotool"
)

func TestParseMain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"github.com/argoproj/argo-rollouts/cmd/rollouts-controller@v1.8.3": "rollouts-controller",
		"sigs.k8s.io/jobset@v0.11.0":                                       "jobset",
		"example.com/shop/v2@v2.0.1":                                       "shop",
		"example.com/shop/v2/cmd/operator@v2.0.1-rc.1":                     "operator",
	} {
		m, is := ParseMain(text)
		if !is || m.String() != text || m.name() != want {
			t.Errorf("%s is %v (%t), a program called %q; want %q", text, m, is, m.name(), want)
		}
	}
	for _, text := range []string{"./bin/operator", "/opt/operator@v1", "operator", "bin/operator@v1.0.0", "example.com/a@latest", "example.com/../a@v1.0.0", "example.com/a b@v1.0.0"} {
		if m, is := ParseMain(text); is {
			t.Errorf("%s is %v", text, m)
		}
	}
}

// TestTheModuleOfAPackage is the longest one that exists.
func TestTheModuleOfAPackage(t *testing.T) {
	t.Parallel()
	m := Main{"example.com/shop/operator/cmd/run", "v1.0.0"}
	asked := []string{}
	of, dir, err := m.find(func(path string) (string, error) {
		asked = append(asked, path)
		if path == "example.com/shop" {
			return "/sources", nil
		}
		return "", errors.New("invalid version: git ls-remote -q origin: exit status 128")
	})
	if want := []string{"example.com/shop/operator/cmd/run", "example.com/shop/operator/cmd", "example.com/shop/operator", "example.com/shop"}; err != nil || of != "example.com/shop" || dir != "/sources" || !slices.Equal(asked, want) {
		t.Errorf("found %s in %s, %v, after %q", of, dir, err, asked)
	}
	tries := 0
	if _, _, err := m.find(func(string) (string, error) { tries++; return "", gotool.ErrUnreachable }); !errors.Is(err, gotool.ErrUnreachable) || tries != 1 {
		t.Errorf("%v, after %d tries", err, tries)
	}
	if _, _, err := m.find(func(string) (string, error) { return "", errors.New("404 Not Found") }); err == nil || !strings.Contains(err.Error(), "no module can be had") {
		t.Error(err)
	}
}

func TestDirectoriesOfAModuleAreThePublishedOnes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "go.mod")
	const text = `module example.com/shop

go 1.26

require (
	example.com/shop/api v1.1.0
	example.com/shop/client v0.0.0
	example.com/other v1.0.0
	k8s.io/api v0.37.0
)

replace example.com/shop/api => ./api

replace (
	example.com/shop/client => ./client
	k8s.io/api => k8s.io/api v0.37.1
)
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := publishedModules(file, "example.com/shop", "v1.2.0")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(got), "\n")
	var replaced []string
	for _, line := range lines {
		if strings.Contains(line, "=>") {
			replaced = append(replaced, strings.TrimPrefix(strings.TrimSpace(line), "replace "))
		}
	}
	slices.Sort(replaced)
	if want := []string{"example.com/shop/client => example.com/shop/client v1.2.0", "k8s.io/api => k8s.io/api v0.37.1"}; !slices.Equal(replaced, want) {
		t.Errorf("replaces %q, want %q", replaced, want)
	}
}

// TestAnOlderGoCanUseTheCache after a newer one wrote its version into the module of the cache.
func TestAnOlderGoCanUseTheCache(t *testing.T) {
	t.Parallel()
	s := store{dir: t.TempDir()}
	file := filepath.Join(s.dir, "go.mod")
	for _, had := range []string{"", stub + "\ngo 1.99.0\n", stub} {
		if err := os.WriteFile(file, []byte(had), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.stub(); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(file); err != nil || string(text) != stub {
			t.Errorf("after %q: %q, %v", had, text, err)
		}
	}
}
