package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/harness/program"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/rigs"
	"github.com/skewrig/skewrig/record"
)

// TestCommandLines shows what each component is started with: a rig can be
// understood, and rebuilt by hand, from these lines.
func TestCommandLines(t *testing.T) {
	s := serving{"127.9.255.1", keyPair{"server.crt", "server.key"}}
	gates := release.Gates{"GRPCContainerProbeTLS": true, "AllAlpha": false}
	dirs := kubeletDirs{root: t.TempDir()}
	node := serving{"127.9.0.1", keyPair{"node.crt", "node.key"}}
	manager := controllerFlags(s, "ca.crt", "kubeconfig", program.ControllerManager)
	manager = manager.with(leaderElection(false)).with(controllerManagerFlags("ca.crt", "sa.key", record.NodeMonitor{Period: behavior.Duration(time.Second), Grace: behavior.Duration(8 * time.Second)}))
	for _, comp := range []*component{
		{kind: build.Etcd, flags: etcdFlags("etcd", s, "ca.crt")},
		{kind: build.APIServer, flags: apiserverFlags(s, apiserverPaths{dir: "pki", ca: "ca.crt", etcdURL: etcdURL(s.address)}), gates: gates},
		{kind: build.ControllerManager, flags: manager},
		{kind: build.DependencyWatchdog, flags: watchdogFlags("watchdog.yaml", "kubeconfig", "127.9.255.1:9643"), version: "v1.8.0"},
		{kind: build.Scheduler, flags: controllerFlags(s, "ca.crt", "kubeconfig", program.Scheduler).with(leaderElection(false)), settings: record.Settings{EmulatedVersion: "v1.90", MinCompatibilityVersion: "v1.89"}},
		{
			kind: build.Kubelet, gates: gates,
			flags: kubeletFlags("node-a", "kubeconfig", dirs), config: kubeletConfig(dirs, "unix:///cri.sock", "ca.crt", node),
		},
	} {
		args, err := comp.arguments()
		if err != nil {
			t.Fatal(err)
		}
		shown := strings.ReplaceAll(strings.Join(args, "\n"), dirs.root, "nodes/node-a")
		golden.Check(t, "testdata/"+string(comp.kind)+".args", shown+"\n")
	}
	config, err := os.ReadFile(dirs.config())
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/kubelet.config.json", strings.ReplaceAll(string(config), dirs.root, "nodes/node-a")+"\n")
}

// TestScenariosCanSetWhatTheRigNeedNot: of what a rig sets, a scenario can set what is for speed or
// comfort. All else is the rig's own, with the reason.
func TestScenariosCanSetWhatTheRigNeedNot(t *testing.T) {
	free := []string{
		"allow-privileged", "authorization-mode", "enable-admission-plugins", "endpoint-reconciler-type", "kube-api-burst", "kube-api-qps",
		"kubelet-preferred-address-types", "leader-elect-lease-duration", "leader-elect-renew-deadline", "leader-elect-retry-period",
		"log-level", "node-monitor-grace-period", "node-monitor-period", "profiling", "service-account-issuer",
		"service-cluster-ip-range", "shutdown-watch-termination-grace-period", "unsafe-no-fsync", "use-service-account-credentials",
	}
	s, dirs := serving{}, kubeletDirs{}
	monitor := record.NodeMonitor{Period: 1, Grace: 1}
	set := etcdFlags("", s, "").with(apiserverFlags(s, apiserverPaths{})).with(controllerManagerFlags("", "", monitor)).
		with(controllerFlags(s, "ca.crt", "", "")).with(leaderElection(true)).with(kubeletFlags("", "", dirs))
	for name := range set {
		if _, own := program.OwnFlag(name); own == slices.Contains(free, name) {
			t.Errorf("%s: it is the rig's own: %v", name, own)
		}
	}
	for _, name := range free {
		if _, is := set[name]; !is {
			t.Errorf("the rig does not set %s", name)
		}
	}
	freeConfig := []string{
		"authentication", "clusterDNS", "clusterDomain", "enableSystemLogHandler", "eventRecordQPS", "evictionHard", "failCgroupV1", "failSwapOn", "fileCheckFrequency",
		"imageGCHighThresholdPercent", "logging", "maxPods", "registryPullQPS", "resolvConf", "syncFrequency",
	}
	for name, value := range kubeletConfig(dirs, "", "", s) {
		if own, _ := program.OwnConfig("kubelet", map[string]any{name: value}); (own != "") == slices.Contains(freeConfig, name) {
			t.Errorf("%s of KubeletConfiguration: it is the rig's own: %v", name, own != "")
		}
	}
	for name := range schedulerConfig(flags{}) {
		if name != "clientConnection" && name != "leaderElection" {
			if own, _ := program.OwnConfig("kube-scheduler", map[string]any{name: ""}); own == "" {
				t.Errorf("%s of KubeSchedulerConfiguration is not the rig's own", name)
			}
		}
	}
}

// TestPeersAreAskedByTheGate: an API server has the flags of the proxy while its gate is on.
func TestPeersAreAskedByTheGate(t *testing.T) {
	for _, tc := range []struct {
		version  release.Version
		gates    release.Gates
		settings record.Settings
		asks     bool
	}{
		{version: "v1.37.1", asks: true},
		{version: "v1.37.1", gates: release.Gates{release.PeerProxy: false}},
		{version: "v1.37.1", settings: record.Settings{EmulatedVersion: "v1.35"}},
		{version: "v1.35.4"},
		{version: "v1.35.4", gates: release.Gates{release.PeerProxy: true}, asks: true},
		{version: "v1.35.4", gates: release.Gates{"AllAlpha": true}, asks: true},
	} {
		server := &component{kind: build.APIServer, flags: flags{}, version: tc.version, gates: tc.gates, settings: tc.settings, peers: peerFlags("ca.crt", keyPair{})}
		args, err := server.arguments()
		if asks := slices.Contains(args, "--peer-ca-file=ca.crt"); err != nil || asks != tc.asks {
			t.Errorf("%s with %v, %v: %q, %v", tc.version, tc.gates, tc.settings, args, err)
		}
	}
}

// TestAPIServersWithNamesHaveHostsOfTheirOwn: two on one machine would be one server to others.
func TestAPIServersWithNamesHaveHostsOfTheirOwn(t *testing.T) {
	c := &Cluster{guard: &rigs.Dir{Guard: new(process.Guard)}}
	for name, has := range map[string]bool{"kube-apiserver/b": true, "kube-apiserver": false} {
		env := c.environment(&component{name: name, kind: build.APIServer})
		if slices.Contains(env, "SKEWRIG_HOSTNAME=b") != has {
			t.Errorf("%s is started with %q", name, env)
		}
	}
}

// TestComponentsThatStartNoProgramFindNone.
func TestComponentsThatStartNoProgramFindNone(t *testing.T) {
	for allowHost, finds := range map[bool]bool{false: false, true: true} {
		c := &Cluster{cfg: Config{AllowHost: allowHost}, guard: &rigs.Dir{Guard: new(process.Guard)}}
		env := c.environment(&component{name: "kubelet/node-a", kind: build.Kubelet})
		if slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, "PATH=") }) != finds {
			t.Errorf("with AllowHost %t it is started with %q", allowHost, env)
		}
	}
}

// TestSettingsOnTopOfTheRig shows what a component starts with that is given flags and configuration.
func TestSettingsOnTopOfTheRig(t *testing.T) {
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "kube-scheduler.kubeconfig")
	scheduler := &component{
		kind: build.Scheduler, flags: controllerFlags(serving{}, "ca", kubeconfig, program.Scheduler).with(leaderElection(true)),
		settings: record.Settings{Flags: map[string]string{"v": "6", "kube-api-qps": "7"}, Config: map[string]any{"leaderElection": map[string]any{"leaseDuration": "9s"}}},
	}
	args, err := scheduler.arguments()
	if err != nil || !slices.Contains(args, "--v=6") || !slices.Contains(args, "--kube-api-qps=7") {
		t.Fatalf("%v, %q", err, args)
	}
	if slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--leader-elect") }) {
		t.Errorf("its flags would count more than its configuration: %q", args)
	}
	i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "--config="+dir) })
	if i < 0 {
		t.Fatalf("it reads no configuration: %q", args)
	}
	text, err := os.ReadFile(strings.TrimPrefix(args[i], "--config="))
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/kube-scheduler.config.json", strings.ReplaceAll(string(text), dir, "pki")+"\n")

	dirs := kubeletDirs{root: dir}
	kubelet := &component{
		kind: build.Kubelet, flags: kubeletFlags("node-a", "kubeconfig", dirs), config: kubeletConfig(dirs, "unix:///cri.sock", "ca.crt", serving{}),
		settings: record.Settings{Config: map[string]any{"maxPods": nil, "evictionHard": map[string]any{"memory.available": "1%"}}},
	}
	if _, err = kubelet.arguments(); err != nil {
		t.Fatal(err)
	}
	text, err = os.ReadFile(dirs.config())
	if err != nil || strings.Contains(string(text), "maxPods") || !strings.Contains(string(text), `"memory.available": "1%"`) || !strings.Contains(string(text), "nodefs.available") {
		t.Errorf("%v, %s", err, text)
	}
}

func TestRigsHaveBlocksOfTheirOwn(t *testing.T) {
	seen := make(map[netip.Addr]bool)
	for range 20 {
		b, err := claimBlock()
		if err != nil {
			t.Fatal(err)
		}
		defer b.release()
		if a := b.controlPlane(); seen[a] || !a.IsLoopback() {
			t.Errorf("%s was given out twice, or is not a loopback address", a)
		}
		seen[b.controlPlane()] = true
	}
}

func TestABlockIsFreeAgainAfterRelease(t *testing.T) {
	b, err := claimBlock()
	if err != nil {
		t.Fatal(err)
	}
	if b.node(0) == b.node(1) || nodeAddress(b.node(1)).String() != strings.Replace(b.controlPlane().String(), "255.1", "1.1", 1) {
		t.Errorf("nodes have %s and %s", b.node(0), b.node(1))
	}
	if err := b.release(); err != nil {
		t.Fatal(err)
	}
	if err := b.release(); err != nil {
		t.Errorf("releasing again: %v", err)
	}
}

// TestNumbersOfNodesComeBackLate: rigs on one control plane have nodes of their own, and the
// number of one that is gone is given out again after all others.
func TestNumbersOfNodesComeBackLate(t *testing.T) {
	b := new(block)
	seen := make(map[int]bool)
	for range maxNodes {
		number, err := b.take()
		if err != nil || seen[number] {
			t.Fatalf("%d, again: %t (%v)", number, seen[number], err)
		}
		seen[number] = true
	}
	if _, err := b.take(); err == nil {
		t.Error("there is a number more than nodes fit")
	}
	b.giveBack([]int{7, 3})
	for _, want := range []int{3, 7} {
		if got, err := b.take(); got != want || err != nil {
			t.Errorf("%d (%v), want %d", got, err, want)
		}
	}
	half := new(block)
	first, _ := half.take()
	half.giveBack([]int{first})
	if next, _ := half.take(); next == first {
		t.Error("a number comes back at once")
	}
}

func TestNodesNeedNamesOfTheirOwn(t *testing.T) {
	cfg := Config{Topology: record.Topology{Nodes: []record.Node{{Name: "a"}, {Name: "b"}, {Name: "a"}}}}
	if err := cfg.validate(); err == nil || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("validate() = %v, want the name that is used twice", err)
	}
}

// TestOutputGoesBesideTheLogs: what containers write outlives the rig, as logs do.
func TestOutputGoesBesideTheLogs(t *testing.T) {
	logs, noRuntime := filepath.Join(t.TempDir(), "logs"), errors.New("no runtime")
	var given NodeInfo
	_, err := New(t.Context(), Config{
		Topology: record.Topology{Version: release.Newest, Nodes: []record.Node{{Name: "node-a", Version: release.Newest}}},
		LogDir:   logs, TempDir: t.TempDir(),
		Binary: func(context.Context, build.Target) (build.Binary, error) {
			return build.Binary{}, errors.New("no binary")
		},
		Runtime: func(info NodeInfo) (Runtime, error) { given = info; return nil, noRuntime },
	})
	if want := filepath.Join(logs, "pods"); !errors.Is(err, noRuntime) || given.Output != want {
		t.Errorf("output goes to %q, want %q: %v", given.Output, want, err)
	}
}

// TestObserverRecordsContentNotVersions: an object that only changes its
// bookkeeping is recorded once; one that another API server shows differently
// is recorded again.
func TestObserverRecordsContentNotVersions(t *testing.T) {
	var h record.History
	o := newObserver(nil, &h, nil)
	pod := func(mode, manager string) *unstructured.Unstructured {
		text := `{"metadata":{"name":"p","namespace":"default","uid":"1","resourceVersion":"7","managedFields":[{"manager":"` + manager + `"}]},"spec":{"mode":"` + mode + `"}}`
		var u unstructured.Unstructured
		if err := json.Unmarshal([]byte(`{"apiVersion":"v1","kind":"Pod",`+text[1:]), &u); err != nil {
			t.Fatal(err)
		}
		return &u
	}
	take := func(change string, before, now *unstructured.Unstructured) {
		o.seen.Take(change, "pods", before, now, nil, o.record)
	}
	take("added", nil, pod("TLS", "kubectl"))
	take("modified", nil, pod("TLS", "kubelet"))
	take("modified", nil, pod("", "kubelet"))
	take("deleted", nil, pod("", "kubelet"))
	// An object that went without a watch is found missing by the next
	// observer.
	take("added", nil, pod("TLS", "kubectl"))
	o.seen.Again()
	next := newObserver(nil, &h, nil)
	next.seen = o.seen
	next.recordMissing()
	next.recordMissing()
	var changes []string
	for e, seen := range record.All[record.ObjectObserved](h.Events()) {
		changes = append(changes, seen.Change+" "+e.Subject)
	}
	want := []string{"added pods/default/p", "modified pods/default/p", "deleted pods/default/p", "added pods/default/p", "deleted pods/default/p"}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}
