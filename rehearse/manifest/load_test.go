package manifest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// write writes files below a directory.
func write(t *testing.T, dir string, texts map[string]string) {
	t.Helper()
	for name, text := range texts {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// named is a document with another name.
func named(name string) string { return strings.Replace(object, ": a", ": "+name, 1) }

// packed is a .tar.gz.
func packed(t *testing.T, texts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	archive := tar.NewWriter(zipped)
	for i := 0; i < len(texts); i += 2 {
		if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: texts[i], Mode: 0o644, Size: int64(len(texts[i+1]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(archive, texts[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// loaded is what Load returns, without the directory.
func loaded(dir string, in Input) []string {
	all := lines(in.Objects, in.Problems)
	for i := range all {
		all[i] = strings.ReplaceAll(all[i], filepath.ToSlash(dir)+"/", "")
	}
	return all
}

func TestLoadDirectory(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	write(t, outside, map[string]string{"secret.yaml": named("secret")})
	write(t, dir, map[string]string{
		"b.yml": named("b"), "a/z.json": `{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "z"}}`,
		"README.md": "text", ".git/a.yaml": named("hidden"), ".sops.yaml": "a: b",
		"shop/Chart.yaml": "name: shop", "shop/values.yaml": "a: b", "shop/templates/web.yaml": "{{ if }}", "shop/crds/a.yaml": named("crd"),
		"kustomization.yaml": "resources: [a]\n---\n3\n", "values-prod.yaml": "a: 1\n---\nb: 2\n", "z.yaml": "a: 1\n---\nb: 2\n---\nc: 3\n",
		"resources/things/v1/namespaces.yaml": named("not-velero"),
	})
	for name, to := range map[string]string{"link.yaml": "b.yml", "out.yaml": filepath.Join(outside, "secret.yaml"), "loop": ".", "out": outside} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	in, err := Load([]string{dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"a/z.json:1 #1 Secret z", "link.yaml:1 #1 ConfigMap b", "resources/things/v1/namespaces.yaml:1 #1 ConfigMap not-velero",
		"kustomization.yaml:1: not a Kubernetes object but a file of kustomize: render it with kustomize build",
		"out.yaml:1: a link that is broken or leads out of the directory is not followed",
		"shop/Chart.yaml:1: not a Kubernetes object but a Helm chart: render it with helm template",
		"values-prod.yaml:1: not a Kubernetes object but values of a Helm chart",
		"z.yaml:1: not a Kubernetes object: it has no kind",
	}
	if diff := cmp.Diff(want, loaded(dir, in)); diff != "" {
		t.Errorf("loaded (-want +got):\n%s", diff)
	}
	if in.Files != 8 || in.Documents != 7 {
		t.Errorf("%d files, %d documents", in.Files, in.Documents)
	}
}

func TestLoadArguments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.txt": named("a"), "values.yaml": "a: 1\n---\nb: 2\n"})
	in, err := Load([]string{filepath.Join(dir, "a.txt"), "-", filepath.Join(dir, "values.yaml")}, strings.NewReader(named("b")))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"a.txt:1 #1 ConfigMap a", "-:1 #1 ConfigMap b",
		"values.yaml:1: not a Kubernetes object: it has no kind", "values.yaml:3: not a Kubernetes object: it has no kind",
	}
	if diff := cmp.Diff(want, loaded(dir, in)); diff != "" {
		t.Errorf("loaded (-want +got):\n%s", diff)
	}
	_, err = Load([]string{filepath.Join(dir, "no"), "-", "-", os.DevNull, filepath.Join(dir, "neither")}, strings.NewReader(""))
	if err == nil {
		t.Fatal("no error of arguments that do not exist")
	}
	for _, part := range []string{"/no: no such file", "/neither: no such file", "can be read once", "not a regular file"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error lacks %q: %v", part, err)
		}
	}
}

// TestLoadVelero: objects of a backup are read once, though it has them by version too.
func TestLoadVelero(t *testing.T) {
	t.Parallel()
	const web = `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}}`
	backup := packed(t,
		"metadata/version", "1.1.0", "resources/deployments.apps/namespaces/shop/web.json", web,
		"resources/deployments.apps/v1-preferredversion/namespaces/shop/web.json", web,
		"resources/deployments.apps/v1beta1/namespaces/shop/web.json", strings.Replace(web, "apps/v1", "apps/v1beta1", 1),
		"./resources/namespaces/cluster/shop.json", `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}`,
		"../out.json", web, "resources/.hidden/a.json", web)
	dir := t.TempDir()
	write(t, dir, map[string]string{"backup.tar.gz": string(backup), "shop-1.0.tgz": string(packed(t, "shop/Chart.yaml", "name: shop", "shop/templates/a.yaml", "{{ a }}"))})
	in, err := Load([]string{dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"backup.tar.gz/resources/deployments.apps/namespaces/shop/web.json:1 #1 Deployment web",
		"backup.tar.gz/resources/namespaces/cluster/shop.json:1 #1 Namespace shop",
		"shop-1.0.tgz/shop/Chart.yaml:1: not a Kubernetes object but a Helm chart: render it with helm template",
	}
	if diff := cmp.Diff(want, loaded(dir, in)); diff != "" {
		t.Errorf("loaded (-want +got):\n%s", diff)
	}
	if in, err = Load([]string{"-"}, bytes.NewReader(backup)); err != nil || len(in.Objects) != 2 {
		t.Errorf("from standard input: %d objects, %v", len(in.Objects), err)
	}
	if _, err := Load([]string{"-"}, bytes.NewReader(backup[:len(backup)/2])); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("half of an archive: %v", err)
	}
}

// zeros is a file that does not end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestLoadIsBounded(t *testing.T) {
	t.Parallel()
	if _, err := Load([]string{"-"}, zeros{}); err == nil || err.Error() != "standard input is too large: must be at most 64 MiB" {
		t.Errorf("error %v", err)
	}
	full := loader{size: MaxInput}
	if _, err := full.read("f", []byte(object)); err == nil || err.Error() != "the input is too large: must be at most 256 MiB" {
		t.Errorf("error %v", err)
	}
}
