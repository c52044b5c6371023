package narrate_test

import (
	"testing"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// TestChecksOfOneFailure: those that lost the same field, compared the same value, or failed
// with the same attempts. Others stay apart.
func TestChecksOfOneFailure(t *testing.T) {
	t.Parallel()
	var h history
	h.start(0, "kube-apiserver", "v1.89.3", nil)
	show := func(at float64, version, spec, ready string) {
		h.show(at, "pods/default/web", "modified", `{"metadata":{"name":"web","namespace":"default","resourceVersion":"`+version+`"},"spec":{`+spec+`},"status":{"phase":"Running","containerStatuses":[{"name":"app","ready":`+ready+`}]}}`)
	}
	show(1, "1", `"mode":"TLS"`, "false")
	show(2, "2", ``, "false")
	h.at(9.3, "default/web/app", connection(9.2, record.Connection{Port: 80, First: record.FirstHTTP2, CloseReason: record.ServerClosed}))
	for name, tc := range map[string]struct {
		first, second string
		outcome       reports.Outcome // of the second check
		want          string
	}{
		"a lost field":            {`at once: pods["web"].spec.mode == "TLS"`, `at once: objects["pods/default/web"].spec.mode == "TLS"`, reports.Fail, "c"},
		"a value":                 {`at once: pods["web"].status.phase == "Failed"`, `at once: pods["web"].status.phase == "Failed"`, reports.Fail, "c"},
		"another wanted value":    {`at once: pods["web"].spec.x == "1"`, `at once: pods["web"].spec.x == "2"`, reports.Fail, ""},
		"attempts":                {`within 1s: pods["web"].status.containerStatuses.filter(c, c.name == "app").map(c, c.ready) == [true]`, `within 1s: connections["web/app"].filter(c, c.first == "tls-client-hello").size() == 1`, reports.Fail, "c"},
		"a field beside attempts": {`at once: pods["web"].metadata.labels["x"] == "y"`, `at once: connections["web/app"].size() == 5`, reports.Fail, ""},
		"what is recorded":        {`at once: pods["web"].status.phase == "Failed"`, `at once: pods["web"].status.phase == "Failed"`, reports.ExpectedFail, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events := append(append(history{}, checked()[0]), h...)
			events.at(9, "4", record.StepStarted{Number: 4, Name: "4"})
			for _, id := range []string{"c", "d"} {
				events.at(9, id, record.CheckOpened{Step: 4})
			}
			for _, id := range []string{"c", "d"} {
				events.at(10, id, record.CheckClosed{Step: 4})
			}
			events.at(30, "", record.CellEnded{})
			checks := []reports.Check{{ID: "c", Outcome: reports.Fail, Expected: tc.first, Observed: "0"}, {ID: "d", Outcome: tc.outcome, Expected: tc.second, Observed: "0"}}
			s := of(narrate.Input{Events: events, Result: reports.Cell{Outcome: reports.Fail, Checks: checks}})
			want(t, "", s.Checks[0].Same)
			want(t, tc.want, s.Checks[1].Same)
		})
	}
}
