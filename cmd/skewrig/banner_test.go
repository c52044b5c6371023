package main

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/provider/images"
)

func TestBanner(t *testing.T) {
	t.Parallel()
	is := started{
		Kubeconfig: "/tmp/skewrig-1/pki/admin.kubeconfig",
		Logs:       "/tmp/skewrig-1/logs",
		Components: []startedComponent{
			{record.Component{Name: "etcd", Version: "v3.7.0"}, 1},
			{record.Component{Name: "kubelet/node-a", Version: "v1.90.1", Gates: map[string]bool{"GRPCContainerProbeTLS": true}}, 2},
		},
		Images: []string{"registry.example/payments", "busybox"},
	}
	for name, change := range map[string]func(*started){
		"banner": func(*started) {},
		"banner-default": func(s *started) {
			s.DefaultImage = "grpc:9000,http1:8080"
			s.SeedKubeconfig = "/tmp/skewrig-2/pki/admin.kubeconfig"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shown := is
			change(&shown)
			var text strings.Builder
			printStarted(&text, shown)
			golden.Check(t, "testdata/"+name+".txt", text.String())
			_, mapping, _ := strings.Cut(text.String(), "--image '")
			mapping, _, _ = strings.Cut(mapping, "'")
			if _, err := images.ParseImage(strings.Replace(mapping, "NAME", "nginx", 1)); err != nil {
				t.Errorf("the mapping that it shows: %v", err)
			}
			for line := range strings.Lines(text.String()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
					t.Errorf("%d columns: %s", n, line)
				}
			}
		})
	}
}

func TestUpRefusesImagesBeforeAnythingStarts(t *testing.T) {
	code, _, stderr := skewrig(t, "cluster", "up", "--image", "nginx", "--image", "web=http:80", "--default-image", "tcp")
	if code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
	for _, want := range []string{`--image nginx: "nginx" is not IMAGE=PROTOCOL:PORT`, `--image web=http:80: "http:80": protocol: `, `--default-image tcp: "tcp" is not PROTOCOL:PORT`} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is not in:\n%s", want, stderr)
		}
	}
}

// TestUpOverwritesNothing: it says so before anything is built.
func TestUpOverwritesNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine")
	golden.Write(t, file, "kept")
	code, _, stderr := skewrig(t, "cluster", "up", "--history", file, "--kubeconfig", file, "--default-image", "tcp")
	for _, want := range []string{"--history: file " + file + " already exists", "--kubeconfig: file " + file + " already exists"} {
		if code != 3 || !strings.Contains(stderr, want) {
			t.Errorf("exit code %d, %q is not in:\n%s", code, want, stderr)
		}
	}
	if readText(t, file) != "kept" {
		t.Error("it was overwritten")
	}
}
