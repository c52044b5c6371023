package runtime

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/record"
)

func TestContainerLifecycle(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	pod := g.pod(t, "web")
	config := containerConfig("app", "obey", "3")
	config.Metadata.Attempt = 4

	id := g.create(t, pod, config)
	created := g.status(t, id)
	if created.State != cri.ContainerState_CONTAINER_CREATED || created.StartedAt != 0 || created.FinishedAt != 0 {
		t.Errorf("after create: %v", created)
	}
	if _, err := g.StartContainer(t.Context(), &cri.StartContainerRequest{ContainerId: id}); err != nil {
		t.Fatal(err)
	}
	running := g.status(t, id)
	if running.State != cri.ContainerState_CONTAINER_RUNNING || running.FinishedAt != 0 {
		t.Errorf("after start: %v", running)
	}
	g.stopWithin(t, id, 30)

	exited := g.status(t, id)
	if exited.State != cri.ContainerState_CONTAINER_EXITED || exited.ExitCode != 3 || exited.Reason != "Error" {
		t.Errorf("after stop: %v", exited)
	}
	if created.CreatedAt != exited.CreatedAt || exited.CreatedAt >= exited.StartedAt || exited.StartedAt >= exited.FinishedAt {
		t.Errorf("created, started, finished at %d, %d, %d: not in that order", exited.CreatedAt, exited.StartedAt, exited.FinishedAt)
	}
	if age := time.Since(time.Unix(0, exited.CreatedAt)); age < 0 || age > deadline {
		t.Errorf("created %s ago", age)
	}
	if exited.Metadata.Attempt != 4 || !maps.Equal(exited.Labels, config.Labels) || !maps.Equal(exited.Annotations, config.Annotations) {
		t.Errorf("metadata not echoed: %v", exited)
	}
	if exited.Image.Image != "registry.test/test:latest" || exited.ImageId != testDigest || exited.ImageRef != "registry.test/test@"+testDigest {
		t.Errorf("image %v, id %s, ref %s", exited.Image, exited.ImageId, exited.ImageRef)
	}
}

func TestRecordOfAContainer(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	pod := g.pod(t, "web")
	id := g.start(t, pod, containerConfig("app", "obey", "3"))
	g.stopWithin(t, id, 30)
	if _, err := g.RemovePodSandbox(t.Context(), &cri.RemovePodSandboxRequest{PodSandboxId: pod}); err != nil {
		t.Fatal(err)
	}

	var kinds []string
	for _, e := range g.history.Events() {
		kinds = append(kinds, e.Source+" "+e.Subject+" "+e.Kind)
	}
	want := []string{
		"runtime/node-a default/web sandbox.started",
		"runtime/node-a  image.pulled",
		"runtime/node-a default/web/app container.created",
		"runtime/node-a default/web/app container.started",
		"runtime/node-a default/web/app container.exited",
		"runtime/node-a default/web sandbox.stopped",
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
	for _, s := range record.All[record.ContainerStarted](g.history.Events()) {
		want := record.ContainerStarted{ID: id, Image: "registry.test/test:latest", Args: []string{"program", "obey", "3"}, PID: 1}
		if diff := cmp.Diff(want, s); diff != "" {
			t.Errorf("started (-want +got):\n%s", diff)
		}
	}
	exit := onlyExit(t, g)
	if exit.RanForSeconds <= 0 || exit.RanForSeconds > deadline.Seconds() {
		t.Errorf("ran for %v s", exit.RanForSeconds)
	}
	exit.RanForSeconds = 0
	if diff := cmp.Diff(record.ContainerExited{ID: id, ExitCode: 3, Reason: "Error", Signal: "SIGTERM"}, exit); diff != "" {
		t.Errorf("exited (-want +got):\n%s", diff)
	}
}

func onlyExit(t *testing.T, g *rig) record.ContainerExited {
	t.Helper()
	var exits []record.ContainerExited
	for _, e := range record.All[record.ContainerExited](g.history.Events()) {
		exits = append(exits, e)
	}
	if len(exits) != 1 {
		t.Fatalf("%d exits were recorded, want 1: %v", len(exits), exits)
	}
	return exits[0]
}

// TestAStartedContainerIsUp: its ports are open, so that a probe that comes at
// once is not refused because the machine is busy.
func TestAStartedContainerIsUp(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	id := g.start(t, g.pod(t, "web"), containerConfig("app", "late"))
	if got := g.logged(t, id); !slices.Equal(got, []string{"stdout F up"}) {
		t.Errorf("it has said %q", got)
	}
	g.stopWithin(t, id, 0)
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args   []string
		code   int32
		reason string
	}{
		"success":             {[]string{"exit", "0"}, 0, "Completed"},
		"failure":             {[]string{"exit", "3"}, 3, "Error"},
		"only 8 bits":         {[]string{"exit", "256"}, 0, "Completed"},
		"negative":            {[]string{"exit", "-1"}, 255, "Error"},
		"panic":               {[]string{"panic"}, 2, "Error"},
		"unknown to program":  {[]string{"dance"}, 127, "Error"},
		"asks for no success": {[]string{"exit", "137"}, 137, "Error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newRig(t)
			got := g.exited(t, g.start(t, g.pod(t, "web"), containerConfig("app", tc.args...)))
			if got.ExitCode != tc.code || got.Reason != tc.reason {
				t.Errorf("exit code %d, reason %q, want %d, %q", got.ExitCode, got.Reason, tc.code, tc.reason)
			}
			if exit := onlyExit(t, g); exit.ExitCode != tc.code || exit.Signal != "" {
				t.Errorf("recorded %+v", exit)
			}
		})
	}
}

func TestStopContainer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args       []string
		stopSignal cri.Signal
		grace      int64
		code       int32
		signal     string
		log        []string
	}{
		"ends on SIGTERM with its own code": {
			args: []string{"obey", "7"}, grace: 30,
			code: 7, signal: "SIGTERM", log: []string{"stdout F got 15"},
		},
		"ends on SIGTERM with success": {
			args: []string{"obey", "0"}, grace: 30,
			code: 0, signal: "SIGTERM", log: []string{"stdout F got 15"},
		},
		"is killed after the grace period": {
			args: []string{"ignore"}, grace: 1,
			code: 137, signal: "SIGKILL", log: []string{"stdout F got 15"},
		},
		"is killed at once without grace period": {
			args: []string{"obey", "7"}, grace: 0,
			code: 137, signal: "SIGKILL",
		},
		"gets its own stop signal": {
			args: []string{"obey", "7"}, stopSignal: cri.Signal_SIGNAL_SIGUSR1, grace: 30,
			code: 7, signal: "SIGUSR1", log: []string{"stdout F got 10"},
		},
		"gets a real-time signal": {
			args: []string{"obey", "7"}, stopSignal: cri.Signal_SIGNAL_SIGRTMINPLUS3, grace: 30,
			code: 7, signal: "SIGRTMIN+3", log: []string{"stdout F got 37"},
		},
		"is killed by SIGKILL as its stop signal": {
			args: []string{"obey", "7"}, stopSignal: cri.Signal_SIGNAL_SIGKILL, grace: 30,
			code: 137, signal: "SIGKILL",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newRig(t)
			config := containerConfig("app", tc.args...)
			config.StopSignal = tc.stopSignal
			id := g.start(t, g.pod(t, "web"), config)
			asked := time.Now()
			g.stopWithin(t, id, tc.grace)

			if took := time.Since(asked); tc.grace == 1 && took < time.Second {
				t.Errorf("killed %s after it was asked to stop, want 1 s", took)
			}
			if got := g.status(t, id); got.State != cri.ContainerState_CONTAINER_EXITED || got.ExitCode != tc.code {
				t.Errorf("state %s, exit code %d, want exited, %d", got.State, got.ExitCode, tc.code)
			}
			if exit := onlyExit(t, g); exit.Signal != tc.signal {
				t.Errorf("recorded signal %q, want %q", exit.Signal, tc.signal)
			}
			if diff := cmp.Diff(tc.log, g.logged(t, id)); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAStopWhoseCallerGoesAwayKillsNothing(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	id := g.start(t, g.pod(t, "web"), containerConfig("app", "ignore"))

	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { // not through the client: that would return before the runtime does
		_, err := runtimeService{Runtime: g.Runtime}.StopContainer(ctx, &cri.StopContainerRequest{ContainerId: id, Timeout: 600})
		stopped <- err
	}()
	eventually(t, "the signal arrives", func() bool { return slices.Equal(g.logged(t, id), []string{"stdout F got 15"}) })
	cancel()
	wantCode(t, <-stopped, codes.Canceled, "")
	if c, _ := g.lookup(id); c.process.killed.Err() != nil {
		t.Fatal("the container was killed")
	}

	g.stopWithin(t, id, 1)
	if got := g.status(t, id); got.ExitCode != 137 {
		t.Errorf("exit code %d after the second stop, want 137", got.ExitCode)
	}
	if diff := cmp.Diff([]string{"stdout F got 15"}, g.logged(t, id)); diff != "" {
		t.Errorf("signals (-want +got):\n%s", diff)
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	img := mustFind(t, "test")
	for name, tc := range map[string]struct{ command, args, want []string }{
		"the image's own":            {nil, nil, []string{"program", "obey", "0"}},
		"args replace Cmd":           {nil, []string{"exit"}, []string{"program", "exit"}},
		"command replaces both":      {[]string{"sh"}, nil, []string{"sh"}},
		"command and args, verbatim": {[]string{"sh", "-c"}, []string{"true", ""}, []string{"sh", "-c", "true", ""}},
	} {
		got := commandLine(img, &cri.ContainerConfig{Command: tc.command, Args: tc.args})
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestWhatAProgramIsGiven(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	config := containerConfig("app", "environment")
	config.Envs = []*cri.KeyValue{{Key: "A", Value: []byte("1=2")}, {Key: "EMPTY"}}
	config.Mounts = []*cri.Mount{{ContainerPath: "/data", HostPath: "/host", Readonly: true}}
	id := g.start(t, g.pod(t, "web"), config)
	g.exited(t, id)
	want := []string{"stdout F default/web/app 127.77.0.2 HOSTNAME=web A=1=2 EMPTY= [{/data " + g.config.HostRoot + "/host true " + g.config.HostRoot + "}]"}
	if diff := cmp.Diff(want, g.logged(t, id)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestContainersThatAreRefused(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	pod := g.pod(t, "web")
	existing := g.create(t, pod, containerConfig("there", "exit", "0"))
	stopped := g.pod(t, "gone")
	if _, err := g.StopPodSandbox(t.Context(), &cri.StopPodSandboxRequest{PodSandboxId: stopped}); err != nil {
		t.Fatal(err)
	}
	withImage := containerConfig("app")
	withImage.Image.Image = "unheard-of"
	bare := containerConfig("app")
	bare.Image.Image = "bare"
	if _, err := g.images.PullImage(t.Context(), &cri.PullImageRequest{Image: bare.Image}); err != nil {
		t.Fatal(err)
	}
	withVolume := containerConfig("app")
	withVolume.Mounts = []*cri.Mount{{ContainerPath: "/model", Image: &cri.ImageSpec{Image: "test"}}}

	for name, tc := range map[string]struct {
		pod      string
		config   *cri.ContainerConfig
		code     codes.Code
		contains string
	}{
		"no metadata":         {pod, &cri.ContainerConfig{}, codes.InvalidArgument, "no metadata"},
		"no such sandbox":     {"nowhere", containerConfig("app"), codes.NotFound, `"nowhere"`},
		"stopped sandbox":     {stopped, containerConfig("app"), codes.FailedPrecondition, "stopped"},
		"same attempt again":  {pod, containerConfig("there"), codes.AlreadyExists, existing},
		"image not pulled":    {pod, withImage, codes.NotFound, `"unheard-of" has not been pulled`},
		"nothing to run":      {pod, bare, codes.InvalidArgument, "neither container app nor image registry.test/bare:latest"},
		"an image as a mount": {pod, withVolume, codes.InvalidArgument, "/model"},
	} {
		_, err := g.CreateContainer(t.Context(), &cri.CreateContainerRequest{PodSandboxId: tc.pod, Config: tc.config})
		t.Run(name, func(t *testing.T) { wantCode(t, err, tc.code, tc.contains) })
	}
}

func TestAContainerStartsOnce(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	id := g.start(t, g.pod(t, "web"), containerConfig("app", "obey", "0"))
	_, err := g.StartContainer(t.Context(), &cri.StartContainerRequest{ContainerId: id})
	wantCode(t, err, codes.FailedPrecondition, "default/web/app was started before")
	g.stopWithin(t, id, 30)
	_, err = g.StartContainer(t.Context(), &cri.StartContainerRequest{ContainerId: id})
	wantCode(t, err, codes.FailedPrecondition, "was started before")
	_, err = g.StartContainer(t.Context(), &cri.StartContainerRequest{ContainerId: "unknown"})
	wantCode(t, err, codes.NotFound, `"unknown"`)

	starting := g.create(t, g.pod(t, "other"), containerConfig("app", "obey", "0"))
	if _, err := g.claimStart(starting); err != nil {
		t.Fatal(err)
	}
	_, err = g.StartContainer(t.Context(), &cri.StartContainerRequest{ContainerId: starting})
	wantCode(t, err, codes.FailedPrecondition, "default/other/app was started before")
}

func TestAContainerThatCannotBeStarted(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	pod := g.pod(t, "web")
	blocked := containerConfig("app", "exit", "0")
	blocked.LogPath = "file/in/the/way"
	g.exited(t, g.start(t, pod, func() *cri.ContainerConfig {
		c := containerConfig("first", "exit", "0")
		c.LogPath = "file"
		return c
	}()))
	id := g.create(t, pod, blocked)
	_, err := g.StartContainer(t.Context(), &cri.StartContainerRequest{ContainerId: id})
	wantCode(t, err, codes.Internal, "not a directory")

	got := g.status(t, id)
	if got.State != cri.ContainerState_CONTAINER_EXITED || got.ExitCode != 128 || got.Reason != "StartError" || got.Message == "" {
		t.Errorf("status %v", got)
	}
}

// What happens between the two halves of a start decides whether it succeeds.
func TestAStartThatTheWorldOvertakes(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	var pod string
	for name, tc := range map[string]struct {
		meanwhile func(id string) error
		code      codes.Code
	}{
		"container removed": {func(id string) error {
			_, err := g.RemoveContainer(t.Context(), &cri.RemoveContainerRequest{ContainerId: id})
			return err
		}, codes.NotFound},
		"sandbox stopped": {func(string) error {
			_, err := g.StopPodSandbox(t.Context(), &cri.StopPodSandboxRequest{PodSandboxId: pod})
			return err
		}, codes.FailedPrecondition},
	} {
		pod = g.pod(t, name)
		c, err := g.claimStart(g.create(t, pod, containerConfig("app", "ignore")))
		if err != nil {
			t.Fatal(err)
		}
		log, err := openLog(c.logPath, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := tc.meanwhile(c.id); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { wantCode(t, g.launch(c, log), tc.code, "") })
		if !log.closed {
			t.Errorf("%s: the log is left open", name)
		}
	}
	for e := range record.All[record.ContainerStarted](g.history.Events()) {
		t.Errorf("%s was started", e.Subject)
	}
}

func TestUpdateContainerResources(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	config := containerConfig("app", "obey", "0")
	config.Linux = &cri.LinuxContainerConfig{Resources: &cri.LinuxContainerResources{CpuShares: 102, MemoryLimitInBytes: 64 << 20}}
	id := g.start(t, g.pod(t, "web"), config)
	_, err := g.UpdateContainerResources(t.Context(), &cri.UpdateContainerResourcesRequest{
		ContainerId: id, Linux: &cri.LinuxContainerResources{CpuShares: 512, CpuQuota: 50000},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := g.status(t, id).Resources.Linux
	if got.CpuShares != 512 || got.CpuQuota != 50000 || got.MemoryLimitInBytes != 64<<20 {
		t.Errorf("resources %v", got)
	}
	_, err = g.UpdateContainerResources(t.Context(), &cri.UpdateContainerResourcesRequest{ContainerId: "unknown"})
	wantCode(t, err, codes.NotFound, `"unknown"`)
}

func TestSnapshotAndVerboseStatus(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	id := g.start(t, g.pod(t, "web"), containerConfig("app", "exit", "3"))
	g.exited(t, id)
	all := g.Containers()
	if len(all) != 1 || all[0].ID != id || all[0].Path != "default/web/app" || all[0].State != "exited" ||
		all[0].ExitCode != 3 || all[0].IP.String() != "127.77.0.2" {
		t.Errorf("containers %+v", all)
	}
	resp, err := g.ContainerStatus(t.Context(), &cri.ContainerStatusRequest{ContainerId: id, Verbose: true})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"sandboxID":"` + g.sandboxOf(t, id) + `","pid":1,"ip":"127.77.0.2","args":["program","exit","3"]}`
	if resp.Info["info"] != want {
		t.Errorf("info %s, want %s", resp.Info["info"], want)
	}
}

func (g *rig) sandboxOf(t *testing.T, id string) string {
	t.Helper()
	resp, err := g.ListContainers(t.Context(), &cri.ListContainersRequest{Filter: &cri.ContainerFilter{Id: id}})
	if err != nil || len(resp.Containers) != 1 {
		t.Fatalf("listing container %s: %v, %v", id, resp, err)
	}
	return resp.Containers[0].PodSandboxId
}

func TestTheUserOfAContainer(t *testing.T) {
	t.Parallel()
	of := func(context *cri.LinuxContainerSecurityContext) *cri.ContainerConfig {
		return &cri.ContainerConfig{Linux: &cri.LinuxContainerConfig{SecurityContext: context}}
	}
	for name, test := range map[string]struct {
		config *cri.ContainerConfig
		want   int64
	}{
		"nothing is said":  {&cri.ContainerConfig{}, imageUser},
		"no user":          {of(&cri.LinuxContainerSecurityContext{}), imageUser},
		"root":             {of(&cri.LinuxContainerSecurityContext{RunAsUser: &cri.Int64Value{}}), 0},
		"the kubelet says": {of(&cri.LinuxContainerSecurityContext{RunAsUser: &cri.Int64Value{Value: 7}}), 7},
	} {
		if got := user(test.config); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

func TestAPodSeesItsKernelParameters(t *testing.T) {
	t.Parallel()
	var p image.Process
	if err := setParameters(&p, map[string]string{"kernel.shm_rmid_forced": "1"}); err != nil {
		t.Fatal(err)
	}
	if got, err := p.ReadFile("/proc/sys/kernel/shm_rmid_forced"); err != nil || string(got) != "1\n" {
		t.Errorf("it is %q, error %v", got, err)
	}
	if err := setParameters(&p, map[string]string{"kernel": "1"}); err == nil {
		t.Error("a parameter with the name of a directory is no error")
	}
}
