package existing

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/containerd"
	"github.com/skewrig/skewrig/harness/existing"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider/images"
)

const (
	player   = "registry.example/skewrig-player:1"
	refused  = "kep-4939/e2e/tls-probe-plaintext-server/apiserver:" + string(release.Newest) + "/kubelet:" + string(release.Newest)
	answered = "kep-4939/e2e/plaintext-probe-plaintext-server/apiserver:" + string(release.Newest) + "/kubelet:" + string(release.Newest)
)

// TestAPlayerImage: on nodes with real containers, cells that read the wire run by an image that plays those of
// scenarios, and their records have nothing of it.
func TestAPlayerImage(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real components: left out of -short")
	}
	if err := containerd.LookUp(os.TempDir()).Check(); err != nil {
		t.Skip(err)
	}
	here, err := app.Here()
	if err != nil {
		t.Fatal(err)
	}
	cells, err := here.Select([]string{refused, answered})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "player.tar")
	if err := app.PlayerImage(t.Context(), new(build.Builder), cells, player, file); err != nil {
		t.Fatal(err)
	}
	gate := release.Gates{"GRPCContainerProbeTLS": true}
	rig := up(t, plan.Cell{Topology: record.Topology{
		Version: release.Newest, Gates: gate, ControllerManager: true, Scheduler: true,
		Nodes: []record.Node{{Name: "worker-1", Version: release.Newest, Gates: gate, Runtime: record.Containerd}},
	}}, images.Played{Archives: map[string]string{player: file}})

	dir := t.TempDir()
	s := suite{here: here, on: app.ExistingCluster{Config: existing.Config{Kubeconfig: rig.Kubeconfig()}, Player: player}}
	for _, c := range s.run(t.Context(), t, cells, dir, nil).Cells {
		if c.Outcome != reports.Pass {
			t.Errorf("%s is %s: %s %+v", c.ID, c.Outcome, c.Reason, c.Checks)
		}
		text, err := os.ReadFile(filepath.Join(engine.CellDir(dir, c.ID), reports.HistoryFile))
		if err != nil {
			t.Fatal(err)
		}
		if found := ofPlayer.FindAllString(string(text), 3); found != nil {
			t.Errorf("the record of %s has %q", c.ID, found)
		}
	}
}

// ofPlayer is what only the cluster has, and what has containers play.
var ofPlayer = regexp.MustCompile(ofCluster.String() + `|registry\.example|SKEWRIG|postStart|/\.skewrig`)
