package mutants

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// survivingServers are the servers that may speak something else without a check
// turning red, and why that is so.
var survivingServers = map[string]string{
	"kep-4939/e2e/tls-probe-wrong-port/step-1-1-1":        "nothing reaches the server",
	"kep-5999/e2e/http2-probe-wrong-port/step-1-1-1":      "nothing reaches the server",
	"kep-4939/motivation/exec-to-native/exec-hung-6010":   "the server never answers",
	"kep-4939/motivation/exec-to-native/native-hung-6011": "the server never answers",
	"kep-4939/probe/answers/hung-6008":                    "the server never answers",
	"kep-4939/probe/answers/hung-6009":                    "the server never answers",
	"kep-4939/probe/certificates/hung-8443":               "the server never answers",
	"kep-5999/probe/answers/server-8082":                  "the server never answers",
	"kep-5999/probe/answers/server-8083":                  "the server never answers",
	"kep-5999/probe/answers/server-8084":                  "the server closes the connection without an answer",
	"kep-5999/probe/answers/server-8085":                  "the server resets the connection without an answer",
	"kep-5999/probe/requests/server-18081":                "its probes open connections, and send nothing",
	"kep-5999/skew/older-kubelet/h2c-8081":                "its answer is 500, so that only a TCP probe succeeds, whatever it speaks",
}

// notServed are the areas in which it does not matter what the servers of pods
// do: admission has none, and the Pods API tells of containers whatever they
// serve. (That API has broken servers of its own, in podsapi_test.go.)
func notServed(cell plan.Cell) bool {
	return strings.Contains(cell.ID, "/admission/") || strings.HasPrefix(cell.ID, "kep-4188/")
}

var _ = It("finds each server that speaks something else", Serial, func(ctx SpecContext) {
	all, err := catalog.Cells()
	Expect(err).NotTo(HaveOccurred())
	var mutants []plan.Cell
	for _, cell := range slices.DeleteFunc(catalog.Default(all, release.Releases{}), notServed) {
		cell := withoutKnown(cell)
		if changed := serverMutants(cell); len(changed) > 0 {
			mutants = append(mutants, changed...)
			mutants = append(mutants, impatient(cell, unchanged))
		}
	}
	Expect(len(mutants)).To(BeNumerically(">", 30), "so few servers can't be all")

	var survivors, doubtful []string
	e := &engine.Engine{Binary: new(build.Builder).Binary, Parallel: 5, FailFast: true}
	for _, r := range runTrusted(ctx, e, mutants) {
		finding := found(r)
		AddReportEntry(r.ID, finding, ReportEntryVisibilityFailureOrVerbose)
		switch is := strings.HasSuffix(r.ID, mutantID+unchanged); {
		case is && finding != "":
			doubtful = append(doubtful, r.ID+": "+finding)
		case !is && finding == "":
			survivors = append(survivors, mutantOf(r))
		}
	}
	AddReportEntry("servers", fmt.Sprintf("%d cells with one server changed or, as a control, none; %d survived", len(mutants), len(survivors)))
	Expect(doubtful).To(BeEmpty(), "nothing is changed in these")
	Expect(slices.DeleteFunc(survivors, listed)).To(BeEmpty(), "no check noticed these")
})

// listed reports whether a server is known to survive.
func listed(server string) bool { _, ok := survivingServers[server]; return ok }

// mutantOf names a mutant without the releases.
func mutantOf(r reports.Cell) string {
	_, what, _ := strings.Cut(r.ID, mutantID)
	return r.Scenario + "/" + what
}

// found returns the check that a mutant turned red, or why the scenario could
// not go on. It is empty for one that was not noticed.
func found(r reports.Cell) string {
	GinkgoHelper()
	here, err := app.Here()
	Expect(err).NotTo(HaveOccurred())
	for _, c := range here.Known.Excuse(r).Checks { // oracles may be known to fail
		if c.Outcome == reports.Fail {
			return string(c.Outcome) + " " + c.ID
		}
	}
	if strings.Contains(r.Reason, "the scenario can't go on") {
		return r.Reason
	}
	return ""
}

// withoutKnown is a cell without the checks that are known to fail.
func withoutKnown(cell plan.Cell) plan.Cell {
	GinkgoHelper()
	here, err := app.Here()
	Expect(err).NotTo(HaveOccurred())
	cell.Steps = slices.Clone(cell.Steps)
	for i, step := range cell.Steps {
		checks, is := step.Action.(action.Checks)
		if !is {
			continue
		}
		checks.Checks = slices.DeleteFunc(slices.Clone(checks.Checks), func(c action.Check) bool {
			failed := reports.Cell{ID: cell.ID, Checks: []reports.Check{{ID: c.ID, Requirement: c.Requirement, Outcome: reports.Fail}}}
			return here.Known.Excuse(failed).Outcome == reports.ExpectedFail
		})
		cell.Steps[i].Action = checks
	}
	return cell
}

// another is what a server speaks instead of its own protocol.
var another = map[behavior.Protocol]behavior.Protocol{
	behavior.GRPC: behavior.GRPCTLS, behavior.GRPCTLS: behavior.GRPC,
	behavior.HTTP1: behavior.H2C, behavior.H2C: behavior.HTTP1,
	behavior.H2CAndHTTP1: behavior.GRPCTLS, behavior.HTTPS: behavior.HTTP1,
	behavior.GRPCAndTLS: behavior.GRPC,
}

// serverMutants returns a cell once for each of its servers, with that one
// speaking something else.
func serverMutants(cell plan.Cell) (mutants []plan.Cell) {
	for i, image := range cell.Images {
		for j, l := range image.Listen {
			c := impatient(cell, fmt.Sprintf("%s-%d", image.Image[strings.LastIndex(image.Image, "/")+1:], l.Port))
			c.Images = slices.Clone(cell.Images)
			c.Images[i].Listen = slices.Clone(image.Listen)
			c.Images[i].Listen[j].Protocol = another[l.Protocol]
			c.Images[i].Listen[j].TLS = nil
			mutants = append(mutants, c)
		}
	}
	for i, step := range cell.Steps {
		apply, _ := step.Action.(action.Apply)
		for j, object := range apply.Objects {
			for n := range servers(object) {
				c := impatient(cell, fmt.Sprintf("step-%d-%d-%d", step.Number, j+1, n+1))
				changed := copied(object)
				server := servers(changed)[n]
				server["args"] = anotherProgram(server["args"].([]any))
				c.Steps[i].Action = action.Apply{Objects: slices.Replace(slices.Clone(apply.Objects), j, j+1, changed)}
				mutants = append(mutants, c)
			}
		}
	}
	return mutants
}

// servers are the containers of a manifest that run a program of agnhost which
// another one can stand for.
func servers(value any) (found []map[string]any) {
	switch value := value.(type) {
	case map[string]any:
		if args, _ := value["args"].([]any); len(args) > 0 && anotherProgram(args) != nil {
			found = append(found, value)
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			found = append(found, servers(value[key])...)
		}
	case []any:
		for _, item := range value {
			found = append(found, servers(item)...)
		}
	}
	return found
}

// anotherProgram is how agnhost is run to speak something else on the same port:
// with TLS or without, HTTP/1.1 or h2c.
func anotherProgram(args []any) []any {
	isTLS := func(arg any) bool { return strings.HasPrefix(fmt.Sprint(arg), "--tls-") }
	switch {
	case args[0] == "grpc-health-checking" && slices.ContainsFunc(args, isTLS):
		return slices.DeleteFunc(slices.Clone(args), isTLS)
	case args[0] == "grpc-health-checking":
		return append(slices.Clone(args), "--tls-cert-file=/localhost.crt", "--tls-private-key-file=/localhost.key")
	case args[0] == "h2c-server":
		return append([]any{"test-webserver"}, args[1:]...)
	case args[0] == "test-webserver":
		return append([]any{"h2c-server"}, args[1:]...)
	case args[0] == "netexec":
		return []any{"h2c-server"}
	default:
		return nil
	}
}

// copied is a manifest that may be changed.
func copied(manifest map[string]any) (c map[string]any) {
	GinkgoHelper()
	text, err := json.Marshal(manifest)
	Expect(err).NotTo(HaveOccurred())
	Expect(json.Unmarshal(text, &c)).To(Succeed())
	return c
}

// soon is how long a mutant waits for what may not come.
const soon = 25 * time.Second

// unchanged is the mutant of which nothing is changed but for how long it waits:
// what is red there says nothing about another one.
const unchanged = "none"

// mutantID is in the ids of mutants, before what tells them apart.
const mutantID = "/mutant:"

// impatient is a cell of another id that waits for nothing longer than soon.
func impatient(cell plan.Cell, mutant string) plan.Cell { return hurried(cell, mutant, soon) }

// hurried is a cell of another id that waits for nothing longer than a limit.
func hurried(cell plan.Cell, mutant string, limit time.Duration) plan.Cell {
	cell.ID += mutantID + mutant
	cell.Steps = slices.Clone(cell.Steps)
	for i, step := range cell.Steps {
		switch does := step.Action.(type) {
		case action.Wait:
			does.Within = min(does.Within, behavior.Duration(limit))
			cell.Steps[i].Action = does
		case action.Checks:
			does.Checks = slices.Clone(does.Checks)
			for j := range does.Checks {
				if does.Checks[j].Mode == record.Eventually {
					does.Checks[j].Span = min(does.Checks[j].Span, behavior.Duration(limit))
				}
			}
			cell.Steps[i].Action = does
		}
	}
	return cell
}
