package kind

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/harness/await"
)

// inPlaceOfDocker has a shell script run in place of docker.
func inPlaceOfDocker(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "docker"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// TestCopyOutThatIsBrokenOff: the container that Docker may have made is removed, by its name.
func TestCopyOutThatIsBrokenOff(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	inPlaceOfDocker(t, "echo \"$@\" >>"+log+"\ncase $1 in create) exec sleep 600;; esac\n")
	commands := func() string {
		text, _ := os.ReadFile(log) // empty until the first command
		return string(text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		await.Until(ctx, time.Minute, func() bool { return strings.HasPrefix(commands(), "create ") })
		cancel()
	}()
	r := &Run{id: "0a"}
	k := &Cluster{name: r.name() + "-1", label: r.label()}
	if err := k.copyOut(ctx, "an-image", "/a", filepath.Join(dir, "a")); !errors.Is(err, context.Canceled) {
		t.Errorf("broken off: %v", err)
	}
	want := "create --name skewrig-0a-1-copy --label skewrig.dev/run=0a --network none an-image\nrm --force --volumes skewrig-0a-1-copy\n"
	if got := commands(); got != want {
		t.Errorf("docker ran\n%swant\n%s", got, want)
	}
}

// TestAKubeletThatCanNotBeEnded is not away.
func TestAKubeletThatCanNotBeEnded(t *testing.T) {
	inPlaceOfDocker(t, "exit 1")
	k := &Cluster{nodes: map[string]*node{"node-a": {name: "node-a", container: "a"}}}
	for how, end := range map[string]func(context.Context, string) (End, error){"stop": k.StopKubelet, "kill": k.KillKubelet} {
		if _, err := end(t.Context(), "node-a"); err == nil || k.away.cover("kubelet/node-a", time.Now()) {
			t.Errorf("%s: %v, or its next end is asked for", how, err)
		}
	}
}
