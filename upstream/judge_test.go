package upstream

import (
	"maps"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/cellid"
)

func TestJudge(t *testing.T) {
	spec := Spec{Name: "Pods run", ID: "pods/run"}
	ran := func(s State) *Attempt {
		return &Attempt{Report: Report{{Name: "Pods stop", State: Skipped}, {Name: "Pods run", State: s, Message: "it said so", Place: "pods.go:7"}}}
	}
	fails := &Expectation{Reason: "it needs a cgroup"}
	notRun := &Expectation{Reason: "it needs a cgroup", NotRun: true}
	for name, test := range map[string]struct {
		attempt  *Attempt
		expected *Expectation
		want     reports.Outcome
		reason   string
		broken   bool // off, by the end of the whole run
	}{
		"it passes":                           {attempt: ran(Passed), want: reports.Pass},
		"it fails":                            {attempt: ran(Failed), want: reports.Fail},
		"it takes too long":                   {attempt: ran(TimedOut), want: reports.Fail},
		"it panics":                           {attempt: ran(Panicked), want: reports.Fail},
		"it skips itself":                     {attempt: ran(Skipped), want: reports.NotApplicable, reason: "it said so"},
		"it is interrupted":                   {attempt: ran("interrupted"), want: reports.Unknown, reason: "interrupted"},
		"it was not found":                    {attempt: &Attempt{Report: Report{{Name: "Pods stop", State: Passed}}}, want: reports.Unknown},
		"its process dies":                    {attempt: &Attempt{Ended: "signal: killed"}, want: reports.Unknown, reason: "signal: killed"},
		"it fails as expected":                {attempt: ran(Failed), expected: fails, want: reports.ExpectedFail, reason: "it needs a cgroup"},
		"it passes against expectation":       {attempt: ran(Passed), expected: fails, want: reports.UnexpectedPass, reason: "it was expected to fail"},
		"it is interrupted, expected to fail": {attempt: ran("interrupted"), expected: fails, want: reports.Unknown},
		"it is not run, as expected":          {expected: notRun, want: reports.NotApplicable, reason: "not run: it needs a cgroup"},
		"it ends with the run":                {attempt: &Attempt{Ended: "interrupted", BrokenOff: true}, want: reports.Unknown, reason: "interrupted", broken: true},
		"it ends just before the run":         {attempt: &Attempt{Report: ran(Failed).Report, BrokenOff: true}, want: reports.Fail},
		"it was not reached":                  {want: reports.Unknown, reason: "the run ended before it", broken: true},
		"it was not reached, though expected": {expected: fails, want: reports.Unknown, broken: true},
	} {
		t.Run(name, func(t *testing.T) {
			cell := Judge(spec, Rig{ControlPlane: "v1.90.1", Kubelet: "v1.89.3"}, test.attempt, test.expected)
			check := cell.Checks[0]
			if check.Outcome != test.want || !strings.Contains(check.Reason, test.reason) {
				t.Errorf("outcome %s, reason %q; want %s, %q", check.Outcome, check.Reason, test.want, test.reason)
			}
			if cell.Unfinished != test.broken {
				t.Errorf("unfinished: %t", cell.Unfinished)
			}
			if report, err := reports.Assemble([]reports.Cell{cell}, nil, reports.Reproduce{}); err != nil || report.Cells[0].Outcome != test.want {
				t.Errorf("the report has %v, error %v", report.Cells, err)
			}
			if cell.ID != "upstream/pods/run/apiserver:v1.90.1/kubelet:v1.89.3" {
				t.Errorf("the cell is called %s", cell.ID)
			}
		})
	}
}

func TestACellSaysOnWhichRigItRan(t *testing.T) {
	rig := Rig{ControlPlane: "v1.90.1", Kubelet: "v1.90.1", Runtime: "containerd"}
	cell := Judge(Spec{Name: "Pods run", ID: "pods/run"}, rig, nil, nil)
	if want := "upstream/pods/run/apiserver:v1.90.1/kubelet:v1.90.1/runtime:containerd"; cell.ID != want {
		t.Errorf("the cell is called %s, want %s", cell.ID, want)
	}
	if got := cellid.Axes(cell.ID); !maps.Equal(got, cell.Axes) || cellid.Check(cell.ID) != nil {
		t.Errorf("its id has the axes %v, and it %v", got, cell.Axes)
	}
}

func TestTheWorstOfOneNameCounts(t *testing.T) {
	a := &Attempt{Report: Report{{Name: "Pods run", State: Passed}, {Name: "Pods run", State: Failed}, {Name: "Pods run", State: Passed}}}
	if cell := Judge(Spec{Name: "Pods run", ID: "pods/run"}, Rig{ControlPlane: "v1.90.1", Kubelet: "v1.90.1"}, a, nil); cell.Checks[0].Outcome != reports.Fail {
		t.Errorf("one that failed is %s", cell.Checks[0].Outcome)
	}
}

func TestWhatASpecSaidIsTheSameEachTime(t *testing.T) {
	r := Ran{State: Failed, Place: "probe.go:42", Message: "Timed out after 300.001s.\n\npod busybox-1e6c7f5b-ec5d-4606-9ce4-77e7a764846a in container-probe-7984 at 127.64.0.17, 2026-11-27T03:45:10Z:\n  not ready since 2026/11/27 03:51:23 <*v1.Pod | 0x8f7c39be008>"}
	const want = "probe.go:42: Timed out after DURATION. pod busybox-UID in container-probe-N at ADDRESS, TIME not ready since TIME <*v1.Pod | POINTER>"
	if got := r.said(); got != want {
		t.Errorf("said %q\nwant %q", got, want)
	}
	long := Ran{State: Failed, Message: strings.Repeat("ä", maxSaid)}
	if got := long.said(); len(got) > maxSaid+len("…") || !strings.HasSuffix(got, "ä…") {
		t.Errorf("a long message is %d bytes: %s", len(got), got)
	}
}
