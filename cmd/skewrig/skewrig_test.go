package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
)

// skewrig runs a command line in a directory of its own.
func skewrig(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = run(t.Context(), args, &out, &errOut)
	return code, out.String(), errOut.String()
}

// TestAPodIsNoScenario: the commands that are named then do what is said of them.
func TestAPodIsNoScenario(t *testing.T) {
	t.Chdir(t.TempDir())
	golden.Write(t, "pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: a, image: busybox}]}\n")
	code, _, stderr := skewrig(t, "run", "--dry-run", "./pod.yaml")
	for _, command := range []string{"docs own-catalog", "init --pod ./pod.yaml"} {
		if !strings.Contains(stderr, "skewrig "+command+" ") || code != 3 {
			t.Errorf("exit code %d; skewrig %s is not in:\n%s", code, command, stderr)
		}
		if code, stdout, stderr := skewrig(t, strings.Fields(command)...); code != 0 || stdout == "" {
			t.Errorf("skewrig %s: exit code %d\n%s", command, code, stderr)
		}
	}
}

// web is a scenario, mine/pods/web.
const web = "../../app/testdata/web.yaml"

func TestBadInputStartsNothing(t *testing.T) {
	scenario := readText(t, web)
	t.Chdir(t.TempDir())
	edit := func(name, from, to string) {
		changed := strings.Replace(scenario, from, to, 1)
		if changed == scenario {
			t.Fatalf("%q is not in the scenario", from)
		}
		golden.Write(t, name, changed)
	}
	edit("field.yaml", "title:", "tilte:")
	edit("gate.yaml", "GRPCContainerProbeTLS", "GRPCContainerProbeTls")
	edit("oldgate.yaml", "controlPlane: {gates", "controlPlane: {version: previous, gates")
	edit("twice.yaml", "id: mine/pods/web\n", "id: mine/pods/web\nid: mine/pods/web\n")
	edit("type.yaml", "{name: node-a}", "{name: [node-a]}")
	edit("cel.yaml", "pods.size()", "podz.size(")
	edit("negative.yaml", "is: 0", "is: 0\n    eventually: -3s")
	edit("claim.yaml", "is: 0", "is: 0\n    requirement: KEP-4939/no/such")
	edit("compared.yaml", "topology:\n  controlPlane: {gates: {GRPCContainerProbeTLS: true}}", "axes: {release: [newest, previous]}\ncompare:\n  id: as-before\n"+
		"  requirement: KEP-4939/no/such\n  with: {release: previous}\ntopology:\n  controlPlane: {version: \"${release}\"}")
	golden.Write(t, "known.yaml", "kind: Something\n")
	golden.Write(t, "mine.yaml", scenario)
	golden.Write(t, "old", "#!/bin/sh\necho Kubernetes v1.30.0\n")
	if err := errors.Join(os.Chmod("old", 0o700), os.MkdirAll("foreign/cells", 0o700)); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args []string
		want []string
	}{
		"no such pattern":      {[]string{"run", "kep-4940/**"}, []string{"kep-4940/**", "matches no cell"}},
		"no such file":         {[]string{"run", "nowhere.yaml"}, []string{"nowhere.yaml"}},
		"unknown field":        {[]string{"run", "field.yaml"}, []string{"field.yaml:4:1", "tilte", "title"}},
		"unknown gate":         {[]string{"run", "--dry-run", "gate.yaml"}, []string{"gate.yaml:6:", "GRPCContainerProbeTls"}},
		"gate of another":      {[]string{"run", "oldgate.yaml"}, []string{"oldgate.yaml:6:", string(release.Previous), "no feature gate"}},
		"duplicate key":        {[]string{"run", "twice.yaml"}, []string{"twice.yaml:4:1", "id"}},
		"wrong type":           {[]string{"run", "type.yaml"}, []string{"type.yaml:8:"}},
		"broken expression":    {[]string{"run", "cel.yaml"}, []string{"cel.yaml:12:24: check there"}},
		"negative duration":    {[]string{"run", "negative.yaml"}, []string{"negative.yaml:14:"}},
		"unknown requirement":  {[]string{"run", "claim.yaml"}, []string{"claim.yaml:14:18: check there", "KEP-4939/no/such"}},
		"of a comparison":      {[]string{"run", "compared.yaml"}, []string{"compared.yaml:8:16: check as-before", "KEP-4939/no/such"}},
		"too far apart":        {[]string{"rehearse", "mine.yaml", "--from", "n-2"}, []string{"one minor version at a time", "--from"}},
		"newer nodes":          {[]string{"rehearse", "mine.yaml", "--nodes", "newest"}, []string{"nodes of " + string(release.Newest), string(release.Previous), "newer", "--nodes"}},
		"nodes too old":        {[]string{"rehearse", "mine.yaml", "--from", "newest", "--nodes", "v1.33.0"}, []string{"v1.33.0", "three minor versions", "--nodes"}},
		"several files":        {[]string{"run", "field.yaml", "twice.yaml"}, []string{"field.yaml:4:1", "twice.yaml:4:1"}},
		"bad output":           {[]string{"list", "-o", "yaml"}, []string{"yaml", "json"}},
		"bad deviation list":   {[]string{"run", "--known-deviations", "known.yaml", "kep-4939/**"}, []string{"known.yaml:1:"}},
		"bad binary":           {[]string{"run", "--binary", "kube-proxy=/bin/true", "kep-4939/**"}, []string{"kube-proxy"}},
		"binary for nothing":   {[]string{"run", "--binary", "kubelet@v1.30.0=old", "mine.yaml"}, []string{"v1.30.0", "no selected cell needs"}},
		"no parallel":          {[]string{"run", "--parallel", "0"}, []string{"--parallel is 0"}},
		"no repeat":            {[]string{"run", "--repeat", "0"}, []string{"--repeat is 0"}},
		"no seed":              {[]string{"run", "--shuffle=off"}, []string{"--shuffle", "on, or a number from 1"}},
		"no such shard":        {[]string{"run", "--shard", "5/4", "--repeat", "-1"}, []string{`--shard is "5/4"`, "2/4", "--repeat is -1"}},
		"shard without number": {[]string{"run", "--shard", "1"}, []string{`--shard is "1"`}},
		"rerun of nothing":     {[]string{"run", "--rerun-failed", "nowhere"}, []string{"nowhere"}},
		"rerun over itself":    {[]string{"run", "--rerun-failed", "foreign", "--report-dir", "./foreign"}, []string{"would overwrite", "merge"}},
		"merge of nothing":     {[]string{"report", "merge", "no", "where", "--report-dir", "foreign"}, []string{"no is no report directory", "where is no report directory", "foreign has cells"}},
		"merge into itself":    {[]string{"report", "merge", "foreign", "--report-dir", "foreign"}, []string{"can't be merged into itself"}},
		"merge to nowhere":     {[]string{"report", "merge", "foreign"}, []string{"report-dir"}},
		"foreign directory":    {[]string{"run", "--report-dir", "foreign", "mine.yaml"}, []string{"foreign", "--report-dir"}},
		"no report":            {[]string{"report", "show", "nowhere"}, []string{"nowhere"}},
		"component is no such": {[]string{"build", "components", "kube-proxy@v1.90.1"}, []string{"kube-proxy"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := skewrig(t, tc.args...)
			if code != exitUsage || stdout != "" {
				t.Errorf("exit code %d, printed %q, want %d and nothing", code, stdout, exitUsage)
			}
			for _, want := range tc.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("the error does not say %q:\n%s", want, stderr)
				}
			}
		})
	}
	if left, err := filepath.Glob("report*"); err != nil || len(left) > 0 {
		t.Errorf("something was written: %v %v", left, err)
	}
}

// TestAReleaseThatCannotBeHad checks that releases which do not exist are reported with their places in
// the file, all of them at once, before anything is compiled.
func TestAReleaseThatCannotBeHad(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/k8s.io/kubernetes/@v/list" {
			fmt.Fprintln(w, "v1.36.1\nv1.36.90\nv1.30.4")
			return
		}
		http.NotFound(w, r)
	}))
	defer proxy.Close()
	t.Setenv("GOPROXY", proxy.URL)
	t.Setenv("GONOSUMDB", "*")
	scenario := readText(t, web)
	t.Chdir(t.TempDir())
	golden.Write(t, "gone.yaml", strings.Replace(scenario, "- {name: node-a}", "- {name: node-a, version: v1.37.99}\n  - {name: node-b, version: v1.36.99}", 1))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, args := range [][]string{{"run", "--dry-run", "gone.yaml"}, {"run", "--cache-dir", "cache", "gone.yaml"}, {"cluster", "up", "--cache-dir", "cache", "gone.yaml"}} {
		code, stdout, stderr := skewrig(t, args...)
		if code != exitUsage || stdout != "" {
			t.Errorf("%v: exit code %d, printed %q, want %d and nothing", args, code, stdout, exitUsage)
		}
		for _, want := range []string{
			"gone.yaml:8:29: Kubernetes v1.37.99 does not exist; near it are " + string(release.Newest) + "\n",
			"gone.yaml:9:29: Kubernetes v1.36.99 does not exist; near it are v1.36.90, " + string(release.Previous) + ", v1.36.1\n",
		} {
			if !strings.Contains(stderr, want) {
				t.Errorf("%v: the error does not say %q:\n%s", args, want, stderr)
			}
		}
		if strings.Contains(stderr, "compiling") || strings.Contains(stderr, "404") {
			t.Errorf("%v: something was compiled, or the Go command speaks:\n%s", args, stderr)
		}
		if _, _, stderr = skewrig(t, append(args, "--verbose")...); !strings.Contains(stderr, "404") {
			t.Errorf("%v: nothing of what the Go command said:\n%s", args, stderr)
		}
	}
	if left, err := filepath.Glob("report*"); err != nil || len(left) > 0 {
		t.Errorf("something was written: %v %v", left, err)
	}
}

// TestAReleaseThatCannotBeChecked: a plan says so, and so does a control plane that no
// kubelet of today may have.
func TestAReleaseThatCannotBeChecked(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	scenario := readText(t, web)
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	golden.Write(t, "all.yaml", strings.Replace(scenario, "- {name: node-a}", "- {name: node-a, version: v1.99.0}", 1))
	code, _, stderr := skewrig(t, "run", "--dry-run", "all.yaml")
	if want := "Not checked whether v1.99.0 exists: the module proxy can't be reached\n"; code != 0 || stderr != want {
		t.Errorf("exit code %d, it says %q, want %q", code, stderr, want)
	}
}

// TestAProxyThatRefuses: that it may not say is not that there is no such release. A plan
// is printed, and a run that needs it is not judged.
func TestAProxyThatRefuses(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "not from here", http.StatusForbidden)
	}))
	defer proxy.Close()
	t.Setenv("GOPROXY", proxy.URL)
	t.Setenv("GONOSUMDB", "*")
	scenario := readText(t, web)
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	golden.Write(t, "all.yaml", strings.Replace(scenario, "- {name: node-a}", "- {name: node-a, version: v1.99.0}", 1))
	const why = "the module proxy refuses to say (403 Forbidden: see go env GOPROXY)"
	code, _, stderr := skewrig(t, "run", "--dry-run", "all.yaml")
	if want := "Not checked whether v1.99.0 exists: " + why + "\n"; code != 0 || stderr != want {
		t.Errorf("exit code %d, it says %q, want %q", code, stderr, want)
	}
	code, _, stderr = skewrig(t, "build", "components", "--cache-dir", "cache", "kubelet@v1.99.0")
	if code != exitNotJudged || !strings.Contains(stderr, "downloading k8s.io/kubernetes@v1.99.0: "+why) || strings.Contains(stderr, "does not exist") {
		t.Errorf("exit code %d, it says %q, want %d and %q", code, stderr, exitNotJudged, why)
	}
}

func TestListPlansTheCatalog(t *testing.T) {
	code, stdout, stderr := skewrig(t, "list", "-o", "json")
	if code != 0 {
		t.Fatal(stderr)
	}
	var cells []listed
	if err := json.Unmarshal([]byte(stdout), &cells); err != nil {
		t.Fatal(err)
	}
	if len(cells) == 0 || len(cells[0].Axes) == 0 || cells[0].File == "" {
		t.Errorf("listed %d, the first of them %+v", len(cells), cells[:min(1, len(cells))])
	}
}

func TestSimulateSaysThatItIsAModel(t *testing.T) {
	code, stdout, stderr := skewrig(t, "simulate", "dwd/candidates/one-node/**")
	if code != 0 || !strings.Contains(stdout, "no evidence of what a release does") || !strings.Contains(stdout, "fail   dwd/candidates/one-node/watchdog:v1.8.0") {
		t.Errorf("exit code %d:\n%s%s", code, stdout, stderr)
	}
	code, stdout, _ = skewrig(t, "simulate", "dwd/candidates/one-node/**", "--as", "text", "-o", "json")
	var played []app.Simulated
	if err := json.Unmarshal([]byte(stdout), &played); err != nil {
		t.Fatal(err)
	}
	if code != 0 || len(played) != 2 || !played[1].Model || played[1].Outcome != reports.Pass {
		t.Errorf("exit code %d: %+v", code, played)
	}
	if code, _, stderr = skewrig(t, "simulate", "dwd/**", "--as", "newest"); code != 3 || !strings.Contains(stderr, "--as") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// TestNoReportIsLost: a directory that another process has, or that has a report of
// other cells, is refused before anything starts.
func TestNoReportIsLost(t *testing.T) {
	scenario := readText(t, web)
	t.Chdir(t.TempDir())
	golden.Write(t, "mine.yaml", scenario)
	for _, dir := range []string{"other", "same", "forced"} {
		saveReport(t, dir, reports.Pass)
	}
	held, err := app.Place{Dir: "held"}.Claim(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	const other = "other has the report of 1 cell"
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"run", "mine.yaml", "--report-dir", "held"}, exitNotJudged, fmt.Sprint("held is in use by pid ", os.Getpid())},
		{[]string{"podsapi", "check", "--report-dir", "held"}, exitNotJudged, "held is in use"},
		{[]string{"report", "merge", "other", "--report-dir", "held", "--force"}, exitNotJudged, "held is in use"},
		{[]string{"run", "mine.yaml", "--report-dir", "other"}, exitUsage, other},
		{[]string{"podsapi", "check", "--report-dir", "other"}, exitUsage, other},
		{[]string{"podsapi", "check", "--report-dir", "forced", "--force", "--socket", "nowhere"}, exitNotJudged, "Replacing the report of 1 cell"},
		{[]string{"report", "merge", "other", "--report-dir", "same"}, reports.ExitExpected, "Replacing the report of 1 cell"},
	} {
		code, _, stderr := skewrig(t, c.args...)
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: exit code %d: %s", c.args, code, stderr)
		}
	}
	if r, err := app.ReadReport("other"); err != nil || r.Cells[0].ID != "kep-4188/gate/toggled/kubelet:v1.90.1" {
		t.Errorf("it is lost: %v", err)
	}
}

func TestPlanPrintsAScenario(t *testing.T) {
	scenario := readText(t, web)
	t.Chdir(t.TempDir())
	golden.Write(t, "mine.yaml", scenario)
	code, stdout, stderr := skewrig(t, "run", "--dry-run", "mine.yaml")
	if code != 0 || !strings.Contains(stdout, "mine/pods/web") || !strings.Contains(stdout, "there") {
		t.Errorf("exit code %d:\n%s%s", code, stdout, stderr)
	}
}

func TestNothingToRunAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	saveReport(t, "before", reports.Pass)
	if code, stdout, stderr := skewrig(t, "run", "--rerun-failed", "before"); code != 0 || stdout != "" || !strings.HasPrefix(stderr, "Nothing to rerun") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	if code, stdout, stderr := skewrig(t, "run", "--rerun-failed", "before", "-o", "json"); code != 0 || !strings.Contains(stdout, `"cells": []`) {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	if code, stdout, stderr := skewrig(t, "run", "--rerun-failed", "before", "kep-5999/**"); code != exitUsage || !strings.Contains(stderr, "before has none of the") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	if _, err := os.Stat("before-rerun"); err == nil {
		t.Error("something was written")
	}
}

// TestWhatNoRerunMends is not as expected, though each cell is.
func TestWhatNoRerunMends(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, tc := range map[string]struct {
		problems []string
		partial  string
		code     int
		said     string
	}{
		"a problem": {problems: []string{"an entry matches nothing"}, code: reports.ExitNonconforming, said: "has a problem: an entry matches nothing"},
		"a shard":   {partial: "shard 2/3 is missing", code: reports.ExitNotJudged, said: "is partial: shard 2/3 is missing"},
	} {
		saveReport(t, "before", reports.Pass)
		saved, err := app.ReadReport("before")
		if err != nil {
			t.Fatal(err)
		}
		saved.Problems, saved.Partial = tc.problems, tc.partial
		if err := render.WriteDir("before", saved); err != nil {
			t.Fatal(err)
		}
		for _, more := range [][]string{nil, {"-o", "json"}, {"--quiet"}} {
			code, stdout, stderr := skewrig(t, append([]string{"run", "--rerun-failed", "before"}, more...)...)
			if code != tc.code || !strings.Contains(stderr, "before "+tc.said) {
				t.Errorf("%s, %q: exit code %d: %s%s", name, more, code, stdout, stderr)
			}
		}
	}
}

func TestMergePrintsAReport(t *testing.T) {
	t.Chdir(t.TempDir())
	saveReport(t, "one", reports.Fail)
	code, stdout, stderr := skewrig(t, "report", "merge", "one", "--report-dir", "both")
	if code != reports.ExitNonconforming || stderr != "" || !strings.Contains(stdout, "kep-4188/gate/toggled/kubelet:v1.90.1") {
		t.Errorf("exit code %d:\n%s%s", code, stdout, stderr)
	}
}
