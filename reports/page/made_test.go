package page

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/cellid"
)

// Red is the cell of the small run that failed and whose narration is the longest;
// Green is one that passed. Compared is compared with it. Flaky ran three times, and failed in the second run.
const (
	Flaky = "kep-2/api/lists/kubelet:v1.89.3"
	Red   = "kep-1/upgrade/kubelet/apiserver:v1.90.1/kubelet:v1.89.3"
	Green = "kep-1/skew/older-kubelet/apiserver:v1.90.1/kubelet:v1.89.3"

	Compared = "kep-1/skew/older-kubelet/apiserver:v1.90.1/kubelet:v1.90.1"
)

// Hostile is a text that would do something in a page that let it.
const Hostile = `</script><script>window.owned=1</script><img src=x onerror="window.owned=1">'"&<b>` + "\u202edesrever\x00\x1b[2J"

var began = time.Date(2026, 11, 22, 8, 13, 9, 0, time.UTC)

// MadeReport returns a small made-up run that has every outcome.
func MadeReport() reports.Report {
	deviation := "it looks at its gate when it probes, v1.89 and v1.90 (https://example.com/kep-1/issues/7)"
	cells := []reports.Cell{
		madeCell(Red, 31.2,
			madeCheck("restarts-end", "KEP-1/upgrade/takes-effect", reports.Fail, `within 1m30s: connections["tls/app"].filter(c, c.first == "tls-client-hello").size() satisfies it >= 5`, "2", ""),
			madeCheck("one-pod", "KEP-1/upgrade/nothing-else", reports.Pass, "at once: pods.size() == 1", "1", "")),
		madeCell(Green, 14.8, madeCheck("stays-up", "KEP-1/skew/older", reports.Pass, "for 20s: restarts == 0", "0", "")),
		madeCell(Compared, 13.1, madeCheck("stays-up", "KEP-1/skew/older", reports.Pass, "for 20s: restarts == 0", "0", "")),
		madeCell("kep-1/gate/toggled/apiserver:v1.90.1/kubelet:v1.90.1", 22, madeCheck("gate-is-off", "KEP-1/gate/off", reports.ExpectedFail, "at once: plaintext == true", "false", deviation)),
		madeCell("kep-1/gate/toggled/apiserver:v1.89.3/kubelet:v1.89.3", 21, madeCheck("gate-is-off", "KEP-1/gate/off", reports.ExpectedFail, "at once: plaintext == true", "false", deviation)),
		madeCell("kep-2/api/lists/kubelet:v1.90.1", 9.5, madeCheck("lists", "KEP-2/list", reports.UnexpectedPass, "at once: pods.size() == 2", "2", "the entry of the list is stale")),
		madeCell(Flaky, 9.5, madeCheck("lists", "KEP-2/list", reports.Pass, "at once: pods.size() == 2", "2", "")),
		madeCell("kep-2/api/lists/kubelet:reference", 4.5, madeCheck("lists", "KEP-2/list", reports.NotApplicable, "at once: pods.size() == 2", "", "the reference has no API server")),
		madeCell("watchdog/outage/watchdog:v1.2.3", 40, madeCheck("scales-down", "watchdog/down", reports.Unknown, "within 30s: replicas == 0", "", "the machine was 9 s late")),
	}
	cells = append(cells,
		reports.Cell{ID: "kep-2/api/hostile/kubelet:v1.90.1", KEP: "KEP-2", Axes: cellid.Axes("kep-2/api/hostile/kubelet:v1.90.1"), Outcome: reports.HarnessError, Reason: Hostile},
		reports.Cell{ID: "watchdog/outage/watchdog:v1.8.0", KEP: "watchdog", Axes: cellid.Axes("watchdog/outage/watchdog:v1.8.0"), Outcome: reports.NotTestable, Reason: "it could not be built"})
	for i, c := range cells {
		if c.ID == Flaky {
			cells[i] = ranThrice(c)
		}
	}
	for i := range cells {
		if cells[i].Scenario == "kep-1/gate/toggled" {
			cells[i].Checks[0].Finding = Recorded.ID
		}
	}
	cells[2].Compared = reports.Compared{With: Green, Distinctions: []reports.Distinction{
		{What: "step create: pods/default/tls: spec.mode", Here: `"TLS"`, Step: 1, At: 2.25},
		{What: "step create: pods/default/tls: warning", There: "unknown field", Step: 1, At: 2.25, Because: "the newer release knows the field"},
		{What: "events: Pulled", Here: "2", There: "1", Step: 2, At: 3.5, Chance: true},
	}}
	cells[0].Observed = []reports.Observation{{Probe: "grpc mode=TLS", Server: "grpc-tls", APIServer: "v1.90.1 gate on", Kubelet: "v1.89.3", Wire: "http2-preface"}}
	run := madeRun(cells, []reports.Requirement{
		madeRequirement("KEP-1/upgrade/takes-effect", "Once the kubelet is upgraded, its probes do as the field says."),
		madeRequirement("KEP-1/upgrade/nothing-else", "An upgrade leaves other containers alone."),
		madeRequirement("KEP-1/skew/older", "A kubelet that does not know the field ignores it."),
		madeRequirement("KEP-1/gate/off", "With the gate off, the field is ignored."),
		madeRequirement("KEP-2/list", Hostile),
		madeRequirement("watchdog/down", "When the lease probe fails, the dependents are scaled down."),
		{ID: "KEP-2/stable", KEP: "KEP-2", Level: "core", Stage: "stable", Statement: "It was stable for two releases.", Source: "KEP-2, Graduation Criteria", Manual: "SIG Node decides."},
	})
	return run.Explained([]reports.Finding{Recorded})
}

// ranThrice is a cell that passed, with a second run that did not and a third one
// that did.
func ranThrice(c reports.Cell) reports.Cell {
	bad := c
	bad.Checks = slices.Clone(c.Checks)
	bad.Checks[0].Outcome, bad.Checks[0].Observed = reports.Fail, "1"
	joined := reports.Join(c.Numbered(1), bad.Numbered(2), c.Numbered(3))
	joined.Differs = reports.Difference{Step: 2, Action: "get pods", Bad: "a container was killed: " + Hostile}
	return joined
}

func madeRun(cells []reports.Cell, requirements []reports.Requirement) reports.Report {
	r, err := reports.Assemble(cells, requirements, reports.Reproduce{
		Command: "skewrig run 'kep-1/**' --report-dir report", Skewrig: "v0.6.0", Go: "go1.26.8", Seed: 42,
		Components: []reports.Component{
			{Name: "kube-apiserver", Version: "v1.90.1", Source: "k8s.io/kubernetes@v1.90.1", Digest: "sha256:" + strings.Repeat("a1", 32)},
			{Name: "kubelet", Version: "v1.89.3", Source: "k8s.io/kubernetes@v1.89.3", Digest: "sha256:" + strings.Repeat("b2", 32)},
			{Name: "kubelet", Version: "v1.90.1", Source: "k8s.io/kubernetes@v1.90.1", Digest: "sha256:" + strings.Repeat("c3", 32), Go: "go1.27.0"},
		},
		Host: reports.Host{OS: "linux", Arch: "amd64", CPUs: 2, MemoryBytes: 24 << 30, Kernel: "6.18.44"},
	})
	if err != nil {
		panic(err) // what is made up is wrong
	}
	return r
}

func madeCell(id string, took float64, checks ...reports.Check) reports.Cell {
	kep, _, _ := strings.Cut(id, "/")
	if strings.HasPrefix(kep, "kep") {
		kep = strings.ToUpper(kep)
	}
	return reports.Cell{ID: id, Scenario: scenarioOf(id), KEP: kep, Axes: cellid.Axes(id), Checks: checks, Started: began, DurationSeconds: took}
}

// scenarioOf is the part of a cell's id before its axes.
func scenarioOf(id string) string {
	parts := strings.Split(id, "/")
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return strings.Contains(p, ":") }), "/")
}

// Recorded is a finding of the small run, which is not reported.
var Recorded = reports.Finding{
	ID: "gate-is-read-late", Class: reports.Defect, Rank: 1, Headline: "The gate is read when a probe is made, not when a pod is stored",
	Instead: "it looks at its gate when it probes", Effect: "probes change when a gate does, " + Hostile, Ask: "look once",
	At: []string{"https://github.com/kubernetes/kubernetes/blob/v1.90.1/pkg/kubelet/prober/prober.go#L201"}, Link: "https://example.com/kep-1/issues/7",
	Preparation: "cluster() { kind create cluster; }", Without: "cluster; kubectl get pods",
}

func madeCheck(id, requirement string, outcome reports.Outcome, expected, observed, reason string) reports.Check {
	return reports.Check{ID: id, Requirement: requirement, Outcome: outcome, Expected: expected, Observed: observed, Reason: reason}
}

func madeRequirement(id, statement string) reports.Requirement {
	kep, _, _ := strings.Cut(id, "/")
	return reports.Requirement{ID: id, KEP: kep, Level: "core", Stage: "alpha", Statement: statement, Source: "https://example.com/" + kep}
}

// MadeMany returns a run of n cells, with as many checks and as much text each as real
// ones have.
func MadeMany(n int) reports.Report {
	requirements := make([]reports.Requirement, 400)
	for i := range requirements {
		requirements[i] = madeRequirement(fmt.Sprintf("KEP-%d/group-%d/statement-%d", i%5, i/20, i), fmt.Sprintf("Statement %d holds on each release that has the field, whatever its gate was before.", i))
	}
	releases := []string{"v1.87.4", "v1.88.4", "v1.89.3", "v1.90.1", "v1.91.0-alpha.0"}
	cells := make([]reports.Cell, n)
	for i := range cells {
		id := fmt.Sprintf("kep-%d/group-%d/scenario-%d/apiserver:%s/kubelet:%s", i%5, i/25%7, i/25, releases[i%5], releases[i/5%5])
		cells[i] = madeCell(id, 10+float64(i%300)/10)
		for k := range 11 {
			outcome, reason := reports.Pass, ""
			if k == 3 && i%10 == 0 {
				outcome, reason = reports.ExpectedFail, fmt.Sprintf("release %d is known to do otherwise (https://example.com/issues/%d)", i%7, i%7)
			}
			if k == 4 && i%100 == 7 {
				outcome = reports.Fail
			}
			cells[i].Checks = append(cells[i].Checks, madeCheck(fmt.Sprintf("check-%d-of-%d", k, i), requirements[(i*7+k)%400].ID, outcome,
				fmt.Sprintf(`within 1m%ds: pods["web-%d"].status.containerStatuses.all(c, c.ready && c.restartCount == %d) == true`, i%60, i*37%1009, k), fmt.Sprintf("%v, %d of %d", outcome == reports.Pass, i*31%97, i), reason))
		}
	}
	return madeRun(cells, requirements)
}
