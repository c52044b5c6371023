package lint_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/check"
	"github.com/skewrig/skewrig/scenarios/lint"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// TestChecksThatShowNothingAreRefused: the scenarios are as the catalog had them, beside
// checks that are much like them and show something.
func TestChecksThatShowNothingAreRefused(t *testing.T) {
	t.Parallel()
	count := func(by string) string {
		return "it counts what was seen since the cell began, and what was there before step " + by + " may be enough: " +
			"observe the number and ask for atLeast, which counts from when the check begins, or filter by at > since"
	}
	const add = "nothing that it is about is judged: add a step of checks, or accepted or rejected to a step"
	last := "it looks at the last of what was seen since the cell began, which may have been there before step 2 (restart kubelet/node-a): " +
		"filter by at > since first"
	for file, want := range map[string][]string{
		"last-of-all.yaml": {
			"last-of-all.yaml:13:7: check half-upgraded-node-a: " + last,
			"last-of-all.yaml:25:5: check falls-back: " + last,
			"last-of-all.yaml:28:5: check in-turn: " + last,
			"last-of-all.yaml:31:5: check by-must: " + last,
			"last-of-all.yaml:34:5: check of-some: " + last,
		},
		"without-etcd.yaml": {
			"without-etcd.yaml:29:5: check no-others-needed: it reads which components the rig started: look at what they do",
			"without-etcd.yaml:34:5: check gates: it reads the gates with which the rig started the component: read what the component says, by a scrape or in an object's status, or what it does",
			"without-etcd.yaml:44:5: check goes-on-without-etcd: " + count("3 (stop etcd)"),
			"without-etcd.yaml:49:5: check goes-on: " + count("3 (stop etcd)"),
		},
		"counts-in-lists.yaml": {
			"counts-in-lists.yaml:19:5: check probed-without-apiserver: " + count("2 (stop kube-apiserver)"),
			"counts-in-lists.yaml:25:5: check others-answered: " + count("2 (stop kube-apiserver)"),
			"counts-in-lists.yaml:29:5: check in-turn: " + count("2 (stop kube-apiserver)"),
			"counts-in-lists.yaml:32:5: check distinct: " + count("2 (stop kube-apiserver)"),
			"counts-in-lists.yaml:35:5: check none-without: " + count("2 (stop kube-apiserver)"),
			"counts-in-lists.yaml:38:5: check none-with-few: " + count("2 (stop kube-apiserver)"),
			"counts-in-lists.yaml:41:5: check not-all-few: " + count("2 (stop kube-apiserver)"),
			"counts-in-lists.yaml:59:5: check asked-webhooks: " + count("2 (stop kube-apiserver)"),
		},
		"rolled.yaml": {
			"rolled.yaml:18:18: check rolled: " + count("2 (roll as "+string(release.Newest)+": kube-apiserver/a, kube-apiserver/b)"),
			"rolled.yaml:21:15: check led: " + count("4 (route kubelet/node-a to b)"),
		},
		"three-quarters.yaml": {
			"three-quarters.yaml:20:5: check not-before-leases-expire: it measures a time from since, which is when this step began, and what it measures may have been before: " +
				"put the check into the step right after the one that changes the rig",
			"three-quarters.yaml:24:5: check by-the-next-look: it measures a time from since, which is when this step began, and what it measures may have been before: " +
				"put the check into the step right after the one that changes the rig",
		},
		"another-kep.yaml": {
			"another-kep.yaml:10:5: check plaintext-never-restarted: KEP-4939/upgrade/existing-pods-unaffected is a requirement of another ledger than the scenario's, kep-5999: " +
				"move the check to a scenario of kep-4939",
			"another-kep.yaml:14:5: check of-the-watchdog: dwd/scale/down is a requirement of another ledger than the scenario's, kep-5999: move the check to a scenario of dwd",
			"another-kep.yaml:18:5: check of-a-known-bug: regressions/kubernetes-100277 is a requirement of another ledger than the scenario's, kep-5999: " +
				"move the check to a scenario of regressions",
		},
		"of-the-watchdog.yaml": {
			"of-the-watchdog.yaml:10:5: check plaintext-never-restarted: KEP-4939/upgrade/existing-pods-unaffected is a requirement of another ledger than the scenario's, dwd: " +
				"move the check to a scenario of kep-4939",
		},
		"no-check.yaml": {"no-check.yaml:7:1: the scenario has no check: " + add},
		"no-check-of-one.yaml": {
			"no-check-of-one.yaml:7:1: cell mine/check/of-one/gate:false has no check: " + add + ", or leave the cell out by where",
		},
		"only-accepted.yaml": nil,
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			files, err := action.Load(os.DirFS("testdata"), []string{file})
			if err != nil {
				t.Fatal(err)
			}
			cells, err := plan.Cells(files)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if err := lint.Refuse(cells); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(strings.Join(want, "\n"), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoCheckOfTheCatalogIsRefused(t *testing.T) {
	t.Parallel()
	cells, err := catalog.Cells()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(lint.Refuse(cells), lint.Undeclared(cells)); err != nil {
		t.Error(err)
	}
	for _, cell := range cells {
		if _, err := check.Compile(cell); err != nil {
			t.Error(err)
		}
	}
}
