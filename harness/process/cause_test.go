package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCause: of logs of real components that were started with something wrong, and of
// what they log in between and afterwards.
func TestCause(t *testing.T) {
	t.Parallel()
	logs, err := filepath.Glob(filepath.Join("testdata", "cause", "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, path := range logs {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got[filepath.Base(path)] = Cause(string(text))
	}
	want := map[string]string{
		"apiserver-flags.log":    "[service-account-issuer is a required flag, either `--service-account-key-file` or `--service-account-signing-endpoint` must be set, --service-account-signing-key-file and --service-account-issuer are required flags]",
		"apiserver-gate.log":     "unrecognized feature gate: Nonsense",
		"etcd-dir.log":           "discovery failed: cannot access data directory: mkdir /proc/nope: no such file or directory",
		"etcd-flag.log":          "flag provided but not defined: -nonsense",
		"etcd-url.log":           "advertise client URLs are not set: --advertise-client-urls is required when --listen-client-urls is set explicitly",
		"kcm-json.log":           "stat /nowhere: no such file or directory",
		"kcm-noapi.log":          `failed to wait for apiserver being healthy: timed out waiting for the condition: failed to get apiserver /healthz status: Get "http://127.0.0.1:1/healthz": dial tcp 127.0.0.1:1: connect: connection refused`,
		"killed.log":             "Failed to watch: connection refused",
		"klog-fatal.log":         "failed to run Kubelet: no space left on device",
		"klog-lines.log":         "cannot validate flags --a: wrong",
		"kubelet-flag.log":       "kubelet: unknown flag: --nonsense",
		"kubelet-gates.log":      "failed to merge global and in-flight KubeletConfiguration while setting defaults, error: RestartAllContainersOnContainerExits is enabled, but depends on features that are disabled: [ContainerRestartRules]",
		"kubelet-kubeconfig.log": `kubelet: loading : failed to read kubelet config file "", error: open : no such file or directory`,
		"scheduler.log":          "stat /nowhere: no such file or directory",
		"watchdog-config.log":    "failed to run command prober: failed to parse prober config file  : open : no such file or directory",
		"watchdog-flag.log":      "flag provided but not defined: -nonsense",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for log, want := range map[string]string{"": "", "\n": "", "just this\n": "just this"} {
		if got := Cause(log); got != want {
			t.Errorf("%q: %q, want %q", log, got, want)
		}
	}
}

// TestACauseIsBounded: a log may have any line, and any number of errors without end.
func TestACauseIsBounded(t *testing.T) {
	t.Parallel()
	if got, want := Cause("panic: a"+strings.Repeat("é", 500_000)), "a"+strings.Repeat("é", 1023)+"…"; got != want {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
	open := `E1122 10:00:00.000000       1 a.go:1] "a" err=<` + strings.Repeat("\nb", 1000)
	if got, want := Cause(open), "a:"+strings.Repeat(" b", maxLines); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestALineOfAnotherFormIsNoFatal: many lines begin with a word and a colon.
func TestALineOfAnotherFormIsNoFatal(t *testing.T) {
	t.Parallel()
	const failed = `E1122 10:00:00.000000       1 run.go:72] "command failed" err="no space left"`
	for log, want := range map[string]string{
		"kind: Pod\n" + failed:                           "no space left",
		"warning: something harmless\n" + failed:         "no space left",
		failed + "\nkind: Pod":                           "no space left",
		"kubelet: unknown flag: --a\n" + failed:          "kubelet: unknown flag: --a",
		"SIGABRT: abort\nPC=0x4 m=0\n\ngoroutine 0":      "SIGABRT: abort",
		"frob: cannot open it\nusage of frob, and so on": "frob: cannot open it",
	} {
		if got := Cause(log); got != want {
			t.Errorf("%q: %q, want %q", log, got, want)
		}
	}
}
