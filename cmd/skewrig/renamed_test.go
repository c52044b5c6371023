package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOldNames: each works as the new one does, and one line says so.
func TestOldNames(t *testing.T) {
	t.Parallel()
	tested := make(map[string]bool)
	for was, want := range map[string]string{
		"plan ./mine.yaml -o json":                "run --dry-run ./mine.yaml -o json",
		"-q plan":                                 "-q run --dry-run",
		"dev ./mine.yaml --overlay a=b":           "run --watch ./mine.yaml --overlay a=b",
		"sweep --known=sweep.json v1.37.1":        "sweep --baseline sweep.json v1.37.1",
		"upstream --focus x --from ../kubernetes": "upstream --focus x --specs ../kubernetes",
		"judge report mine.yaml":                  "report judge report mine.yaml",
		"diff a b":                                "report diff a b",
		"trend a b":                               "report trend a b",
		"finding x -o issue":                      "report findings x -o issue",
		"report yesterday -o html":                "report show yesterday -o html",
		"report -o html":                          "report show -o html",
		"trace report --kep KEP-4939":             "kep status report --kep KEP-4939",
		"graduate kep-4939 --stage beta":          "kep graduate kep-4939 --stage beta",
		"prr kep-4939":                            "kep prr kep-4939",
		"scaffold README.md --gate A":             "kep ledger README.md --gate A",
		"simulate dwd/** --against dwd":           "simulate dwd/** --report dwd",
		"up -o json":                              "cluster up -o json",
		"ps --prune":                              "cluster list --prune",
		"logs up-1 kubelet/node-a -f":             "cluster logs up-1 kubelet/node-a -f",
		"build player-image x":                    "build mock-image x",
		"build --export f etcd --for x":           "build save f etcd --for x",
		"build --for x --export=f":                "build save f --for x",
		"build --import f":                        "build load f",
		"build kubelet":                           "build components kubelet",
		"build --list":                            "build components --list",
		"init ./pod.yaml":                         "init --pod ./pod.yaml",
		"run --provider cluster --nodes a=b":      "run --provider cluster --nodes a=b",
		"run --real-image a --player-image b":     "run --real-image a --player-image b",
		"run --kubeconfig a --context=b":          "run --kubeconfig a --context=b",
		"run --node-image a=b --isolate":          "run --node-image a=b --isolate",
		"run --image a --namespace b":             "run --image a --namespace b",
		"run --job-patch a":                       "run --job-patch a",
		"sweep --image a --namespace b":           "sweep --image a --namespace b",
		"sweep --job-patch a":                     "sweep --job-patch a",
		"sweep --context a --kubeconfig b":        "sweep --context a --kubeconfig b",
		"report diff a b":                         "report diff a b",
		"report --help":                           "report --help",
		"build save f":                            "build save f",
		"init --pod ./pod.yaml":                   "init --pod ./pod.yaml",
		"run -- --isolate":                        "run -- --isolate",
		"run":                                     "run",
		"report":                                  "report",
		"help up":                                 "help cluster up",
	} {
		root, args := newRoot(), strings.Fields(was)
		now, notices := renamed(root, args)
		if diff := cmp.Diff(strings.Fields(want), now); diff != "" {
			t.Errorf("%s (-want +got):\n%s", was, diff)
		}
		if len(notices) == 0 && !slices.Equal(now, args) || slices.ContainsFunc(notices, func(n string) bool { return !strings.Contains(n, "; the old name goes with the next release") }) {
			t.Errorf("%s: the notices are %q", was, notices)
		}
		for _, n := range notices {
			tested[n] = true
		}
		if cmd, rest, err := root.Find(now); want != "help cluster up" && (err != nil || !cmd.HasParent()) {
			t.Errorf("%s: %v", want, err)
		} else if err := cmd.ParseFlags(rest); err != nil && !strings.Contains(want, "--help") {
			t.Errorf("%s: %v", want, err)
		}
	}
	for _, r := range renames {
		if !tested[r.notice()] {
			t.Errorf("nothing tests %q", r.notice())
		}
	}
}

// TestAnOldNameHasANotice: on standard error, once, and not to a shell that completes.
func TestAnOldNameHasANotice(t *testing.T) {
	t.Parallel()
	const notice = "skewrig trend is now skewrig report trend; the old name goes with the next release\n"
	if code, stdout, stderr := skewrig(t, "trend", "nowhere"); code != exitUsage || stdout != "" || !strings.HasPrefix(stderr, notice) || strings.Count(stderr, notice) != 1 {
		t.Errorf("exit code %d:\n%s\n%s", code, stdout, stderr)
	}
	if _, directive := completed(t, "trend", ""); directive != ":16" {
		t.Errorf("completed to %s", directive)
	}
}

// TestTheHelpFitsAScreen: it has 24 lines of 80 columns, and lists no old name.
func TestTheHelpFitsAScreen(t *testing.T) {
	t.Parallel()
	code, stdout, _ := skewrig(t, "--help")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if code != 0 || len(lines) > 24 {
		t.Errorf("exit code %d, %d lines:\n%s", code, len(lines), stdout)
	}
	for _, line := range lines {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if len(line) > 80 || slices.ContainsFunc(renames, func(r rename) bool { return r.flag == "" && !r.bare && r.command == name }) {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

// TestChangesHasEachOldName: who looks an old name up finds the new one.
func TestChangesHasEachOldName(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/changes.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range renames {
		was := strings.TrimSpace(r.command + " " + r.flag)
		if r.bare {
			was += " ARGUMENT"
		}
		now := "`" + r.now + "`"
		if r.setting != "" {
			now = "`" + r.setting + "` of `--provider-config`"
		}
		if row := "| `" + was + "` | " + now + " |"; !strings.Contains(string(page), row) {
			t.Errorf("docs/changes.md lacks: %s", row)
		}
	}
}
