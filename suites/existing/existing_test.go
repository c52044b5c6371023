// Package existing runs cells on an existing cluster: here, a rig.
package existing

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/existing"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider/images"
	"github.com/skewrig/skewrig/scenarios/provider/rig"
	"github.com/skewrig/skewrig/scenarios/spec"
)

const (
	older  = "mine/payments/older-kubelet"
	keeps  = "kep-4939/admission/gate-on-keeps-mode/apiserver:" + string(release.Newest) + "/kubelet:" + string(release.Newest)
	rolled = "mine/web/rollout/release:" + string(release.Newest)
	reads  = "kep-4939/e2e/tls-probe-tls-server/apiserver:" + string(release.Newest) + "/kubelet:" + string(release.Newest)
	pulled = "registry.example/payments"
)

// TestAnExistingCluster: the scenario that is red on a rig is red on the cluster, what only a rig
// records is not testable, and the cluster is as it was afterwards.
func TestAnExistingCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real components: left out of -short")
	}
	here, err := app.Here()
	if err != nil {
		t.Fatal(err)
	}
	cells, err := here.Select([]string{"../../docs/examples/payments/older-kubelet.yaml", "../../docs/examples/cluster/rollout.yaml", older, rolled, keeps, reads})
	if err != nil {
		t.Fatal(err)
	}
	payments := cells[slices.IndexFunc(cells, func(c plan.Cell) bool { return c.ID == older })]
	rig := start(t, payments.Images)
	before := namespaces(t, rig)
	s := suite{here: here, on: app.ExistingCluster{Config: existing.Config{Kubeconfig: rig.Kubeconfig()}, Images: []string{pulled}}}

	t.Run("cells run, or say why not", func(t *testing.T) {
		dir := t.TempDir()
		report := s.run(t.Context(), t, cells, dir, nil)
		for id, want := range map[string]reports.Outcome{older: reports.Fail, rolled: reports.Pass, keeps: reports.Pass, reads: reports.NotTestable} {
			i := slices.IndexFunc(report.Cells, func(c reports.Cell) bool { return c.ID == id })
			if got := report.Cells[i]; got.Outcome != want {
				t.Errorf("%s is %s, want %s: %s %+v", id, got.Outcome, want, got.Reason, got.Checks)
			}
		}
		if why := report.Cells[slices.IndexFunc(report.Cells, func(c reports.Cell) bool { return c.ID == reads })].Reason; !strings.Contains(why, "(connections): check wire") {
			t.Errorf("it is not testable because %s", why)
		}
		ran := []reports.Component{
			{Name: "kube-apiserver", Version: string(release.Newest), Source: "existing cluster"},
			{Name: "kubelet", Version: string(release.Previous), Source: "existing cluster"},
			{Name: "kubelet", Version: string(release.Newest), Source: "existing cluster"},
		}
		if !slices.Equal(report.Reproduce.Components, ran) || report.Reproduce.Provider != app.ProviderCluster {
			t.Errorf("%+v", report.Reproduce)
		}
		names(t, dir, rig)
		same(t, before, namespaces(t, rig))
	})
	t.Run("an interrupt leaves nothing", func(t *testing.T) {
		ctx, interrupt := context.WithCancelCause(t.Context())
		report := s.run(ctx, t, []plan.Cell{payments}, t.TempDir(), func(p engine.Progress) {
			if p.Step != nil && p.Step.Number == 3 { // the pod runs
				interrupt(errors.New("interrupted"))
			}
		})
		if c := report.Cells[0]; c.Outcome != reports.Unknown || !c.Unfinished {
			t.Errorf("%s %s", c.Outcome, c.Reason)
		}
		same(t, before, namespaces(t, rig))
	})
	t.Run("what is not permitted is said before anything is made", func(t *testing.T) {
		unprivileged := s.on
		unprivileged.Kubeconfig = asUnprivileged(t, rig)
		_, err := unprivileged.Open(t.Context(), cells)
		for _, want := range []string{"\n  namespaces: create, get, delete", "\n  pods: create, list, watch", "\n  deployments.apps: create, list, patch, watch"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q in it", err, want)
			}
		}
		same(t, before, namespaces(t, rig))
	})
}

// start starts the cluster: two nodes, whose names are not those of the scenarios.
func start(t *testing.T, mapped []spec.Image) *rig.Rig {
	t.Helper()
	gate := release.Gates{"GRPCContainerProbeTLS": true}
	return up(t, plan.Cell{Images: mapped, Topology: record.Topology{
		Version: release.Newest, Gates: gate, ControllerManager: true, Scheduler: true,
		Nodes: []record.Node{{Name: "worker-1", Version: release.Newest, Gates: gate}, {Name: "worker-2", Version: release.Previous}},
	}}, images.Played{})
}

// up starts a cluster, and returns when its nodes take pods.
func up(t *testing.T, cell plan.Cell, played images.Played) *rig.Rig {
	t.Helper()
	rig, err := app.Up(t.Context(), cell, played, new(build.Builder), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rig.Close(); err != nil {
			t.Error(err)
		}
	})
	// A node is ready a moment before the controller manager takes its taint away.
	untainted := func(ctx context.Context) (bool, error) {
		nodes, err := rig.Client().CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		return err == nil && !slices.ContainsFunc(nodes.Items, func(n corev1.Node) bool { return len(n.Spec.Taints) > 0 }), err
	}
	if err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, untainted); err != nil {
		t.Fatalf("waiting for nodes without taints: %v", err)
	}
	return rig
}

// suite is what all of it needs.
type suite struct {
	here app.Catalog
	on   app.ExistingCluster
}

func (s suite) run(ctx context.Context, t *testing.T, cells []plan.Cell, dir string, news func(engine.Progress)) reports.Report {
	t.Helper()
	cluster, err := s.on.Open(ctx, cells)
	if err != nil {
		t.Fatal(err)
	}
	reproduce := app.Reproduce([]string{"skewrig"}, nil, "test", nil)
	reproduce.Provider = app.ProviderCluster
	report, err := app.Run(ctx, cells, app.Options{Dir: dir, Catalog: s.here, Provider: cluster, Parallel: len(cells), Reproduce: reproduce, Progress: news})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// ofCluster is what only the cluster has: the names of its nodes, what is put behind those of
// namespaces, who asks, and the address of the API server.
var ofCluster = regexp.MustCompile(`worker-\d|-skewrig-[0-9a-f]{8}|skewrig-admin`)

// names looks for what must not be in a record.
func names(t *testing.T, dir string, rig *rig.Rig) {
	t.Helper()
	for _, id := range []string{older, keeps} {
		text, err := os.ReadFile(filepath.Join(engine.CellDir(dir, id), reports.HistoryFile))
		if err != nil {
			t.Fatal(err)
		}
		if found := ofCluster.FindAllString(string(text), 3); found != nil {
			t.Errorf("the record of %s has %q", id, found)
		}
		if !strings.Contains(string(text), `"nodeName":"node-a"`) || strings.Contains(string(text), "nodeAffinity") {
			t.Errorf("the record of %s does not have its pod as the scenario does", id)
		}
		if strings.Contains(string(text), rig.RESTConfig().Host) {
			t.Errorf("the record of %s has the address of the API server", id)
		}
	}
}

func namespaces(t *testing.T, rig *rig.Rig) (names []string) {
	t.Helper()
	list, err := rig.Client().CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range list.Items {
		names = append(names, n.Name)
	}
	return names
}

func same(t *testing.T, before, after []string) {
	t.Helper()
	if !slices.Equal(before, after) {
		t.Errorf("namespaces were %q, and are %q", before, after)
	}
}

// asUnprivileged returns the kubeconfig of an account that may do nothing.
func asUnprivileged(t *testing.T, rig *rig.Rig) string {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "unprivileged"}}
	accounts := rig.Client().CoreV1().ServiceAccounts("kube-public")
	if _, err := accounts.Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	token, err := accounts.CreateToken(t.Context(), "unprivileged", new(authenticationv1.TokenRequest), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(rig.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	for name := range config.AuthInfos {
		config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}
