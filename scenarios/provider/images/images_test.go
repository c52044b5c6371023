package images

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/scenarios/spec"
)

func TestParseImage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		image spec.Image
		err   string
	}{
		"nginx=http1:80": {image: spec.Image{Image: "nginx", Listen: []behavior.Listener{{Port: 80, Protocol: behavior.HTTP1}}}},
		"registry.test:5000/a*:v1=https:1,grpc-tls:2": {image: spec.Image{Image: "registry.test:5000/a*:v1", Listen: []behavior.Listener{{Port: 1, Protocol: behavior.HTTPS}, {Port: 2, Protocol: behavior.GRPCTLS}}}},
		"nginx":                         {err: `"nginx" is not IMAGE=PROTOCOL:PORT, such as nginx=http1:8080`},
		"=http1:80":                     {err: `"=http1:80" is not IMAGE=PROTOCOL:PORT, such as nginx=http1:8080`},
		"nginx=80":                      {err: `"80" is not PROTOCOL:PORT, such as http1:8080`},
		"nginx=":                        {err: `"" is not PROTOCOL:PORT, such as http1:8080`},
		"nginx=http:80,tcp:x,tcp:70000": {err: "\"http:80\": protocol: \"http\""},
		"nginx=http1:80,grpc:80":        {err: `"grpc:80": port 80 has a protocol already`},
		"No Image=http1:80":             {err: `image pattern "No Image"`},
	} {
		got, err := ParseImage(text)
		switch {
		case want.err != "":
			if err == nil || !strings.Contains(err.Error(), want.err) {
				t.Errorf("%s: error %v, want %s", text, err, want.err)
			}
		case err != nil || !cmp.Equal(got, want.image):
			t.Errorf("%s: %v\n%s", text, err, cmp.Diff(want.image, got))
		}
	}
	if _, err := ParseListeners("http:80,tcp:x,tcp:70000"); err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("of three problems, the error says: %v", err)
	}
}

func TestPlayed(t *testing.T) {
	t.Parallel()
	mapped, err := ParseImage("nginx=http1:80")
	if err != nil {
		t.Fatal(err)
	}
	played := Played{Images: []spec.Image{mapped}}
	library, err := played.Library(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := library.Find("nginx"); err != nil {
		t.Error(err)
	}
	_, err = library.Find("redis")
	if !errors.Is(err, image.ErrUnknown) || !strings.Contains(err.Error(), "--default-image http1:8080") {
		t.Errorf("an unknown image: %v", err)
	}
	if played.Default, err = ParseListeners("tcp:6379"); err != nil {
		t.Fatal(err)
	}
	if library, err = played.Library(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := library.Find("redis"); err != nil {
		t.Error(err)
	}
}
