package explain

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
	"github.com/skewrig/skewrig/scenarios/expr"
)

// TestComparedIn: what broke a check is shown as what was compared: the field, what it was,
// what it was to be, and since when.
func TestComparedIn(t *testing.T) {
	t.Parallel()
	events := endedOnce()
	app := `containers["tls/app"]`
	for expected, want := range map[string][]string{
		"within 20s: " + app + `.restarts == 0`:                               {app + `.restarts [containers tls/app restarts] was 1, wanted == 0, since the last change`},
		"within 20s: " + app + `.restarts satisfies it > 4`:                   {app + `.restarts [containers tls/app restarts] was 1, wanted satisfies it > 4, since the last change`},
		"within 20s: " + app + `.running && ` + app + `.restarts > 4 == true`: {app + `.restarts [containers tls/app restarts] was 1, wanted > 4, since the last change`},
		"always for 20s: " + app + `.running && !(` + app + `.starts < ` + app + `.restarts) == false`: {
			app + `.running [containers tls/app running] was true, wanted == false, since the last change`,
			app + `.starts [containers tls/app starts] was 1, wanted < 0, since the last change`,
		},
		"always for 20s: containers.all(c, containers[c].restarts == 0) == true":                {app + `.restarts [containers tls/app restarts] was 1, wanted == 0, since the last change`},
		"always for 20s: containers.exists(c, c == \"c\" || containers[c].starts > 1) == false": {app + `.starts [containers tls/app starts] was 2, wanted not > 1, since the last change`},
		"within 20s: containers.filter(c, containers[c].restarts > 0).size() == 0": {
			`containers.filter(c, containers[c].restarts > 0).size() [] was 1, wanted == 0, since the last change`,
		},
		`within 20s: pods["web"].status.containerStatuses.filter(c, c.name == "app").map(c, c.ready) == [true]`: {
			`pods["web"].status.containerStatuses.filter(c, c.name == "app").map(c, c.ready) [pods web status containerStatuses [name=app] ready] was 1, wanted == true, since ever`,
		},
		`within 20s: pods["web"].spec.containers[0].image == "a == b"`: {`pods["web"].spec.containers[0].image [pods web spec containers [0] image] was 1, wanted == "a == b", since ever`},
		"for 20s: " + app + `.restarts grows by 0 at most`:             {app + `.restarts [containers tls/app restarts] was 1, wanted grows by 0 at most, since the last change`},
		`within 20s: "other" in containers == true`:                    {`"other" in containers [] was false, wanted == true, since the last change`},
		`within 20s: has(pods["web"].spec.probe.mode) == true`:         {`pods["web"].spec.probe.mode [pods web spec probe mode] was not set, wanted == any value, since ever`},
		`within 20s: !has(` + app + `.restarts) == true`:               {app + `.restarts [containers tls/app restarts] was 1, wanted == not set, since the last change`},
		"within 20s: " + app + `.restarts == 5 == true`:                {app + `.restarts [containers tls/app restarts] was 1, wanted == 5, since the last change`},
		"within 20s: (" + app + `.restarts < 5) != true == true`:       {app + `.restarts [containers tls/app restarts] was 1, wanted not < 5, since the last change`},
		"within 20s: 5 < " + app + `.restarts == true`:                 {app + `.restarts [containers tls/app restarts] was 1, wanted > 5, since the last change`},
		"within 20s: " + app + `.restarts == pods["x"].n == true`:      {`pods["x"].n [pods x n] was no such key: x, wanted == 1, since ever`},
		`within 20s: "it satisfies it" in containers == true`:          {`"it satisfies it" in containers [] was false, wanted == true, since the last change`},
		// A comment ends with its line, which a description does not have.
		"within 20s: " + app + `.restarts == 0 // not yet && ` + app + `.running == true`: {
			app + `.restarts == 0 // not yet && ` + app + `.running [] was 1, wanted == true, since the last change`,
		},
		"never for 20s: " + app + `.restarts == 1`:              {app + `.restarts [containers tls/app restarts] was 1, wanted never 1, since the last change`},
		"never for 20s: " + app + `.restarts satisfies it == 1`: {app + `.restarts [containers tls/app restarts] was 1, wanted never 1, since the last change`},
		"never for 20s: " + app + `.restarts > 0 == true`:       {app + `.restarts [containers tls/app restarts] was 1, wanted not > 0, since the last change`},
		"within 20s: (1 == 1 ? false : true) == true":           {`(1 == 1) ? false : true [] was false, wanted == true, since the last change`},
		"within 20s: 1 +": nil,
	} {
		t.Run(expected, func(t *testing.T) {
			t.Parallel()
			result := reports.Cell{Checks: []reports.Check{{ID: "c", Outcome: reports.Fail, Expected: expected, Observed: "1"}}}
			var got []string
			for _, c := range explained(t, result, events).Compared["c"] {
				since := "the last change"
				if c.Since.IsZero() {
					since = "ever"
				}
				got = append(got, fmt.Sprintf("%s [%s] was %s, wanted %s, since %s", c.What, strings.Join(c.Path, " "), c.Value, c.Wanted, since))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	passed := reports.Cell{Checks: []reports.Check{{ID: "c", Outcome: reports.Pass, Expected: "at once: 1 == 2"}}}
	if got := explained(t, passed, events).Compared; len(got) > 0 {
		t.Errorf("what holds has %v", got)
	}
}

// explained is the narration of a result, with what is known of its checks.
func explained(t *testing.T, result reports.Cell, events []record.Event) narrate.Input {
	t.Helper()
	in := narrate.Input{Result: result, Events: events}
	Checks(t.Context(), &in)
	return in
}

// TestOfWhichMembers: of a collection of which one, all or none was to be so, it is named, and
// how many members it has, and how many of these fulfil how much.
func TestOfWhichMembers(t *testing.T) {
	t.Parallel()
	pod := func(phase string) map[string]any { return map[string]any{"status": map[string]any{"phase": phase}} }
	now := map[string]any{"objects": map[string]any{"pods/default/a-1": pod("Running"), "pods/default/a-2": pod("Running"), "nodes/b": map[string]any{}}}
	for text, want := range map[string][3]string{
		`objects.exists(k, k.startsWith("pods/default/a-") && objects[k].status.phase == "Failed") == true`: {
			"objects", `an element k with k.startsWith("pods/default/a-") && objects[k].status.phase == "Failed"`,
			`3 elements; 2 with k.startsWith("pods/default/a-"), 0 of these with objects[k].status.phase == "Failed"`,
		},
		`objects.exists(k, k.startsWith("pods/default/a-")) == false`: {
			"objects", `no element k with k.startsWith("pods/default/a-")`, `3 elements, 2 such: pods/default/a-1, pods/default/a-2`,
		},
		`objects.exists_one(k, k.startsWith("pods/")) == true`: {
			"objects", `exactly one element k with k.startsWith("pods/")`, `3 elements; 2 with k.startsWith("pods/")`,
		},
	} {
		e, _ := reports.Check{Expected: "at once: " + text}.Expectation()
		x := explainer{ctx: t.Context(), budget: expr.NewBudget(maxCost), vars: now}
		got, _ := x.check(e, "")
		if len(got) != 1 || got[0].What != want[0] || got[0].Wanted != want[1] || got[0].Value != want[2] {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// endedOnce is the history of a container that ends and starts again while check c is open, and after it.
func endedOnce() []record.Event {
	var h record.History
	for _, e := range []struct {
		source, subject string
		payload         record.Payload
	}{
		{"runtime/node-a", "default/tls/app", record.ContainerStarted{}},
		{"engine", "c", record.CheckOpened{Step: 1}},
		{"runtime/node-a", "default/tls/app", record.ContainerExited{ExitCode: 2, Reason: "Error"}},
		{"runtime/node-a", "default/tls/app", record.ContainerStarted{}},
		{"engine", "c", record.CheckClosed{Step: 1, Watched: 20}},
		{"runtime/node-a", "default/tls/app", record.ContainerExited{ExitCode: 2, Reason: "Error"}}, // too late to matter
		{"runtime/node-a", "default/tls/app", record.ContainerStarted{}},
	} {
		h.Append(e.source, e.subject, e.payload)
	}
	return h.Events()
}
