package narrate_test

import (
	"testing"
	"time"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// TestRigNoise: lines that come of how the rig is made are apart, with the reason, and
// those that name the pod of the check say so.
func TestRigNoise(t *testing.T) {
	t.Parallel()
	const cgroup = `"failed to read memory cgroup config for the pod" err="not implemented" podName="web"`
	text := ""
	for i := range 3 {
		text += klog("E", when(9.2).Add(time.Duration(i)*time.Millisecond), "kubelet_pods.go:1", cgroup)
	}
	text += klog("E", when(2), "kubelet_pods.go:1", cgroup) + klog("E", when(9.4), "a.go:1", "web failed") + klog("E", when(9.5), "a.go:2", "another failed")
	s := of(narrate.Input{Printed: "p", Events: checked(), Result: about(outcome(reports.Fail), `pods["web"].ready`), Logs: wrote(narrate.LogFile{Component: "kubelet/a", Text: text})})
	log := s.Logs[0]
	if len(log.Rig) != 1 || log.Rig[0].More != 2 || log.Rig[0].What != "the rig has no cgroups: its containers are fake servers" {
		t.Errorf("the rig's own are %+v, want the one near the failure, three times", log.Rig)
	}
	if len(log.Lines) != 2 || !log.Lines[0].Named || log.Lines[1].Named {
		t.Errorf("the lines are %+v, want two, and that the first names the pod", log.Lines)
	}
}
