package cluster

import (
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

// TestCommandLines shows what each component is started with: a rig can be
// understood, and rebuilt by hand, from these lines.
func TestCommandLines(t *testing.T) {
	s := serving{"127.9.255.1", keyPair{"server.crt", "server.key"}}
	gates := release.Gates{"GRPCContainerProbeTLS": true, "AllAlpha": false}
	dirs := kubeletDirs{root: t.TempDir()}
	node := serving{"127.9.0.1", keyPair{"node.crt", "node.key"}}
	manager := controllerFlags(s, "kubeconfig", controllerManagerPort)
	manager = manager.with(leaderElection(false)).with(controllerManagerFlags("ca.crt", "sa.key", record.NodeMonitor{Period: behavior.Duration(time.Second), Grace: behavior.Duration(8 * time.Second)}))
	for _, comp := range []*component{
		{kind: build.Etcd, flags: etcdFlags("etcd", s, "ca.crt")},
		{kind: build.APIServer, flags: apiserverFlags(s, apiserverPaths{dir: "pki", ca: "ca.crt", etcdURL: etcdURL(s.address)}), gates: gates},
		{kind: build.ControllerManager, flags: manager},
		{kind: build.DependencyWatchdog, flags: watchdogFlags("watchdog.yaml", "kubeconfig", "127.9.255.1:9643"), version: "v1.8.0"},
		{kind: build.Scheduler, flags: controllerFlags(s, "kubeconfig", schedulerPort).with(leaderElection(false))},
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
	var told NodeInfo
	_, err := New(t.Context(), Config{
		Topology: record.Topology{Version: release.Newest, Nodes: []record.Node{{Name: "node-a", Version: release.Newest}}},
		LogDir:   logs, TempDir: t.TempDir(),
		Runtime: func(info NodeInfo) (Runtime, error) { told = info; return nil, noRuntime },
	})
	if want := filepath.Join(logs, "pods"); !errors.Is(err, noRuntime) || told.Output != want {
		t.Errorf("output goes to %q, want %q: %v", told.Output, want, err)
	}
}

// TestObserverRecordsContentNotVersions: an object that only changes its
// bookkeeping is recorded once; one that another API server shows differently
// is recorded again.
func TestObserverRecordsContentNotVersions(t *testing.T) {
	var h record.History
	o := &observer{recorder: &h, seen: make(map[string]*seenObject)}
	pod := func(mode, manager string) *unstructured.Unstructured {
		text := `{"metadata":{"name":"p","namespace":"default","uid":"1","resourceVersion":"7","managedFields":[{"manager":"` + manager + `"}]},"spec":{"mode":"` + mode + `"}}`
		var u unstructured.Unstructured
		if err := json.Unmarshal([]byte(`{"apiVersion":"v1","kind":"Pod",`+text[1:]), &u); err != nil {
			t.Fatal(err)
		}
		return &u
	}
	o.record("added", "pods", pod("TLS", "kubectl"))
	o.record("modified", "pods", pod("TLS", "kubelet"))
	o.record("modified", "pods", pod("", "kubelet"))
	o.record("deleted", "pods", pod("", "kubelet"))
	// An object that went while nobody watched is found missing by the next
	// observer.
	o.record("added", "pods", pod("TLS", "kubectl"))
	next := &observer{recorder: &h, seen: o.forOther()}
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
