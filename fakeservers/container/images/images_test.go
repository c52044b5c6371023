package images_test

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/fakeservers/container/images"
	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

// set is what to make of programs that do nothing.
func set(t *testing.T, all ...images.Image) images.Set {
	t.Helper()
	dir := t.TempDir()
	golden.Write(t, filepath.Join(dir, "program"), "the program")
	golden.Write(t, filepath.Join(dir, "probe"), "a probe")
	return images.Set{
		Program: filepath.Join(dir, "program"),
		Library: container.Library{Images: []record.Image{
			{Image: "registry.test/web", Listen: []behavior.Listener{listener(80, behavior.HTTP1)}, HealthProbe: "v0.4.90"},
		}},
		HealthProbes: map[release.Version]string{"v0.4.90": filepath.Join(dir, "probe")},
		Images:       all,
	}
}

// written reads the images of an archive, by the names under which they are imported.
func written(t *testing.T, s images.Set) map[string]v1.Image {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "images.tar")
	if err := s.Write(path); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("it leaves %v: %v", entries, err)
	}
	unpacked := t.TempDir()
	unpack(t, path, unpacked)
	index, err := layout.ImageIndexFromPath(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]v1.Image)
	for _, m := range manifest.Manifests {
		if found[m.Annotations["io.containerd.image.name"]], err = index.Image(m.Digest); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func unpack(t *testing.T, path, dir string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for r := tar.NewReader(f); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, header.Name)
		if header.Typeflag == tar.TypeDir {
			if err := os.MkdirAll(name, 0o700); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		golden.Write(t, name, string(text))
	}
}

// files lists what is in an image, and returns the content of its File.
func files(t *testing.T, i v1.Image) (list string, file container.File) {
	t.Helper()
	var b strings.Builder
	unpacked := mutate.Extract(i)
	defer unpacked.Close()
	for r := tar.NewReader(unpacked); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return b.String(), file
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %d:%d %d %s", header.FileInfo().Mode(), header.Uid, header.Gid, header.ModTime.Unix(), header.Name)
		if header.Linkname != "" {
			fmt.Fprintf(&b, " -> %s", header.Linkname)
		}
		b.WriteString("\n")
		if "/"+header.Name == container.FilePath {
			if err := json.NewDecoder(r).Decode(&file); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestTheImages: each has the names of what its pods run, and is the same when it is made again.
func TestTheImages(t *testing.T) {
	t.Parallel()
	s := set(t, images.Image{Reference: "registry.k8s.io/pause:3.10"},
		images.Image{Reference: "busybox"},
		images.Image{Reference: "registry.test/web:v1", Commands: []string{"/opt/web/serve", "daemon", "/usr/local/bin/tool", "/bin/sh"}})
	made, again := written(t, s), written(t, s)
	if len(made) != 3 {
		t.Fatalf("there are %d images", len(made))
	}
	for name, golden := range map[string]struct{ file, config string }{
		"registry.k8s.io/pause:3.10":       {"pause.txt", "[/pause] [] / [PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin]"},
		"docker.io/library/busybox:latest": {"busybox.txt", "[] [sh] / [PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin]"},
		"registry.test/web:v1":             {"web.txt", "[/server] [] / [PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := made[name]
			if i == nil {
				t.Fatal("it is not there")
			}
			if err := validate.Image(i, validate.Fast); err != nil {
				t.Error(err)
			}
			first, _ := i.Digest()
			if second, err := again[name].Digest(); err != nil || first != second {
				t.Errorf("it is %s, and then %s: %v", first, second, err)
			}
			config, err := i.ConfigFile()
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(config.Config.Entrypoint, " ", config.Config.Cmd, " ", config.Config.WorkingDir, " ", config.Config.Env); got != golden.config {
				t.Errorf("it is configured as %s, want %s", got, golden.config)
			}
			list, file := files(t, i)
			check(t, golden.file, list)
			if found, err := file.Find(); err != nil || found.Reference != name {
				t.Errorf("its file finds %+v: %v", found, err)
			}
			if diff := cmp.Diff(s.Library, file.Library); diff != "" {
				t.Errorf("its library (-want +got):\n%s", diff)
			}
		})
	}
}

func check(t *testing.T, name, text string) {
	t.Helper()
	golden.Check(t, filepath.Join("testdata", name), text)
}

// TestTheImagesShareALayer: a runtime keeps the program once.
func TestTheImagesShareALayer(t *testing.T) {
	t.Parallel()
	shared := make(map[v1.Hash]int)
	for _, i := range written(t, set(t, images.Image{Reference: "registry.k8s.io/pause:3.10"}, images.Image{Reference: "busybox"})) {
		layers, err := i.Layers()
		if err != nil || len(layers) != 2 {
			t.Fatalf("an image has %d layers: %v", len(layers), err)
		}
		digest, err := layers[0].Digest()
		if err != nil {
			t.Fatal(err)
		}
		shared[digest]++
	}
	if len(shared) != 1 {
		t.Errorf("their first layers are %v", shared)
	}
}

func TestEveryImageThatCantBePlayedIsNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "images.tar")
	err := set(t, images.Image{Reference: "registry.test/none"}, images.Image{Reference: "busybox"}, images.Image{Reference: "nginx"}).Write(path)
	if !errors.Is(err, image.ErrUnknown) || !strings.Contains(err.Error(), "registry.test/none") || !strings.Contains(err.Error(), "library/nginx") {
		t.Errorf("the error is %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is an archive: %v", err)
	}
	missing := set(t, images.Image{Reference: "busybox"})
	missing.HealthProbes = nil
	if err := missing.Write(path); err == nil || !strings.Contains(err.Error(), "v0.4.90") {
		t.Errorf("without the health probe: %v", err)
	}
}

// TestThePlayer: it has the names of all that skewrig knows, and no file that says what it plays.
func TestThePlayer(t *testing.T) {
	t.Parallel()
	s := set(t)
	player, err := s.Player()
	if err != nil {
		t.Fatal(err)
	}
	list, file := files(t, player)
	check(t, "player.txt", list)
	if file.Reference != "" {
		t.Errorf("it plays %s", file.Reference)
	}
	config, err := player.ConfigFile()
	if err != nil || strings.Join(config.Config.Entrypoint, " ") != container.Program {
		t.Errorf("its entrypoint is %q: %v", config.Config.Entrypoint, err)
	}
	s.HealthProbes = nil
	if _, err := s.Player(); err == nil || err.Error() != "there is no grpc_health_probe v0.4.90 to put into images" {
		t.Errorf("without one, the error is %v", err)
	}
}
