package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/skewrig/skewrig/harness/golden"
)

// sample is an image of files that do nothing.
func sample(t *testing.T) contents {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"skewrig": "the program", "cache/go.mod": "module cache\n", "cache/toolchain": "go1.90\n",
		"cache/apis/v1.90.1.json":          "{}",
		"cache/bin/etcd/v3.90.0/aaaa/etcd": "etcd", "cache/bin/etcd/v3.90.0/aaaa/entry.json": "{}",
		"cache/bin/kubelet/v1.90.1/bbbb/kubelet": "kubelet", "cache/bin/kubelet/v1.90.1/bbbb/entry.json": "{}",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		golden.Write(t, path, text)
		if filepath.Ext(name) == "" {
			if err := os.Chmod(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	return contents{Skewrig: filepath.Join(dir, "skewrig"), Cache: filepath.Join(dir, "cache"), Arch: "amd64"}
}

// saved writes an image as an OCI layout, and reads it again.
func saved(t *testing.T, image v1.Image) v1.Image {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "layout")
	for range 2 { // the second one replaces the first
		if err := (options{layout: dir}).write(io.Discard, image); err != nil {
			t.Fatal(err)
		}
	}
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		t.Fatalf("the layout has %d images: %v", len(manifest.Manifests), err)
	}
	read, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// TestTheImage: files, owners and modes are as they must be for a user without rights,
// and nothing tells when the image was made.
func TestTheImage(t *testing.T) {
	t.Parallel()
	image, err := assemble(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	read := saved(t, image)
	if err := validate.Image(read); err != nil {
		t.Error(err)
	}
	var b strings.Builder
	unpacked := mutate.Extract(read)
	defer unpacked.Close()
	archive := tar.NewReader(unpacked)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %d:%d %d %s\n", header.FileInfo().Mode(), header.Uid, header.Gid, header.ModTime.Unix(), header.Name)
	}
	golden.Check(t, filepath.Join("testdata", "files.txt"), b.String())
	config, err := read.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(config.Config.User, config.Config.Entrypoint, config.Config.WorkingDir, config.OS, config.Architecture); got != "65532:0[/usr/bin/skewrig]/worklinuxamd64" {
		t.Errorf("it is configured as %s", got)
	}
}

// TestTheSameContentsAreTheSameImage, whatever directory they are in.
func TestTheSameContentsAreTheSameImage(t *testing.T) {
	t.Parallel()
	var digests []string
	for range 2 {
		image, err := assemble(sample(t))
		if err != nil {
			t.Fatal(err)
		}
		digest, err := image.Digest()
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, digest.String())
	}
	if digests[0] != digests[1] {
		t.Errorf("they are %s", digests)
	}
	changed := sample(t)
	golden.Write(t, changed.Skewrig, "another program")
	image, err := assemble(changed)
	if err != nil {
		t.Fatal(err)
	}
	if digest, err := image.Digest(); err != nil || digest.String() == digests[0] {
		t.Errorf("with another program it is %s: %v", digest, err)
	}
}

func TestTheTarballHasTheTag(t *testing.T) {
	t.Parallel()
	image, err := assemble(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "image.tar")
	var said strings.Builder
	if err := (options{tarball: path, tag: "example.com/skewrig:v1"}).write(&said, image); err != nil {
		t.Fatal(err)
	}
	manifest, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(path) })
	if err != nil || len(manifest) != 1 || cmp.Diff(manifest[0].RepoTags, []string{"example.com/skewrig:v1"}) != "" {
		t.Errorf("%+v: %v", manifest, err)
	}
	if digest, err := image.Digest(); err != nil || !strings.HasPrefix(said.String(), digest.String()+": ") {
		t.Errorf("it says %q: %v", said.String(), err)
	}
	if err := (options{tarball: path, tag: "a b"}).write(io.Discard, image); err == nil {
		t.Error("a tag with a space is no error")
	}
}

// TestOnlyALayoutIsReplaced: what else is in the directory stays.
func TestOnlyALayoutIsReplaced(t *testing.T) {
	t.Parallel()
	image, err := assemble(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	golden.Write(t, filepath.Join(dir, "thesis"), "years of work")
	if err := (options{layout: dir}).write(io.Discard, image); err == nil || !strings.Contains(err.Error(), "is no OCI layout") {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "thesis")); err != nil {
		t.Error(err)
	}
}

func TestWhatIsMissingIsAnError(t *testing.T) {
	t.Parallel()
	c := sample(t)
	for name, missing := range map[string]contents{
		"program": {Skewrig: filepath.Join(c.Cache, "none"), Cache: c.Cache, Arch: "amd64"},
		"cache":   {Skewrig: c.Skewrig, Cache: filepath.Join(c.Cache, "none"), Arch: "amd64"},
	} {
		if _, err := assemble(missing); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("without a %s: %v", name, err)
		}
	}
}

// TestACellRunsInTheImage makes the real image, and runs a cell in it with nothing but its
// files: without Go and without a network. The files belong to who runs the test:
// TestTheImage holds what a user without rights may write.
func TestACellRunsInTheImage(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles skewrig, and runs real components")
	}
	if out, err := exec.CommandContext(t.Context(), "unshare", "--user", "--map-root-user", "--mount", "--net", "true").CombinedOutput(); err != nil {
		t.Skipf("no user namespaces here: %v\n%s", err, out)
	}
	container, err := filepath.Abs("testdata/container.sh")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..")
	root := t.TempDir()
	path := filepath.Join(t.TempDir(), "layout")
	if err := (options{layout: path}).run(t.Context()); err != nil {
		t.Fatal(err)
	}
	index, err := layout.ImageIndexFromPath(path)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	image, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	unpack(t, image, root)
	in := func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), container, append([]string{root, program}, args...)...).CombinedOutput()
		return string(out), err
	}
	if out, err := in("run", "kep-4939/skew/older-kubelet/**"); err != nil || !strings.Contains(out, "1 cell: 1 conforms, 0 new") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(root, workDir, "report", "index.html")); err != nil {
		t.Error(err)
	}
	if out, err := in("build", "kubelet@v1.35.4"); err == nil || !strings.Contains(out, "needs the Go command") {
		t.Errorf("what is not inside: %v\n%s", err, out)
	}
}

// unpack writes the files of an image below a directory. Their owner is who runs the
// test.
func unpack(t *testing.T, image v1.Image, dir string) {
	t.Helper()
	content := mutate.Extract(image)
	defer content.Close()
	archive := tar.NewReader(content)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		path := filepath.Join(dir, filepath.FromSlash(header.Name))
		if err == nil && header.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else if err == nil {
			err = write(path, archive, fs.FileMode(header.Mode).Perm())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func write(path string, content io.Reader, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}
