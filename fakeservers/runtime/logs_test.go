package runtime

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestLogEntries(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxLogLine)
	for name, tc := range map[string]struct {
		writes []string
		want   []string
	}{
		"a line":                        {[]string{"one\n"}, []string{"stdout F one"}},
		"an empty line":                 {[]string{"\n"}, []string{"stdout F "}},
		"lines in one write":            {[]string{"one\ntwo\n"}, []string{"stdout F one", "stdout F two"}},
		"a line in several writes":      {[]string{"o", "", "n", "e\n"}, []string{"stdout F one"}},
		"the last line without an end":  {[]string{"one\ntwo"}, []string{"stdout F one", "stdout P two"}},
		"the longest line":              {[]string{long + "\n"}, []string{"stdout F " + long}},
		"a line too long":               {[]string{long + "yz\n"}, []string{"stdout P " + long, "stdout F yz"}},
		"a line too long, by its parts": {[]string{long, "y", "z\n"}, []string{"stdout P " + long, "stdout F yz"}},
		"a line of many parts":          {[]string{long + long + "y\n"}, []string{"stdout P " + long, "stdout P " + long, "stdout F y"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "app", "0.log")
			log, err := openLog(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			stdout := log.stream("stdout")
			for _, text := range tc.writes {
				if n, err := io.WriteString(stdout, text); n != len(text) || err != nil {
					t.Fatalf("wrote %d of %d bytes, error %v", n, len(text), err)
				}
			}
			log.close()
			if diff := cmp.Diff(tc.want, readLog(t, path)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, err := io.WriteString(stdout, "late\n"); !errors.Is(err, os.ErrClosed) {
				t.Errorf("writing to a closed log: %v, want %v", err, os.ErrClosed)
			}
			if err := log.reopen(); !errors.Is(err, os.ErrClosed) {
				t.Errorf("reopening a closed log: %v, want %v", err, os.ErrClosed)
			}
		})
	}
}

func TestLogKeepsStreamsApart(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	id := g.start(t, g.pod(t, "web"), containerConfig("app", "print", "out", "err\n", " and more\n", "end"))
	status := g.exited(t, id)
	if want := filepath.Join(g.logs, "web", "app", "0.log"); status.LogPath != want {
		t.Errorf("log path %s, want %s", status.LogPath, want)
	}
	want := []string{"stderr F err", "stdout F out and more", "stderr P end"}
	if diff := cmp.Diff(want, g.logged(t, id)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPanicIsInTheLog(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	id := g.start(t, g.pod(t, "web"), containerConfig("app", "panic"))
	g.exited(t, id)
	log := strings.Join(g.logged(t, id), "\n")
	for _, want := range []string{"stderr F panic: out of cheese", "programs_test.go"} {
		if !strings.Contains(log, want) {
			t.Errorf("no %q in the log:\n%s", want, log)
		}
	}
}

func TestContainerWithoutLogPath(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	config := containerConfig("app", "print", "text\n")
	config.LogPath = ""
	if got := g.exited(t, g.start(t, g.pod(t, "web"), config)); got.LogPath != "" || got.ExitCode != 0 {
		t.Errorf("status %v", got)
	}
}

func TestReopenContainerLog(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	id := g.start(t, g.pod(t, "web"), containerConfig("app", "obey", "0"))
	path := g.status(t, id).LogPath
	rotated := path + ".rotated"
	say := func(text string) {
		if _, err := g.ExecSync(t.Context(), &cri.ExecSyncRequest{ContainerId: id, Cmd: []string{"say", text}}); err != nil {
			t.Fatal(err)
		}
	}
	say("before")
	if err := os.Rename(path, rotated); err != nil {
		t.Fatal(err)
	}
	say("moved away")
	if _, err := g.ReopenContainerLog(t.Context(), &cri.ReopenContainerLogRequest{ContainerId: id}); err != nil {
		t.Fatal(err)
	}
	say("after")
	if diff := cmp.Diff([]string{"stdout F before", "stdout F moved away"}, readLog(t, rotated)); diff != "" {
		t.Errorf("rotated log (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"stdout F after"}, readLog(t, path)); diff != "" {
		t.Errorf("new log (-want +got):\n%s", diff)
	}

	g.stopWithin(t, id, 30)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, err := g.ReopenContainerLog(t.Context(), &cri.ReopenContainerLogRequest{ContainerId: id})
	wantCode(t, err, codes.FailedPrecondition, "CONTAINER_EXITED")
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused reopen made a new log: %v", err)
	}
}

func TestConcurrentWritersDoNotMixLines(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "0.log")
	log, err := openLog(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	stdout := log.stream("stdout")
	line := strings.Repeat("y", 300)
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			for range 50 {
				fmt.Fprintln(stdout, line)
			}
		})
	}
	for range 5 {
		if err := log.reopen(); err != nil {
			t.Error(err)
		}
	}
	writers.Wait()
	log.close()
	entries := readLog(t, path)
	if len(entries) != 400 {
		t.Errorf("%d entries, want 400", len(entries))
	}
	for _, e := range entries {
		if e != "stdout F "+line {
			t.Fatalf("entry %q", e)
		}
	}
}
