package runtime

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/fakeservers/image"
)

// machine is a directory of this machine that no container may see.
func machine(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("of the machine"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// seenBy is what a container sees that mounts a path of its node at /m.
func (g *rig) seenBy(t *testing.T, name, hostPath string) *image.Process {
	t.Helper()
	config := containerConfig(name, "ignore")
	config.Mounts = []*cri.Mount{{ContainerPath: "/m", HostPath: hostPath}}
	id := g.start(t, g.pod(t, name), config)
	c, _ := g.lookup(id)
	return c.process.program
}

func TestHostPathsAreNotOfThisMachine(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	dir := machine(t)
	if err := os.MkdirAll(g.config.Volumes, 0o700); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(g.config.Volumes, "out")
	if err := os.Symlink(dir, out); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"plain":   dir,
		"dots":    g.config.Volumes + "/../../../../../../../../../.." + dir,
		"outside": g.config.HostRoot + "/../../../../../../../../../.." + dir,
		"link":    out,
		"file":    filepath.Join(dir, "secret"),
	} {
		p := g.seenBy(t, name, path)
		for _, file := range []string{"/m", "/m/secret"} {
			if data, err := p.ReadFile(file); err == nil {
				t.Errorf("%s: a container reads %q in %s", name, data, file)
			}
			_ = p.WriteFile(file, []byte("of the container"))
		}
		_ = p.Remove("/m/secret")
	}
	if data, err := os.ReadFile(filepath.Join(dir, "secret")); string(data) != "of the machine" {
		t.Errorf("containers left %q, %v", data, err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("containers left %v, %v", names, err)
	}
}

func TestPodsOfANodeShareHostPaths(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	first, second := g.seenBy(t, "a", "/var/data"), g.seenBy(t, "b", "/var/data")
	if err := first.WriteFile("/m/note", []byte("from a")); err != nil {
		t.Fatal(err)
	}
	if data, err := second.ReadFile("/m/note"); string(data) != "from a" {
		t.Errorf("the other pod reads %q, %v", data, err)
	}
	if names, err := g.seenBy(t, "c", "/var/other").ReadDir("/m"); err != nil || len(names) != 0 {
		t.Errorf("another path has %v, %v", names, err)
	}
	if names, err := g.seenBy(t, "d", "/var").ReadDir("/m"); err != nil || strings.Join(names, " ") != "data other" {
		t.Errorf("the path above has %v, %v", names, err)
	}
	other := newRigOn(t, "127.78.0.0/24")
	if names, err := other.seenBy(t, "a", "/var/data").ReadDir("/m"); err != nil || len(names) != 0 {
		t.Errorf("the path of another node has %v, %v", names, err)
	}
}

// TestLinksInVolumes are those of the kubelet, which lead to another directory of their volume.
func TestLinksInVolumes(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	volume := filepath.Join(g.config.Volumes, "pods", "config")
	if err := os.MkdirAll(filepath.Join(volume, "..2026"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(volume, "..2026", "color"), []byte("red"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"..data": "..2026", "color": "..data/color"} {
		if err := os.Symlink(target, filepath.Join(volume, link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, path := range map[string]string{"volume": volume, "file": filepath.Join(volume, "color")} {
		p := g.seenBy(t, name, path)
		file := map[string]string{"volume": "/m/color", "file": "/m"}[name]
		if data, err := p.ReadFile(file); string(data) != "red" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

// TestHostPathsOfThisMachine is what a runtime does that may.
func TestHostPathsOfThisMachine(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.config.HostRoot = ""
	dir := machine(t)
	if data, err := g.seenBy(t, "a", dir).ReadFile("/m/secret"); string(data) != "of the machine" {
		t.Errorf("%q, %v", data, err)
	}
}
