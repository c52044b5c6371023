package image_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/fakeservers/image"
)

const digest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func TestParseSpellsReferencesOut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"busybox":                     "docker.io/library/busybox:latest",
		"busybox:1.36":                "docker.io/library/busybox:1.36",
		"bitnami/redis":               "docker.io/bitnami/redis:latest",
		"docker.io/busybox":           "docker.io/library/busybox:latest",
		"index.docker.io/a/b":         "docker.io/a/b:latest",
		"registry.k8s.io/pause:3.10":  "registry.k8s.io/pause:3.10",
		"localhost/app":               "localhost/app:latest",
		"localhost:5000/app":          "localhost:5000/app:latest",
		"localhost:5000/app:v1":       "localhost:5000/app:v1",
		"pause@" + digest:             "docker.io/library/pause@" + digest,
		"ghcr.io/a/b_c:v1@" + digest:  "ghcr.io/a/b_c:v1@" + digest,
		"registry.k8s.io/a/b/c--d:_X": "registry.k8s.io/a/b/c--d:_X",
	} {
		got, err := image.Parse(text)
		if err != nil || got.String() != want {
			t.Errorf("%s: %s, error %v, want %s", text, got, err, want)
		}
		again, err := image.Parse(want)
		if err != nil || again.String() != want {
			t.Errorf("%s, spelled out: %s, error %v", text, again, err)
		}
	}
}

func TestParseRefusesWhatIsNoReference(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                        "",
		"Busybox":                 "must be lowercase",
		"a:b:c":                   "",
		"a:":                      "",
		"a@sha256:12":             "",
		"-x.io/A:*":               "",
		"a b":                     `image reference "a b": invalid reference format`,
		strings.Repeat("a", 2000): "must not be more than 255 characters",
	} {
		got, err := image.Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, error %v, want %q in it", text, got, err, want)
		}
	}
}

// entry returns one whose images are known by the command.
func entry(pattern, name string) image.Entry {
	return image.Entry{Pattern: pattern, Image: image.Image{Cmd: []string{name}}}
}

func TestFindTakesTheFirstMatch(t *testing.T) {
	t.Parallel()
	catalog, err := image.NewCatalog(
		entry("registry.k8s.io/e2e-test-images/agnhost:2.*", "agnhost"),
		entry("registry.k8s.io/e2e-test-images/agnhost", "other agnhost"),
		entry("busybox", "busybox"),
		entry("example.com/*/web", "web"),
		entry("localhost:5000/*", "local"),
	)
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{
		"registry.k8s.io/e2e-test-images/agnhost:2.53":      "agnhost",
		"registry.k8s.io/e2e-test-images/agnhost:3.0":       "other agnhost",
		"registry.k8s.io/e2e-test-images/agnhost@" + digest: "other agnhost",
		"busybox:1.36":                "busybox",
		"docker.io/library/busybox":   "busybox",
		"example.com/team/web:v2":     "web",
		"example.com/a/b/web":         "",
		"localhost:5000/app":          "local",
		"localhost:5001/app":          "",
		"quay.io/library/busybox":     "",
		"registry.k8s.io/agnhost:2.1": "",
	} {
		got, err := catalog.Find(ref)
		switch {
		case want == "" && !errors.Is(err, image.ErrUnknown):
			t.Errorf("%s: %+v, error %v, want ErrUnknown", ref, got, err)
		case want != "" && err != nil:
			t.Errorf("%s: %v", ref, err)
		case want != "" && got.Cmd[0] != want:
			t.Errorf("%s: played by %s, want %s", ref, got.Cmd[0], want)
		}
	}
}

func TestFindSaysWhatCanBePlayed(t *testing.T) {
	t.Parallel()
	catalog, err := image.NewCatalog(entry("registry.k8s.io/pause:*", "pause"), entry("busybox", "busybox"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "image docker.io/library/nginx:latest: no program implements this image: images with a program: registry.k8s.io/pause:*, busybox"
	if _, err := catalog.Find("nginx"); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestDigestsAreOfTheReference(t *testing.T) {
	t.Parallel()
	catalog, err := image.NewCatalog(entry("*", "any"))
	if err != nil {
		t.Fatal(err)
	}
	find := func(ref string) *image.Image {
		t.Helper()
		found, err := catalog.Find(ref)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if a, b := find("web"), find("docker.io/library/web:latest"); a.Digest != b.Digest || a.Reference != "docker.io/library/web:latest" {
		t.Errorf("one image twice: %+v and %+v", a, b)
	}
	if a, b := find("web:v1"), find("web:v2"); a.Digest == b.Digest || len(a.Digest) != len(digest) {
		t.Errorf("two images: %s and %s", a.Digest, b.Digest)
	}
	if got := find("web@" + digest).Digest; got != digest {
		t.Errorf("digest %s, want the one asked for", got)
	}
}

func TestNewCatalogNamesEveryBadPattern(t *testing.T) {
	t.Parallel()
	_, err := image.NewCatalog(entry("", "a"), entry("web", "b"), entry("web:[", "c"), entry("web@"+digest, "d"))
	if err == nil {
		t.Fatal("bad patterns were taken")
	}
	for _, want := range []string{`image pattern ""`, `image pattern "web:["`, `image pattern "web@sha256:`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q, want %q in it", err, want)
		}
	}
}

func TestCatalogDefault(t *testing.T) {
	t.Parallel()
	catalog, err := image.NewCatalog(image.Entry{Pattern: "known", Image: image.Image{Cmd: []string{"known"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := catalog.Find("nginx"); !errors.Is(err, image.ErrUnknown) {
		t.Errorf("without a default: %v", err)
	}
	catalog.SetDefault(image.Image{Cmd: []string{"any"}})
	for ref, want := range map[string]string{"known:1": "known", "nginx": "any", "registry.test/a/b/c@sha256:" + strings.Repeat("0a", 32): "any"} {
		found, err := catalog.Find(ref)
		if err != nil || found.Cmd[0] != want || found.Digest == "" || !strings.Contains(found.Reference, strings.SplitN(ref, ":", 2)[0]) {
			t.Errorf("%s: %+v, %v, want %s", ref, found, err, want)
		}
	}
	if _, err := catalog.Find("No Reference"); err == nil {
		t.Error("what is no reference was found")
	}
}
