package runtime

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// TestOutputIsKept: what containers wrote is there when their pods and logs are gone.
func TestOutputIsKept(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	for _, said := range []string{"first", "second"} { // pods of one name
		pod := g.pod(t, "web")
		for attempt := range uint32(2) {
			config := containerConfig("app", "print", fmt.Sprintf("%s, attempt %d", said, attempt), "err\n")
			config.Metadata.Attempt = attempt
			g.exited(t, g.start(t, pod, config))
		}
		silent := g.start(t, pod, containerConfig("silent", "exit", "0"))
		g.exited(t, silent)
		if _, err := g.RemovePodSandbox(t.Context(), &cri.RemovePodSandboxRequest{PodSandboxId: pod}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(g.logs); err != nil { // as a kubelet does
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	err := fs.WalkDir(os.DirFS(g.kept), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			got[name] = readLog(t, filepath.Join(g.kept, name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"default_web/app/0.log":   {"stderr F err", "stdout P first, attempt 0"},
		"default_web/app/1.log":   {"stderr F err", "stdout P first, attempt 1"},
		"default_web/app/0-2.log": {"stderr F err", "stdout P second, attempt 0"},
		"default_web/app/1-2.log": {"stderr F err", "stdout P second, attempt 1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestKeptOutputIsBounded: the last of it is there, and the first line says how much
// is missing.
func TestKeptOutputIsBounded(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]int{"line by line": 1, "in large parts": 10_000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "0.log")
			kept := &keptLog{dir: filepath.Join(t.TempDir(), "default_web", "app"), attempt: "0"}
			log, err := openLog(path, kept)
			if err != nil {
				t.Fatal(err)
			}
			stdout := log.stream("stdout")
			for n := 0; n < 30_000; {
				var lines strings.Builder
				for range write {
					n++
					fmt.Fprintln(&lines, "line", n)
				}
				if _, err := io.WriteString(stdout, lines.String()); err != nil {
					t.Fatal(err)
				}
				if info, err := os.Stat(filepath.Join(kept.dir, "0.log")); err != nil || info.Size() > maxKept {
					t.Fatalf("after %d lines: %v, %v", n, info.Size(), err)
				}
			}
			log.close()
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Join(kept.dir, "0.log"))
			if err != nil {
				t.Fatal(err)
			}
			head, entries, _ := strings.Cut(string(got), "\n")
			if want := fmt.Sprintf("skewrig: %d bytes before this were cut off", len(whole)-len(entries)); head != want {
				t.Errorf("the first line is %q, want %q", head, want)
			}
			if !strings.HasSuffix(string(whole), "\n"+entries) || len(entries) < maxKept/3 {
				t.Errorf("%d bytes are left, which are not the last lines", len(entries))
			}
		})
	}
}

// TestOutputIsKeptBelowItsDirectory: a name that leads out of it has none, and the
// container runs all the same.
func TestOutputIsKeptBelowItsDirectory(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	config := containerConfig("app", "print", "text\n")
	config.Metadata.Name = "../../escaped"
	if status := g.exited(t, g.start(t, g.pod(t, "web"), config)); status.ExitCode != 0 {
		t.Errorf("%v", status)
	}
	if all, err := filepath.Glob(filepath.Join(filepath.Dir(g.kept), "*")); err != nil || len(all) != 0 {
		t.Errorf("there are %v, %v", all, err)
	}
}

// TestOutputThatCannotBeKept: the container does not notice.
func TestOutputThatCannotBeKept(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	if err := os.WriteFile(g.kept, nil, 0o600); err != nil { // a file where the directory would be
		t.Fatal(err)
	}
	id := g.start(t, g.pod(t, "web"), containerConfig("app", "print", "text\n"))
	if status := g.exited(t, id); status.ExitCode != 0 {
		t.Errorf("%v", status)
	}
	if diff := cmp.Diff([]string{"stdout F text"}, g.logged(t, id)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
