package check

import (
	"testing"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
)

// TestAConnectionThatItsKubeletCutOffIsNotSeen: a kubelet that is stopped in
// the middle of a probe leaves a connection that says nothing.
func TestAConnectionThatItsKubeletCutOffIsNotSeen(t *testing.T) {
	t.Parallel()
	began := time.Now()
	connect := func(h *record.History, id int, opened time.Time, reason record.CloseReason, requests ...record.Request) {
		h.Append("server/default/tls/app", "default/tls/app", record.Connection{
			ID: id, Port: 5000, Opened: opened, First: record.FirstNothing, CloseReason: reason, Requests: requests,
		})
	}
	answered := record.Request{Status: 200}
	for name, tc := range map[string]struct {
		tell func(*record.History)
		want string
	}{
		"cut off": {func(h *record.History) {
			connect(h, 1, began, record.ClientClosed)
			h.Append("cluster", "kubelet/node-a", record.ComponentStopped{})
		}, "[]"},
		"reset": {func(h *record.History) {
			connect(h, 1, began, record.ClientReset)
			h.Append("cluster", "kubelet/node-a", record.ComponentStopped{})
		}, "[]"},
		"seen to end after its kubelet": {func(h *record.History) {
			h.Append("cluster", "kubelet/node-a", record.ComponentStopped{})
			connect(h, 1, began, record.ClientClosed)
		}, "[]"},
		"of the next kubelet": {func(h *record.History) {
			h.Append("cluster", "kubelet/node-a", record.ComponentStopped{})
			connect(h, 1, began.Add(time.Hour), record.ClientClosed)
		}, "[1]"},
		"answered": {func(h *record.History) {
			connect(h, 1, began, record.ClientClosed, answered)
			h.Append("cluster", "kubelet/node-a", record.ComponentStopped{})
		}, "[1]"},
		"ended by the server": {func(h *record.History) {
			connect(h, 1, began, record.ServerClosed)
			h.Append("cluster", "kubelet/node-a", record.ComponentStopped{})
		}, "[1]"},
		"given up in an earlier step": {func(h *record.History) {
			connect(h, 1, began, record.ClientClosed)
			h.Append("engine", "2", record.StepStarted{Number: 2, Action: "restart"})
			connect(h, 2, began, record.ClientClosed)
			h.Append("cluster", "kubelet/node-a", record.ComponentStopped{})
		}, "[1]"},
		"another node's kubelet": {func(h *record.History) {
			connect(h, 1, began, record.ClientClosed)
			h.Append("cluster", "kubelet/node-b", record.ComponentStopped{})
		}, "[1]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check := action.Check{ID: "ids", Observe: `connections["tls/app"].map(c, c.id)`, Must: "it == " + tc.want}
			v := Judge(t.Context(), cellWith(t, check), story(func(h *record.History) {
				h.Append("runtime/node-a", "default/tls", record.SandboxStarted{ID: "s"})
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
