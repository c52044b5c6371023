package plan_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports/cellid"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

func load(t *testing.T, names ...string) []plan.Cell {
	t.Helper()
	files, err := action.Load(os.DirFS("testdata"), names)
	if err != nil {
		t.Fatal(err)
	}
	cells, err := plan.Cells(files)
	if err != nil {
		t.Fatal(err)
	}
	return cells
}

func printAll(cells []plan.Cell) string {
	var plans []string
	for _, c := range cells {
		plans = append(plans, plan.Print(c))
	}
	return strings.Join(plans, "\n")
}

// TestPrint compares the plans of each scenario with the .plan.txt beside it, and
// the stored form of the first one with the .plan.json.
// Run it with -update to write those.
func TestPrint(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scenarios in testdata: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			cells := load(t, filepath.Base(path))
			golden.Check(t, strings.TrimSuffix(path, ".yaml")+".plan.txt", printAll(cells))
			stored, err := plan.Stored(cells[0])
			if err != nil {
				t.Fatal(err)
			}
			var text bytes.Buffer
			if err := stored.Write(&text); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, strings.TrimSuffix(path, ".yaml")+".plan.json", text.String())
		})
	}
}

// TestPrintSaysForWhatTimeRunsFaster: the times of the rig are not those of the file.
func TestPrintSaysForWhatTimeRunsFaster(t *testing.T) {
	t.Parallel()
	cell := load(t, "minimal.yaml")[0]
	cell.Topology.TimeScale, cell.Topology.LeaseNodes = 5, &record.LeaseNodes{}
	if got, want := plan.Print(cell), "\n  time runs 5 × as fast for the leases of simulated nodes\n"; !strings.Contains(got, want) {
		t.Errorf("the plan lacks %q:\n%s", want, got)
	}
}

func TestTheSameScenariosAlwaysGiveTheSamePlan(t *testing.T) {
	t.Parallel()
	first := load(t, "rollback.yaml", "minimal.yaml")
	for range 49 {
		again := load(t, "rollback.yaml", "minimal.yaml")
		if diff := cmp.Diff(first, again); diff != "" {
			t.Fatalf("cells (-first +again):\n%s", diff)
		}
		if diff := cmp.Diff(printAll(first), printAll(again)); diff != "" {
			t.Fatalf("plans (-first +again):\n%s", diff)
		}
	}
}

func TestCellsFollowWhatIsInForce(t *testing.T) {
	t.Parallel()
	cell := load(t, "rollback.yaml")[0]
	if want := "kep-4939/rollback/probe-mode/gate:true/kubelet:v1.90.1"; cell.ID != want || cell.Area != "kep-4939" {
		t.Errorf("cell %s of %s, want %s", cell.ID, cell.Area, want)
	}
	type running struct {
		step       int
		name       string
		components []record.Component
	}
	var got []running
	for _, number := range []int{4, 6, 7, 8} {
		step := cell.Steps[number-1]
		got = append(got, running{step.Number, step.Name, step.Components[1:]})
	}
	controllers := record.Component{Name: "kube-controller-manager", Version: "v1.90.1", Gates: map[string]bool{"AllAlpha": true}}
	rolledBack := record.Component{Name: "kube-apiserver", Version: "v1.89.3"}
	nodeB := record.Component{Name: "kubelet/node-b", Version: "v1.90.1"}
	upgraded := record.Component{Name: "kubelet/node-a", Version: "v1.90.1", Gates: map[string]bool{"AllAlpha": false}}
	want := []running{
		{4, "4", []record.Component{
			{Name: "kube-apiserver", Version: "v1.90.1", Gates: map[string]bool{"AllAlpha": true}},
			controllers,
			{Name: "kubelet/node-a", Version: "v1.89.3", Gates: map[string]bool{"AllAlpha": true}},
			nodeB,
		}},
		{6, "6", []record.Component{rolledBack, controllers, nodeB}},
		{7, "gate off", []record.Component{rolledBack, controllers, upgraded, nodeB}},
		{8, "8", []record.Component{rolledBack, controllers, upgraded}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(running{})); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
}

func TestActions(t *testing.T) {
	t.Parallel()
	cell := load(t, "rollback.yaml")[0]
	for number, want := range map[int]action.Action{
		3: action.Wait{Until: `pods["tls"].status.phase == "Running"`, Within: behavior.Duration(time.Minute)},
		4: action.Checks{Checks: []action.Check{
			{
				ID: "not-restarted", Requirement: "KEP-4939/e2e/tls-success", Observe: "containers[\"tls/app\"]\n  .restarts\n",
				Is: int64(0), Line: 55, Mode: record.Always, Span: behavior.Duration(10 * time.Second),
			},
			{
				ID: "seen", Requirement: "KEP-4939/e2e/wire", Observe: `connections["tls/app"]`,
				Must: `it.exists(c, c.first == "tls-client-hello")`, Line: 62, Mode: record.Eventually, Span: behavior.Duration(30 * time.Second),
			},
			{
				ID: "no-mode", Requirement: "KEP-4939/e2e/mode", Observe: `pods["tls"].spec.containers[0].livenessProbe.grpc`,
				Is: map[string]any{"port": int64(8443), "service": ""}, Line: 67, Mode: record.Now,
			},
		}},
		5: action.Restart{Component: "kube-apiserver", Version: "v1.89.3", Unset: []string{"AllAlpha"}},
		6: action.Stop{Component: "kubelet/node-a", Step: "6", Line: 72},
		7: action.Restart{Component: "kubelet/node-a", Version: "v1.90.1", Gates: map[string]bool{"AllAlpha": false}, Stopped: true},
		8: action.Kill("kubelet/node-b"),
		9: action.Restart{Component: "kubelet/node-b", Stopped: true},
		11: action.Patch{
			Object:   spec.ObjectRef{Resource: "pods", Namespace: "default", Name: "tls"},
			Expected: action.Expected{Step: "11", Line: 79, Rejected: &spec.Rejected{}},
			Merge:    map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "<b>"}}},
		},
		12: action.Delete{Object: spec.ObjectRef{Resource: "nodes", Name: "node-b"}},
	} {
		if diff := cmp.Diff(want, cell.Steps[number-1].Action); diff != "" {
			t.Errorf("step %d (-want +got):\n%s", number, diff)
		}
	}
}

func TestCellsShareNoManifests(t *testing.T) {
	t.Parallel()
	cells := load(t, "rollback.yaml")
	first, second := cells[0].Steps[1].Action.(action.Apply), cells[1].Steps[1].Action.(action.Apply)
	first.Objects[0]["metadata"].(map[string]any)["name"] = "changed"
	if name := second.Objects[0]["metadata"].(map[string]any)["name"]; name != "web" {
		t.Errorf("the manifest of another cell has the name %v, want web", name)
	}
}

func TestTwoCellsWithTheSameID(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/minimal.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files, err := action.Load(fstest.MapFS{"x.yaml": {Data: text}, "y.yaml": {Data: text}}, []string{"x.yaml", "y.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = plan.Cells(files)
	if want := "x.yaml and y.yaml both have a cell a/b/c"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestCellsRefusesWhatNoRigCanDo(t *testing.T) {
	t.Parallel()
	// A file that was put together in Go has not been validated.
	f := &spec.File{Path: "made", Combinations: []spec.Combination{{Scenario: spec.Scenario{
		ID: "a/b/c", Steps: []spec.Step{{Kind: "stop", Action: action.Stop{Component: "kubelet/node-a"}}},
	}}}}
	_, err := plan.Cells([]*spec.File{f})
	if err == nil || !strings.Contains(err.Error(), `this rig has no component "kubelet/node-a"`) {
		t.Errorf("error %v, want one about the component that isn't there", err)
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	cells := load(t, "rollback.yaml", "minimal.yaml")
	for name, tc := range map[string]struct {
		patterns []string
		want     []string
		err      string
	}{
		"all": {nil, []string{"true/v1.90.1", "true/v1.87.4", "false/v1.90.1", "false/v1.87.4", "a/b/c"}, ""},
		"once and in their own order": {
			[]string{"a/**", "**/gate:false/*", "**/kubelet:v1.87.4"},
			[]string{"true/v1.87.4", "false/v1.90.1", "false/v1.87.4", "a/b/c"}, "",
		},
		"beginnings": {
			[]string{"a/", "kep-4939/rollback/probe-mode/gate:true"}, []string{"true/v1.90.1", "true/v1.87.4", "a/b/c"}, "",
		},
		"beginnings with a wildcard": {
			[]string{"kep-*/rollback"}, []string{"true/v1.90.1", "true/v1.87.4", "false/v1.90.1", "false/v1.87.4"}, "",
		},
		"no whole segment": {
			[]string{"kep-49"}, nil, `pattern "kep-49" matches no cell: close to it are kep-4939; the areas are a, kep-4939`,
		},
		"a slip in a group": {
			[]string{"kep-4939/rolbak"}, nil, `pattern "kep-4939/rolbak" matches no cell: close to it are kep-4939/rollback`,
		},
		"slip of the pen": {
			[]string{"kep-4939/rolback/probe-mode/**"}, nil,
			`pattern "kep-4939/rolback/probe-mode/**" matches no cell: close to it are kep-4939/rollback/probe-mode/**`,
		},
		"a number": {
			[]string{"4939"}, nil, `pattern "4939" matches no cell: close to it are kep-4939; the areas are a, kep-4939`,
		},
		"a word within ids": {
			[]string{"probe"}, nil, `pattern "probe" matches no cell: close to it are kep-4939/rollback/probe-mode/**, ` +
				"kep-4939/rollback/probe-mode/gate:true/kubelet:v1.87.4, kep-4939/rollback/probe-mode/gate:true/kubelet:v1.90.1; the areas are a, kep-4939",
		},
		"another case": {
			[]string{"KEP-4939/Rollback"}, nil, `pattern "KEP-4939/Rollback" matches no cell: close to it are kep-4939/rollback`,
		},
		"the longest beginning": {
			[]string{"kep-4939/rollback/probe-mode/gate:false/z"}, nil,
			`pattern "kep-4939/rollback/probe-mode/gate:false/z" matches no cell: close to it are ` +
				"kep-4939/rollback/probe-mode/gate:false/kubelet:v1.87.4, kep-4939/rollback/probe-mode/gate:false/kubelet:v1.90.1",
		},
		"nothing like it": {
			[]string{"a/z*", "z/**"}, nil,
			"pattern \"a/z*\" matches no cell: close to it are a/b/c\n" +
				"pattern \"z/**\" matches no cell: the areas are a, kep-4939",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			matched, err := plan.Match(cells, tc.patterns)
			if message := errorText(err); message != tc.err {
				t.Errorf("error\n%s\nwant\n%s", message, tc.err)
			}
			var got []string
			for _, c := range matched {
				id := strings.TrimPrefix(c.ID, "kep-4939/rollback/probe-mode/gate:")
				got = append(got, strings.Replace(id, "kubelet:", "", 1))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
		})
	}
	if _, err := plan.Match(nil, []string{"**"}); err == nil {
		t.Error("a pattern matched where there are no cells")
	}
	if _, err := plan.Match(cells, []string{"**", "x?"}); !errors.Is(err, cellid.ErrInvalid) {
		t.Errorf("error %v for a malformed pattern, want %v", err, cellid.ErrInvalid)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestTargetsAreWhatTheStepsNeedToo(t *testing.T) {
	t.Parallel()
	cells, err := plan.Match(load(t, "rollback.yaml", "minimal.yaml"), []string{"**/gate:true/kubelet:v1.87.4"})
	if err != nil {
		t.Fatal(err)
	}
	want := []plan.Target{
		{Component: "etcd", Version: release.Etcd},
		{Component: "kube-apiserver", Version: "v1.89.3", Place: "rollback.yaml:18:14"},
		{Component: "kube-apiserver", Version: "v1.90.1", Place: "rollback.yaml:11:14"},
		{Component: "kube-controller-manager", Version: "v1.90.1", Place: "rollback.yaml:11:14"},
		{Component: "kubelet", Version: "v1.87.4", Place: "rollback.yaml:16:14"},
		{Component: "kubelet", Version: "v1.89.3", Place: "rollback.yaml:18:14"},
		{Component: "kubelet", Version: "v1.90.1", Place: "rollback.yaml:11:14"},
	}
	if diff := cmp.Diff(want, plan.Targets(cells)); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
}

func TestPlacesOfReleasesThatStepsAskFor(t *testing.T) {
	t.Parallel()
	cells, err := plan.Match(load(t, "releases.yaml"), []string{"**"})
	if err != nil {
		t.Fatal(err)
	}
	for v, want := range map[release.Version]string{"v1.89.3": "releases.yaml:7:14", "v1.88.2": "releases.yaml:8:94"} {
		if got := cells[0].Places[v]; got != want {
			t.Errorf("%s is asked for at %q, want %q", v, got, want)
		}
	}
}

func TestDescriptionsAreOnePrintableLine(t *testing.T) {
	t.Parallel()
	object := map[string]any{"kind": "Pod\x1b[2J", "metadata": map[string]any{"name": "a\nb"}}
	long := strings.Repeat("é", 500)
	for _, tc := range []struct {
		action action.Action
		want   string
	}{
		{action.Apply{Objects: []map[string]any{object}}, `create Pod\x1b[2J a b`},
		{action.Wait{Until: "a &&\n\tb\r", Within: behavior.Duration(time.Second)}, "wait up to 1s until a && b"},
		{action.Wait{Until: long, Within: behavior.Duration(time.Second)}, "wait up to 1s until " + strings.Repeat("é", 200) + "..."},
		{action.Stop{Component: "kubelet/\u202ex"}, `stop kubelet/\u202ex`},
	} {
		if got := tc.action.Describe(); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}
