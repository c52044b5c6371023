package runtime

import (
	"context"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/record"
)

func TestExecSync(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	id := g.start(t, g.pod(t, "web"), containerConfig("app", "obey", "0"))
	for name, tc := range map[string]struct {
		cmd            []string
		code           int32
		stdout, stderr string
	}{
		"success":         {[]string{"echo", "a", "b"}, 0, "a b\n", "in default/web/app\n"},
		"failure":         {[]string{"exit", "3"}, 3, "", ""},
		"only 8 bits":     {[]string{"exit", "256"}, 0, "", ""},
		"panic":           {[]string{"panic"}, 2, "", "panic: out of cheese\n"},
		"unknown command": {[]string{"dance"}, 127, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			resp, err := g.ExecSync(t.Context(), &cri.ExecSyncRequest{ContainerId: id, Cmd: tc.cmd, Timeout: 30})
			if err != nil {
				t.Fatal(err)
			}
			if resp.ExitCode != tc.code || string(resp.Stdout) != tc.stdout || !strings.HasPrefix(string(resp.Stderr), tc.stderr) {
				t.Errorf("exit code %d, stdout %q, stderr %q", resp.ExitCode, resp.Stdout, resp.Stderr)
			}
		})
	}
	for _, e := range record.All[record.Exec](g.history.Events()) {
		if e.ID != id || len(e.Args) == 0 || e.Error != "" || e.DurationSeconds <= 0 {
			t.Errorf("recorded %+v", e)
		}
	}
}

func TestExecSyncOutputIsBounded(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	id := g.start(t, g.pod(t, "web"), containerConfig("app", "obey", "0"))
	resp, err := g.ExecSync(t.Context(), &cri.ExecSyncRequest{ContainerId: id, Cmd: []string{"flood"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := len(resp.Stdout) + len(resp.Stderr); got != maxExecOutput {
		t.Errorf("%d bytes of output, want %d", got, maxExecOutput)
	}
	if resp.ExitCode != 5 {
		t.Errorf("exit code %d, want the command's own: 5", resp.ExitCode)
	}
	if e := onlyExec(t, g); len(e.Output) != maxRecordedOutput {
		t.Errorf("%d bytes of output are recorded, want %d", len(e.Output), maxRecordedOutput)
	}
}

func TestExecOutputIsRecorded(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	id := g.start(t, g.pod(t, "web"), containerConfig("app", "obey", "0"))
	if _, err := g.ExecSync(t.Context(), &cri.ExecSyncRequest{ContainerId: id, Cmd: []string{"echo", "not ready"}}); err != nil {
		t.Fatal(err)
	}
	if e := onlyExec(t, g); e.Output != "not ready\nin default/web/app\n" {
		t.Errorf("recorded %+v", e)
	}
	if got := beginning([]byte("a\xffb"), nil); got != "a\uFFFDb" {
		t.Errorf("%q", got)
	}
}

func TestExecSyncTimeout(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	id := g.start(t, g.pod(t, "web"), containerConfig("app", "obey", "0"))
	_, err := g.ExecSync(t.Context(), &cri.ExecSyncRequest{ContainerId: id, Cmd: []string{"hang"}, Timeout: 1})
	wantCode(t, err, codes.DeadlineExceeded, `running ["hang"] in container default/web/app: the command took longer than its timeout of 1s`)
	if e := onlyExec(t, g); e.ExitCode != -1 || e.Error == "" || e.DurationSeconds < 1 {
		t.Errorf("recorded %+v", e)
	}
	if got := g.status(t, id); got.State != cri.ContainerState_CONTAINER_RUNNING {
		t.Errorf("the container is in state %s", got.State)
	}
}

func onlyExec(t *testing.T, g *rig) record.Exec {
	t.Helper()
	var all []record.Exec
	for _, e := range record.All[record.Exec](g.history.Events()) {
		all = append(all, e)
	}
	if len(all) != 1 {
		t.Fatalf("%d commands were recorded, want 1: %v", len(all), all)
	}
	return all[0]
}

func TestACommandEndsWithItsContainer(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	id := g.start(t, g.pod(t, "web"), containerConfig("app", "obey", "0"))
	type answer struct {
		resp *cri.ExecSyncResponse
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		resp, err := g.ExecSync(t.Context(), &cri.ExecSyncRequest{ContainerId: id, Cmd: []string{"hang"}})
		answered <- answer{resp, err}
	}()
	eventually(t, "the command runs", func() bool { return slices.Contains(g.logged(t, id), "stdout F hanging") })
	g.stopWithin(t, id, 30)
	if got := <-answered; got.err != nil || got.resp.ExitCode != 137 {
		t.Errorf("the command was answered by %v, %v, want exit code 137", got.resp, got.err)
	}
}

func TestACommandEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	id := g.start(t, g.pod(t, "web"), containerConfig("app", "obey", "0"))
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := g.ExecSync(ctx, &cri.ExecSyncRequest{ContainerId: id, Cmd: []string{"hang"}})
		failed <- err
	}()
	eventually(t, "the command runs", func() bool { return slices.Contains(g.logged(t, id), "stdout F hanging") })
	cancel()
	wantCode(t, <-failed, codes.Canceled, "")
	eventually(t, "it is recorded", func() bool {
		for range record.All[record.Exec](g.history.Events()) {
			return true
		}
		return false
	})
	if e := onlyExec(t, g); e.ExitCode != -1 || e.Error != "context canceled" {
		t.Errorf("recorded %+v", e)
	}
}

func TestExecSyncThatIsRefused(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	created := g.create(t, g.pod(t, "web"), containerConfig("app", "obey", "0"))
	for name, tc := range map[string]struct {
		id       string
		cmd      []string
		code     codes.Code
		contains string
	}{
		"no command":             {created, nil, codes.InvalidArgument, "no command"},
		"no such container":      {"unknown", []string{"echo"}, codes.NotFound, `"unknown"`},
		"container does not run": {created, []string{"echo"}, codes.FailedPrecondition, "CONTAINER_CREATED"},
	} {
		_, err := g.ExecSync(t.Context(), &cri.ExecSyncRequest{ContainerId: tc.id, Cmd: tc.cmd})
		t.Run(name, func(t *testing.T) { wantCode(t, err, tc.code, tc.contains) })
	}
}

func TestAnImageWithoutCommands(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	config := containerConfig("app", "obey", "0")
	config.Image.Image, config.Command = "bare", []string{"program"}
	id := g.start(t, g.pod(t, "web"), config)
	resp, err := g.ExecSync(t.Context(), &cri.ExecSyncRequest{ContainerId: id, Cmd: []string{"echo"}})
	if err != nil {
		t.Fatal(err)
	}
	if resp.ExitCode != 127 || string(resp.Stderr) != "echo: not found\n" {
		t.Errorf("exit code %d, stderr %q", resp.ExitCode, resp.Stderr)
	}
}
