package check

import (
	"testing"
	"time"

	"github.com/skewrig/skewrig/fakeservers/runtime"
	"github.com/skewrig/skewrig/fakeservers/server"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// TestAConnectionThatItsKubeletCutOffIsNotSeen: a kubelet that is stopped in
// the middle of a probe leaves a connection that says nothing.
func TestAConnectionThatItsKubeletCutOffIsNotSeen(t *testing.T) {
	t.Parallel()
	began := time.Now()
	connect := func(h *record.History, id int, opened time.Time, reason server.CloseReason, requests ...server.Request) {
		h.Append("server/default/tls/app", "default/tls/app", server.Connection{
			ID: id, Port: 5000, Opened: opened, First: server.FirstNothing, CloseReason: reason, Requests: requests,
		})
	}
	answered := server.Request{Status: 200}
	for name, tc := range map[string]struct {
		tell func(*record.History)
		want string
	}{
		"cut off": {func(h *record.History) {
			connect(h, 1, began, server.ClientClosed)
			h.Append("cluster", "kubelet/node-a", cluster.ComponentStopped{})
		}, "[]"},
		"reset": {func(h *record.History) {
			connect(h, 1, began, server.ClientReset)
			h.Append("cluster", "kubelet/node-a", cluster.ComponentStopped{})
		}, "[]"},
		"seen to end after its kubelet": {func(h *record.History) {
			h.Append("cluster", "kubelet/node-a", cluster.ComponentStopped{})
			connect(h, 1, began, server.ClientClosed)
		}, "[]"},
		"of the next kubelet": {func(h *record.History) {
			h.Append("cluster", "kubelet/node-a", cluster.ComponentStopped{})
			connect(h, 1, began.Add(time.Hour), server.ClientClosed)
		}, "[1]"},
		"answered": {func(h *record.History) {
			connect(h, 1, began, server.ClientClosed, answered)
			h.Append("cluster", "kubelet/node-a", cluster.ComponentStopped{})
		}, "[1]"},
		"ended by the server": {func(h *record.History) {
			connect(h, 1, began, server.ServerClosed)
			h.Append("cluster", "kubelet/node-a", cluster.ComponentStopped{})
		}, "[1]"},
		"given up in an earlier step": {func(h *record.History) {
			connect(h, 1, began, server.ClientClosed)
			h.Append("engine", "2", StepStarted{Number: 2, Action: "restart"})
			connect(h, 2, began, server.ClientClosed)
			h.Append("cluster", "kubelet/node-a", cluster.ComponentStopped{})
		}, "[1]"},
		"another node's kubelet": {func(h *record.History) {
			connect(h, 1, began, server.ClientClosed)
			h.Append("cluster", "kubelet/node-b", cluster.ComponentStopped{})
		}, "[1]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check := plan.Check{ID: "ids", Observe: `connections["tls/app"].map(c, c.id)`, Must: "it == " + tc.want}
			v := Judge(cellWith(t, check), story(func(h *record.History) {
				h.Append("runtime/node-a", "default/tls", runtime.SandboxStarted{ID: "s"})
				tc.tell(h)
				opened(h, "ids")
				closed(h, "ids", 0)
			}))
			if got := v.Checks[0]; got.Outcome != reports.Pass {
				t.Errorf("seen %s, want %s", got.Observed, tc.want)
			}
		})
	}
}
