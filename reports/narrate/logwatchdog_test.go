package narrate_test

import (
	"fmt"
	"testing"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// outage is a history in which a check about the watchdog's dependents is decided at second 30,
// and a node became Unknown before.
func outage() (h history) {
	h.start(0, "kube-controller-manager", "v1.90.1", nil)
	h.start(1, "dependency-watchdog", "v1.8.0", nil)
	for i, ready := range []string{"True", "True", "Unknown", "True"} {
		for _, node := range []string{"x", "y"} {
			h.show(float64(2+8*i), "nodes/"+node, "modified", `{"status": {"conditions": [{"type": "Ready", "status": "`+ready+`", "reason": "Because"}]}}`)
		}
	}
	h.at(28, "4", record.StepStarted{Number: 4, Name: "4"})
	h.at(30, "c", record.CheckOpened{Step: 4})
	h.at(30, "c", record.CheckClosed{Step: 4})
	h.at(31, "4", record.StepDone{Number: 4})
	h.at(40, "", record.CellEnded{})
	return h
}

// TestTheLastGoodDecision: of the watchdog's log, it is shown, however long before the failure.
func TestTheLastGoodDecision(t *testing.T) {
	t.Parallel()
	text := ""
	for _, at := range []float64{4, 17, 32} {
		text += fmt.Sprintf(`{"level":"info","ts":%q,"msg":"Lease probe succeeded, performing scale up operation if required"}`+"\n", when(at).Format("2006-01-02T15:04:05.000Z"))
	}
	text += fmt.Sprintf(`{"level":"info","ts":%q,"msg":"Lease probe failed, performing scale down operation if required"}`+"\n", when(29.5).Format("2006-01-02T15:04:05.000Z"))
	for expression, wanted := range map[string][]string{
		"dependents.size()": {"17 Lease probe succeeded, performing scale up operation if required: the last good decision before the failure", "29.5 Lease probe failed, performing scale down operation if required: "},
		"nodes.size()":      {"29.5 Lease probe failed, performing scale down operation if required: "},
	} {
		var got []string
		s := of(narrate.Input{Events: outage(), Result: about(outcome(reports.Fail), expression), Logs: wrote(narrate.LogFile{Component: "dependency-watchdog", Text: text})})
		for _, l := range s.Logs[0].Lines {
			got = append(got, fmt.Sprintf("%g %s: %s", l.At, l.Text, l.What))
		}
		want(t, wanted, got)
	}
}

// TestASilentControllerManager: in place of what it does not log, the changes of nodes are
// shown, if a check is about that, and if its log names none of them.
func TestASilentControllerManager(t *testing.T) {
	t.Parallel()
	changes := []narrate.Line{
		{At: 18, Text: "2 nodes, x first: Ready was True, and is Unknown (Because)", Tone: narrate.Bad},
		{At: 26, Text: "2 nodes, x first: Ready was Unknown, and is True (Because)"},
	}
	for name, tc := range map[string]struct {
		expression, line string
		want             []narrate.Line
	}{
		"silent":          {"nodes.size()", "", changes},
		"other lines":     {"dependents.size()", "nothing", changes},
		"it names one":    {"nodes.size()", "node x is gone", nil},
		"of other things": {`pods["web"].ready`, "", nil},
	} {
		text := klog("I", when(29.8), "a.go:1", tc.line)
		if tc.line == "" {
			text = ""
		}
		s := of(narrate.Input{Events: outage(), Result: about(outcome(reports.Fail), tc.expression), Logs: wrote(narrate.LogFile{Component: "kube-controller-manager", Path: "p", Text: text})})
		var got []narrate.Line
		for _, l := range s.Logs {
			if got = l.Nodes; len(got) > 0 != (l.Silent != "") || l.Path != "p" {
				t.Errorf("%s: the log is %+v", name, l)
			}
		}
		if t.Run(name, func(t *testing.T) { want(t, tc.want, got) }); t.Failed() {
			return
		}
	}
}
