package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// ownCatalogIn makes a repository with a catalog, whose scenarios share an axis, and
// goes to a directory below it.
func ownCatalogIn(t *testing.T, more string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "below"), 0o755); err != nil {
		t.Fatal(err)
	}
	golden.Write(t, filepath.Join(dir, "skewrig.yaml"), "apiVersion: skewrig.dev/v1alpha1\nkind: Catalog\nscenarios: [web.yaml]\nreleases: {kubelet: [newest, previous]}\n"+more)
	golden.Write(t, filepath.Join(dir, "web.yaml"), shared)
	golden.Write(t, filepath.Join(dir, "below", "other.yaml"), strings.Replace(shared, "pods/web", "pods/other", 1))
	t.Chdir(filepath.Join(dir, "below"))
}

var shared = strings.Replace(scenario, "{name: node-a}", `{name: node-a, version: "${kubelet}"}`, 1)

// cellsOf are the cells of a scenario with a kubelet of each release of the pair.
func cellsOf(scenario string) []string {
	return []string{scenario + "/kubelet:" + string(release.Newest), scenario + "/kubelet:" + string(release.Previous)}
}

// targetsOfPair are the components that a scenario with both kubelets needs.
func targetsOfPair() (targets []string) {
	for _, component := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
		targets = append(targets, component+"@"+string(release.Newest))
	}
	return append([]string{"etcd@" + string(release.Etcd)}, append(targets, "kubelet@"+string(release.Previous), "kubelet@"+string(release.Newest))...)
}

// TestTheCatalogOfARepository stands in place of the one that comes with skewrig, or
// beside it.
func TestTheCatalogOfARepository(t *testing.T) {
	own := cellsOf("mine/pods/web")
	const ofOurs = "kep-4188/gate/toggled/kubelet:reference"
	for _, c := range []struct {
		more string
		args []string
		want []string // what is chosen
		err  string
	}{
		{"", nil, own, ""},
		{"", []string{"**"}, own, ""},
		{"", []string{"mine/**/kubelet:v1.36.*"}, own[1:], ""},
		{"", []string{ofOurs}, nil, "matches no cell"},
		{"", []string{"other.yaml"}, cellsOf("mine/pods/other"), ""},
		{"", []string{"../web.yaml", "**/kubelet:v1.36.*"}, own[1:], ""},
		{"builtIn: true\n", []string{"mine/**", ofOurs}, append(slices.Clone(own), ofOurs), ""},
		{"knownDeviation: [a]\n", nil, nil, `skewrig.yaml:5:1: unknown field "knownDeviation"`},
	} {
		ownCatalogIn(t, c.more)
		cells, err := Select(c.args)
		if got := cellIDs(cells); !slices.Equal(got, c.want) && (c.err == "" || got != nil) {
			t.Errorf("%q with %q chooses %q, want %q", c.args, c.more, got, c.want)
		}
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%q with %q: %v, want %q", c.args, c.more, err, c.err)
		}
	}
}

// TestWhatIsRunByDefault in a repository is all of its own and, if it wants that, what is
// run elsewhere.
func TestWhatIsRunByDefault(t *testing.T) {
	t.Chdir(t.TempDir())
	elsewhere, err := Here()
	if err != nil || len(elsewhere.Own) > 0 || len(elsewhere.Default()) < 50 {
		t.Fatalf("%d cells: %v", len(elsewhere.Default()), err)
	}
	ownCatalogIn(t, "")
	alone, err := Here()
	if err != nil || len(alone.Default()) != 2 || len(alone.Known.Deviations) > 0 {
		t.Errorf("alone it has %d cells: %v", len(alone.Default()), err)
	}
	for _, r := range alone.Requirements {
		if r.KEP != "ORACLE" {
			t.Errorf("alone it has the requirement %s", r.ID)
		}
	}
	if len(alone.Requirements) == 0 {
		t.Error("alone it has nothing that oracles ask of a cell")
	}
	var targets []string
	for _, target := range alone.DefaultTargets() {
		targets = append(targets, target.String())
	}
	if want := targetsOfPair(); !slices.Equal(targets, want) {
		t.Errorf("it needs %q, want %q", targets, want)
	}
	ownCatalogIn(t, "builtIn: true\n")
	both, err := Here()
	if err != nil || len(both.Default()) != 2+len(elsewhere.Default()) || len(both.Requirements) != len(elsewhere.Requirements) {
		t.Errorf("beside it there are %d cells: %v", len(both.Default()), err)
	}
}

// TestTheCatalogIsReadOnce: what is run, how it is excused and what it proves comes of what
// was read, whatever becomes of the files.
func TestTheCatalogIsReadOnce(t *testing.T) {
	ownCatalogIn(t, "")
	here, err := Here()
	if err != nil {
		t.Fatal(err)
	}
	golden.Write(t, "../skewrig.yaml", "no catalog")
	cells, err := here.Select(nil)
	if err != nil || len(cells) != 2 {
		t.Fatalf("%d cells: %v", len(cells), err)
	}
	if here, err = here.Excusing(""); err != nil {
		t.Fatal(err)
	}
	if _, err := newRunner(cells, Options{Dir: t.TempDir(), Catalog: here}); err != nil {
		t.Error(err)
	}
}

// TestAnIDThatIsTaken: it is an error if a repository has a cell or a statement of the
// catalog that it stands beside.
func TestAnIDThatIsTaken(t *testing.T) {
	ownCatalogIn(t, "builtIn: true\nledgers: [ledger.yaml]\n")
	golden.Write(t, "../web.yaml", strings.NewReplacer("mine/pods/web", "kep-4188/gate/toggled", "newest", "reference").Replace(shared))
	golden.Write(t, "../skewrig.yaml", strings.Replace(readFile(t, "../skewrig.yaml"), "newest", "reference", 1))
	golden.Write(t, "../ledger.yaml", "kep: KEP-4188\nstatements:\n- {id: KEP-4188/list/all-pods, level: core, stage: alpha, section: s, statement: A sentence.}\n")
	_, err := Here()
	for _, want := range []string{
		"web.yaml: the catalog that comes with skewrig has a cell kep-4188/gate/toggled/kubelet:reference too",
		"the ledgers that come with skewrig have a statement KEP-4188/list/all-pods too",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestOnlyItsOwnLedgersAreTraced: what the oracles ask is for the cells that come with
// skewrig to test.
func TestOnlyItsOwnLedgersAreTraced(t *testing.T) {
	ownCatalogIn(t, "ledgers: [ledger.yaml]\n")
	golden.Write(t, "../ledger.yaml", "kep: SHOP\nstatements:\n- {id: SHOP/up, level: core, stage: alpha, section: s, statement: A sentence.}\n")
	if _, err := Trace(nil, "KEP-4939", ""); err == nil || !strings.HasSuffix(err.Error(), "there are ledgers of SHOP") {
		t.Errorf("%v", err)
	}
}

// TestInit makes a catalog that can be planned, and overwrites nothing.
func TestInit(t *testing.T) {
	t.Chdir(t.TempDir())
	files, err := Init("")
	if want := []string{"scenarios/pods/web.yaml", "scenarios/web-control.yaml", "scenarios/web.yaml", "skewrig.yaml"}; err != nil || !slices.Equal(files, want) {
		t.Fatalf("it wrote %q, want %q: %v", files, want, err)
	}
	cells, err := Select(nil)
	if want := []string{"mine/web/control/kubelet:" + string(release.Previous), "mine/web/upgrade/kubelet:" + string(release.Previous)}; err != nil || !slices.Equal(cellIDs(cells), want) {
		t.Errorf("its cells are %q, want %q: %v", cellIDs(cells), want, err)
	}
	if err := os.Remove("scenarios/web.yaml"); err != nil {
		t.Fatal(err)
	}
	golden.Write(t, "skewrig.yaml", "mine")
	_, err = Init("")
	for _, want := range []string{"skewrig.yaml is there already", "scenarios/pods/web.yaml is there already"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := os.Stat("scenarios/web.yaml"); err == nil || readFile(t, "skewrig.yaml") != "mine" {
		t.Error("it wrote files although one was there")
	}
	if _, err := Init("scenarios/web-control.yaml"); err == nil || !strings.Contains(err.Error(), "scenarios/web-control.yaml: ") {
		t.Errorf("a scenario instead of a pod: %v", err)
	}
}

// TestInitWritesWhatRuns: a pod whose scenarios can't be run is refused, and nothing is
// written.
func TestInitWritesWhatRuns(t *testing.T) {
	for manifest, want := range map[string]string{
		"initContainers: [{name: i, image: nginx}], containers: [{name: a, image: x}]": "nothing plays image nginx",
		"containers: [{name: a, image: x, livenessProbe: {grpc: {port: 0}}}]":          "port",
	} {
		t.Chdir(t.TempDir())
		golden.Write(t, "pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {"+manifest+"}\n")
		_, err := Init("pod.yaml")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", manifest, err, want)
		}
		if _, err := os.Stat("skewrig.yaml"); err == nil {
			t.Error("it wrote a catalog")
		}
	}
	golden.Write(t, "scenarios", "a file")
	if _, err := Init(""); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Error(err)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestTheCatalogOnAnotherPair: words stand for the releases of the pair, and a scenario that it can't run is marked with
// the rule, and stops no other. By default, there is none.
func TestTheCatalogOnAnotherPair(t *testing.T) {
	t.Chdir(t.TempDir())
	pair, err := release.Choose("v1.90.0-beta.0", string(release.Newest))
	if err != nil {
		t.Fatal(err)
	}
	learn(t, pair.Newest, release.Newest)
	here, err := HereOn(pair)
	if err != nil {
		t.Fatal(err)
	}
	cells, err := here.Select([]string{"**"})
	if err != nil {
		t.Fatal(err)
	}
	byID := make(map[string]plan.Cell)
	for _, c := range cells {
		byID[c.ID] = c
	}
	for id, unfit := range map[string]string{
		"kep-4939/e2e/tls-probe-tls-server/apiserver:v1.90.0-beta.0/kubelet:v1.90.0-beta.0":   "",
		"kep-4939/upgrade/kubelet/apiserver:v1.90.0-beta.0/kubelet:" + string(release.Newest): "is more than three minor versions older than",
	} {
		if cell, there := byID[id]; !there || !strings.Contains(cell.Unfit, unfit) || (unfit == "") != (len(Targets([]plan.Cell{cell})) > 0) {
			t.Errorf("%s: %t, %q", id, there, cell.Unfit)
		}
	}
	none, err := Here()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range none.BuiltIn {
		if c.Unfit != "" && !strings.HasPrefix(c.Unfit, "no release of a minor version after") {
			t.Errorf("%s: %s", c.ID, c.Unfit)
		}
	}
}
