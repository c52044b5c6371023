// Package branch runs checkouts of Kubernetes in the place of releases. The checkouts are made of
// what is published of a release, and changed as an author would.
package branch

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports"
)

var of = flag.String("of", string(release.Newest), "the release of which the checkout is made")

// TestABranch goes the way of an author: the checkout as it is, a change that breaks the
// feature, one that does not compile, and a new gate.
func TestABranch(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and runs real components: left out of -short")
	}
	skewrig := compiled(t)
	dir := published(t, release.Version(*of))
	commit := git(t, dir, "rev-parse", "HEAD")
	cell := probed(t, release.Version(*of))
	run := func(args ...string) (reports.Report, string, int) {
		t.Helper()
		to := filepath.Join(t.TempDir(), "report")
		began := time.Now()
		out, code := command(t, skewrig, append([]string{"run", "--source", "kubelet=" + dir, "--report-dir", to, "--github", "never"}, args...)...)
		t.Logf("%v: exit %d after %s", args, code, time.Since(began).Round(time.Second))
		report, err := app.ReadReport(to)
		if err != nil && code < 3 {
			t.Fatalf("%v\n%s", err, out)
		}
		return report, out, code
	}

	report, out, code := run(cell)
	if code != 0 {
		t.Fatalf("as it is: exit %d\n%s", code, out)
	}
	source := report.Reproduce.Sources[0]
	if source.Commit != commit || source.Diff != "" || !source.Version.IsSource() || !ran(report, source.Version) {
		t.Errorf("as it is: %+v, ran %v", source, report.Reproduce.Components)
	}

	change(t, dir, "pkg/probe/grpc/grpc.go", "return probe.Success,", "return probe.Failure,")
	status := git(t, dir, "status", "--porcelain")
	report, out, code = run(cell)
	if code != 1 {
		t.Errorf("with no probe that succeeds: exit %d\n%s", code, out)
	}
	if diff := report.Reproduce.Sources[0].Diff; !strings.Contains(diff, "+	return probe.Failure,") {
		t.Errorf("the report's diff is %q", diff)
	}
	if now := git(t, dir, "status", "--porcelain"); now != status {
		t.Errorf("git status was %q and is %q", status, now)
	}
	if _, out, code = run(cell, "--source", "kubelet="+dir+"@HEAD"); code != 3 || !strings.Contains(out, "another one stands in for") {
		t.Errorf("two for one: exit %d\n%s", code, out)
	}

	change(t, dir, "pkg/probe/grpc/grpc.go", "return probe.Failure,", "return nothing,")
	if _, out, code = run(cell); code == 0 || !strings.Contains(out, "undefined: nothing") || !strings.Contains(out, "grpc.go:") {
		t.Errorf("what does not compile: exit %d\n%s", code, out)
	}
	git(t, dir, "checkout", "--quiet", ".")

	mine := written(t, gated)
	if _, out, code = run(mine); code != 3 || !strings.Contains(out, "SkewrigTriesThis") {
		t.Errorf("a gate that does not exist: exit %d\n%s", code, out)
	}
	change(t, dir, "pkg/features/kube_features.go", "\nconst (\n", "\nconst SkewrigTriesThis featuregate.Feature = \"SkewrigTriesThis\"\n\nconst (\n")
	change(t, dir, "pkg/features/kube_features.go", "map[featuregate.Feature]featuregate.VersionedSpecs{\n", "map[featuregate.Feature]featuregate.VersionedSpecs{\n\tSkewrigTriesThis: {{Version: version.MustParse(\"1.30\"), Default: false, PreRelease: featuregate.Alpha}},\n")
	if report, out, code = run(mine); code != 0 || !strings.Contains(report.Reproduce.Sources[0].Gates, "SkewrigTriesThis ALPHA false\n") {
		t.Errorf("a gate of the checkout: exit %d\n%s", code, out)
	}

	plan := func() (string, int) {
		return command(t, skewrig, "plan", written(t, fielded), "--source", "kubelet="+dir)
	}
	if out, code = plan(); code != 3 || !strings.Contains(out, `has no field "skewrigTriesThis" here`) {
		t.Errorf("a field that does not exist: exit %d\n%s", code, out)
	}
	change(t, dir, "staging/src/k8s.io/api/core/v1/types.go", "type GRPCAction struct {\n", "type GRPCAction struct {\n\tSkewrigTriesThis string `json:\"skewrigTriesThis,omitempty\"`\n\n")
	if out, code = plan(); code != 0 {
		t.Errorf("a field of the checkout: exit %d\n%s", code, out)
	}
}

// probed selects a cell with a gRPC probe: one of the catalog over TLS, if the release has that.
func probed(t *testing.T, v release.Version) string {
	t.Helper()
	if release.CheckGate(release.Effective{Version: v}, "GRPCContainerProbeTLS") == nil {
		return "kep-4939/e2e/tls-probe-tls-server/**"
	}
	return written(t, plain)
}

func written(t *testing.T, scenario string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(file, []byte(scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// plain is a scenario with a gRPC probe.
const plain = `apiVersion: skewrig.dev/v1alpha1
kind: Scenario
id: mine/probe/plain
title: A gRPC probe
topology:
  controlPlane: {scheduler: false, controllerManager: false}
  nodes: [{name: node-a, version: newest}]
images: [{image: registry.example/grpc, listen: [{port: 5000, protocol: grpc}]}]
steps:
- apply:
    apiVersion: v1
    kind: Pod
    metadata: {name: plain}
    spec:
      nodeName: node-a
      containers:
      - name: app
        image: registry.example/grpc
        livenessProbe: {grpc: {port: 5000}, periodSeconds: 1, failureThreshold: 1}
- checks: [{id: probed, observe: 'connections["plain/app"].size()', must: it >= 3, eventually: 60s}]
- checks: [{id: stays-up, observe: 'containers["plain/app"].restarts', is: 0, always: {for: 5s}}]
`

// gated is a scenario in which a kubelet has a gate on.
const gated = `apiVersion: skewrig.dev/v1alpha1
kind: Scenario
id: mine/gate/on
title: A kubelet with a gate of its own
topology:
  controlPlane: {scheduler: false, controllerManager: false}
  nodes: [{name: node-a, version: newest, gates: {SkewrigTriesThis: true}}]
steps:
- checks: [{id: ready, observe: 'nodes["node-a"].ready', is: "True", eventually: 60s}]
`

// fielded is a scenario with a static pod whose probe has a field of its own.
const fielded = `apiVersion: skewrig.dev/v1alpha1
kind: Scenario
id: mine/field/set
title: A probe with a field of its own
topology:
  controlPlane: {scheduler: false, controllerManager: false}
  nodes: [{name: node-a, version: newest}]
images: [{image: registry.example/grpc, listen: [{port: 5000, protocol: grpc}]}]
steps:
- staticPod:
    node: node-a
    pod:
      apiVersion: v1
      kind: Pod
      metadata: {name: fielded}
      spec:
        containers:
        - name: app
          image: registry.example/grpc
          livenessProbe: {grpc: {port: 5000, skewrigTriesThis: a}, periodSeconds: 1}
- checks: [{id: stays-up, observe: 'containers["fielded-node-a/app"].restarts', is: 0, always: {for: 5s}}]
`

// ran reports whether a component of a version took part.
func ran(r reports.Report, v release.Version) bool {
	for _, c := range r.Reproduce.Components {
		if c.Version == string(v) {
			return true
		}
	}
	return false
}

func change(t *testing.T, dir, path, old, now string) {
	t.Helper()
	file := filepath.Join(dir, path)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		t.Fatalf("%s has no %q", path, old)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), old, now, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// compiled is the program.
func compiled(t *testing.T) string {
	t.Helper()
	skewrig := filepath.Join(t.TempDir(), "skewrig")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", skewrig, "../../cmd/skewrig").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return skewrig
}

// command runs the program, and returns what it prints and its exit code.
func command(t *testing.T, skewrig string, args ...string) (string, int) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), skewrig, args...).CombinedOutput()
	exit, is := errors.AsType[*exec.ExitError](err)
	if is {
		return string(out), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(out), 0
}
