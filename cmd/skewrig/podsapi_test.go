package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/podsapi/script"
	"github.com/skewrig/skewrig/podsapi/server"
	"github.com/skewrig/skewrig/reports"
)

// podsSocket is the socket of a node that serves two pods.
func podsSocket(t *testing.T) string {
	t.Helper()
	return podsServer(t, server.Config{}).Socket()
}

// podsServer serves two pods.
func podsServer(t *testing.T, config server.Config) *server.Server {
	t.Helper()
	config.Socket = filepath.Join(shortDir(t), "pods", "kubelet.sock")
	s, err := server.Listen(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for _, name := range []string{"web", "db"} {
		p := &corev1.Pod{}
		p.Namespace, p.Name, p.UID = "shop", name, types.UID("uid-"+name)
		p.Spec.Containers = []corev1.Container{{Name: "app", Image: "registry.example/" + name}}
		p.Status.Phase = corev1.PodPending
		if err := s.Set(p); err != nil {
			t.Fatal(err)
		}
	}
	s.SetReady(true)
	return s
}

// shortDir is a directory whose path is short enough for that of a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pods") //nolint:usetesting // that of t.TempDir is too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestPodsAreListedAndGot(t *testing.T) {
	t.Parallel()
	socket := podsSocket(t)
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"list"}, 0, "shop        web    0/1     Pending"},
		{[]string{"list", "-o", "json"}, 0, `"name": "web"`},
		{[]string{"get", "web"}, 0, "uid-web"},
		{[]string{"get", "shop/db", "-o", "yaml", "--fields", "metadata.name"}, 0, "apiVersion: v1\nkind: Pod\nmetadata:\n  name: db\n"},
		{[]string{"get", "cache"}, exitNotJudged, `there is no pod "cache"`},
		{[]string{"list", "--fields", "metadata.nam"}, exitUsage, `did you mean "name"?`},
		{[]string{"list", "-o", "text"}, exitUsage, "supported values: table, yaml, json"},
		{[]string{"get"}, exitUsage, "arg"},
	} {
		code, stdout, stderr := skewrig(t, append([]string{"podsapi", tc.args[0], "--socket", socket}, tc.args[1:]...)...)
		if code != tc.code || !strings.Contains(stdout+stderr, tc.want) {
			t.Errorf("%v: exit code %d, want %d and %q:\n%s%s", tc.args, code, tc.code, tc.want, stdout, stderr)
		}
	}
	if code, _, stderr := skewrig(t, "podsapi", "list", "--socket", "/nowhere"); code != exitNotJudged || !strings.Contains(stderr, "there is no socket /nowhere") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// until is a writer that does something once it was given enough.
type until struct {
	mu   sync.Mutex
	text bytes.Buffer
	what string
	then func()
}

func (u *until) Write(text []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.text.Write(text)
	if strings.Contains(u.text.String(), u.what) {
		u.then()
	}
	return len(text), nil
}

func TestPodsAreWatchedUntilTheInterrupt(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	out := &until{what: `"type":"INITIAL_SYNC_COMPLETE"`, then: interrupt}
	code := run(ctx, []string{"podsapi", "watch", "--socket", podsSocket(t), "-o", "json"}, out, out)
	if lines := strings.Split(strings.TrimSpace(out.text.String()), "\n"); code != 0 || len(lines) != 3 {
		t.Errorf("exit code %d:\n%s", code, &out.text)
	}
}

func TestCheckReports(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "report")
	socket := podsSocket(t)
	code, stdout, stderr := skewrig(t, "podsapi", "check", "--socket", socket, "--report-dir", dir)
	if code != 0 || !strings.Contains(stdout, "list-is-masked") || !strings.Contains(stdout, "1 cell: 1 conforms, 0 new") {
		t.Fatalf("exit code %d:\n%s%s", code, stdout, stderr)
	}
	report, err := app.ReadReport(dir)
	if err != nil {
		t.Fatal(err)
	}
	if cell := report.Cells[0]; cell.ID != "kep-4188/socket/check" || len(cell.Requirements) < 17 || report.Reproduce.Components[0].Version != "unknown" {
		t.Errorf("the report has %+v, of %+v", cell, report.Reproduce.Components)
	}
	if want := "skewrig podsapi check --socket " + socket; report.Cells[0].Again != want {
		t.Errorf("it is run again by %q, want %q", report.Cells[0].Again, want)
	}
	for _, name := range []string{"junit.xml", "report.json", "index.html"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if code, stdout, _ := skewrig(t, "report", dir, "-o", "html"); err != nil || code != 0 || stdout != string(page) || !strings.Contains(stdout, "1 cell: 1 conforms, 0 new") {
		t.Errorf("exit code %d, error %v: printed is not what is written, a page", code, err)
	}
}

func TestCheckHasTheExitCodesOfARun(t *testing.T) {
	t.Parallel()
	code, stdout, _ := skewrig(t, "podsapi", "check", "--socket", "/nowhere", "-o", "json")
	var report reports.Report
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || code != reports.ExitNotJudged || report.Cells[0].Outcome != reports.NotTestable {
		t.Errorf("nothing there: exit code %d, error %v", code, err)
	}
	socket := podsSocket(t)
	elsewhere := filepath.Join(filepath.Dir(socket), "pods-api.sock")
	if err := os.Symlink(socket, elsewhere); err != nil {
		t.Fatal(err)
	}
	if code, stdout, _ := skewrig(t, "podsapi", "check", "--socket", elsewhere); code != reports.ExitNonconforming || !strings.Contains(stdout, "check socket-path: new") || !strings.Contains(stdout, "\nnot applicable  static-pods") {
		t.Errorf("another path: exit code %d:\n%s", code, stdout)
	}
	if code, _, stderr := skewrig(t, "podsapi", "check", "-o", "xml"); code != exitUsage || !strings.Contains(stderr, "xml") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

const life = `apiVersion: skewrig.dev/v1alpha1
kind: PodsAPIScript
steps:
- add: {name: web, count: 2}
- ready: true
- restart: {down: 1ms, initializing: 1ms}
`

func TestServePlaysAndTells(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	file, socket := filepath.Join(dir, "life.yaml"), filepath.Join(dir, "node", "pods.sock")
	golden.Write(t, file, life)
	code, stdout, stderr := skewrig(t, "podsapi", "serve", "--scenario", file, "--socket", socket)
	if code != 0 || stdout != "No client connected.\n" || !strings.Contains(stderr, "the kubelet stops") {
		t.Errorf("exit code %d:\n%s%s", code, stdout, stderr)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	var listed string
	log := &until{what: "the script has ended", then: func() {
		_, listed, _ = skewrig(t, "podsapi", "list", "--socket", socket)
		interrupt()
	}}
	var out bytes.Buffer
	code = run(ctx, []string{"podsapi", "serve", "--scenario", file, "--socket", socket, "--wait", "-o", "json"}, &out, log)
	var runs []script.Run
	if err := json.Unmarshal(out.Bytes(), &runs); err != nil || code != 0 || len(runs) != 2 || len(runs[1].Clients) != 1 || len(runs[1].Clients[0].Calls) != 1 || runs[1].Clients[0].Calls[0].Method != "ListPods" {
		t.Errorf("exit code %d, error %v:\n%s", code, err, &out)
	}
	if !strings.Contains(listed, "web-1") {
		t.Errorf("after the script, this was listed:\n%s", listed)
	}
}

func TestServeRefusesWhatItCanNotPlay(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	file := filepath.Join(dir, "life.yaml")
	golden.Write(t, file, strings.Replace(life, "ready: true", "redy: true", 1))
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"--scenario", file, "--socket", filepath.Join(dir, "s")}, "life.yaml:5:3: unknown field \"redy\""},
		{[]string{"--scenario", filepath.Join(dir, "none.yaml"), "--socket", filepath.Join(dir, "s")}, "none.yaml"},
		{[]string{"--scenario", file}, "socket"},
	} {
		if code, _, stderr := skewrig(t, append([]string{"podsapi", "serve"}, tc.args...)...); code != exitUsage || !strings.Contains(stderr, tc.want) {
			t.Errorf("%v: exit code %d, want %d and %q: %s", tc.args, code, exitUsage, tc.want, stderr)
		}
	}
}
