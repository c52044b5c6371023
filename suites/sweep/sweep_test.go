// Package sweep sweeps a release as it is, and releases that are broken in one place.
package sweep

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/sweep/trial"
)

const (
	endless = "pod template changed: it is written without end"
	mode    = "core/v1.GRPCAction.mode"
)

// TestSweep: a sweep that knows of no issue finds kubernetes#141961, and each fault that is put into
// an API server.
func TestSweep(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and runs real components: left out of -short")
	}
	skewrig := filepath.Join(t.TempDir(), "skewrig")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", skewrig, "../../cmd/skewrig").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const util, validation = "pkg/api/pod/util.go", "pkg/apis/core/validation/validation.go"
	for _, tc := range []struct {
		name           string
		program        string // what is changed. If unset, the API server
		file, old, new string
		gate, kind     string // that are swept. If unset, that of the field mode, and Deployments
		field          string // that shows it. If unset, mode
		want           string // what the signature of a finding has, with the field mode if it is one of an object
	}{
		{name: "as it is", want: endless},
		{
			name: "a field that is never dropped", want: "created: the field is stored although the gate is off",
			file: util, old: "\tdropDisabledGRPCContainerProbeTLS(podSpec, oldPodSpec)\n", new: "",
		},
		{
			name: "a field that is dropped from objects that use it", want: "labeled: the field is lost",
			file: util, old: "features.GRPCContainerProbeTLS) || grpcProbeModeInUse(oldPodSpec) {", new: "features.GRPCContainerProbeTLS) {",
		},
		{
			name: "a validation that refuses what is stored", want: "labeled: it is refused",
			file: validation, old: "if grpc.Mode != nil && !supportedGRPCProbeModes.Has(*grpc.Mode) {",
			new: "if grpc.Mode != nil && (!utilfeature.DefaultFeatureGate.Enabled(features.GRPCContainerProbeTLS) || !supportedGRPCProbeModes.Has(*grpc.Mode)) {",
		},
		{
			name: "a field that is filled in although its gate is off", want: "created without the field: the field is filled in although the gate is off",
			gate: "H2CContainerProbe", kind: "Pod", field: "core/v1.HTTPGetAction.protocol",
			file: "pkg/apis/core/v1/defaults.go", old: "\tif utilfeature.DefaultFeatureGate.Enabled(features.H2CContainerProbe) {\n", new: "\t{\n",
		},
		{
			name: "a controller that panics while a gate is off", want: "kube-controller-manager panics",
			program: "kube-controller-manager", file: "pkg/controller/deployment/sync.go",
			old: "\tif utilfeature.DefaultFeatureGate.Enabled(features.DeploymentReplicaSetTerminatingReplicas) {\n",
			new: "\tif !utilfeature.DefaultFeatureGate.Enabled(features.GRPCContainerProbeTLS) {\n\t\tpanic(\"no gate\")\n\t}\n\tif utilfeature.DefaultFeatureGate.Enabled(features.DeploymentReplicaSetTerminatingReplicas) {\n",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			program := cmp.Or(tc.program, "kube-apiserver")
			args := []string{"sweep", "--gates", cmp.Or(tc.gate, "GRPCContainerProbeTLS"), "--kinds", cmp.Or(tc.kind, "Deployment"), "--at", program}
			if tc.file != "" {
				args = append(args, "--overlay", program+"@"+string(release.Newest)+":"+tc.file+"="+changed(t, tc.file, tc.old, tc.new))
			}
			swept := run(t, skewrig, args)
			found := slices.ContainsFunc(swept.Findings, func(f trial.Finding) bool {
				about := func(i trial.Found) bool { return i.Field == cmp.Or(tc.field, mode) || tc.program != "" }
				return strings.Contains(f.Signature(), tc.want) && slices.ContainsFunc(f.Items, about)
			})
			if !found {
				t.Errorf("no finding %q among %d, not confirmed: %d", tc.want, len(swept.Findings), len(swept.NotConfirmed))
			}
			for _, f := range slices.Concat(swept.Findings, swept.NotConfirmed) {
				for _, i := range f.Items {
					t.Logf("%s: %s, alone %s, control %s", f.Signature(), i.Field, i.Alone, i.Control)
				}
			}
		})
	}
}

// changed is a copy of a file of the newest release with something else in one place.
func changed(t *testing.T, file, old, with string) string {
	t.Helper()
	dir, err := new(build.Builder).Source(t.Context(), release.Newest)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(text), old) != 1 {
		t.Fatalf("%s has %q %d times", file, old, strings.Count(string(text), old))
	}
	to := filepath.Join(t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(to, []byte(strings.Replace(string(text), old, with, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

// run runs a sweep that finds something.
func run(t *testing.T, skewrig string, args []string) (swept trial.Result) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), skewrig, append(args, "--report-dir", filepath.Join(t.TempDir(), "sweep"), "-o", "json")...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if exit, is := errors.AsType[*exec.ExitError](err); !is || exit.ExitCode() != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := json.Unmarshal(out, &swept); err != nil {
		t.Fatal(err)
	}
	return swept
}
