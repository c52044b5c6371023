package saved

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/evidence"
)

// save writes the record and the plan of a cell.
func save(t *testing.T, dir, id, history, plan string) {
	t.Helper()
	cell := filepath.Join(dir, "cells", id)
	if err := os.MkdirAll(cell, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"history.jsonl": history, "plan.json": plan} {
		if err := os.WriteFile(filepath.Join(cell, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// upgraded is the record of a kubelet that is upgraded.
func upgraded() string {
	var out bytes.Buffer
	h := record.NewHistory(&out)
	h.Append("cluster", "etcd", record.ComponentStarted{Version: "v3.7.0", Digest: "sha256:e"})
	h.Append("cluster", "kubelet/node-a", record.ComponentStarted{Version: "v1.89.3", Digest: "sha256:36"})
	h.Append("engine", "create", record.APIAnswer{Object: "pods/default/web", Code: 201})
	h.Append("server", "default/web/app", record.Connection{Requests: make([]record.Request, 2), DroppedRequests: 1})
	h.Append("server", "default/web/app", record.Connection{})
	h.Append("agent/node-a", "agent", record.PodsAnswer{})
	h.Append("agent/node-a", "agent", record.PodsPolled{})
	h.Append("agent/node-a", "watch", record.PodsEvent{Type: record.PodAdded})
	h.Append("cluster", "kubelet/node-a", record.ComponentStarted{Version: "v1.90.1", Digest: "sha256:37", Gates: map[string]bool{"G": true}})
	return out.String()
}

// plannedSteps is a plan with three steps.
const plannedSteps = `{"format": 1, "id": "k/g/s", "steps": [
  {"number": 1, "name": "1", "kind": "create", "description": "create Pod web"},
  {"number": 2, "name": "upgrade", "kind": "restart", "description": "restart kubelet/node-a as v1.90.1", "changes": ["kubelet/node-a v1.89.3 -> v1.90.1"]},
  {"number": 3, "name": "3", "kind": "checks", "description": "check works"}
]}`

func TestTheFactsOfACell(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	save(t, dir, "k/g/s", upgraded(), plannedSteps)
	report := reports.Report{Cells: []reports.Cell{{ID: "k/g/s"}, {ID: "k/g/unrecorded"}, {ID: "k/g/unwanted"}}}
	save(t, dir, "k/g/unwanted", "not JSON", "{}")
	run, err := Run(dir, report, func(c reports.Cell) bool { return c.ID != "k/g/unwanted" })
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]evidence.Facts{"k/g/s": {
		Components: []evidence.Component{
			{Name: "etcd", Starts: []evidence.Start{{Version: "v3.7.0", Digest: "sha256:e"}}},
			{Name: "kubelet/node-a", Starts: []evidence.Start{
				{Version: "v1.89.3", Digest: "sha256:36"}, {Version: "v1.90.1", Digest: "sha256:37", Gates: map[string]bool{"G": true}},
			}},
		},
		Steps: []string{
			"  1. create Pod web", "  2. upgrade: restart kubelet/node-a as v1.90.1",
			"      kubelet/node-a v1.89.3 -> v1.90.1", "  3. check works",
		},
		Traffic: evidence.Traffic{Containers: 1, Connections: 2, Requests: 3, APICalls: 1, PodsAPIAnswers: 3},
	}}
	if d := cmp.Diff(want, run.Facts); d != "" {
		t.Error(d)
	}
}

// TestARecordThatIsNotComplete is an error that names the cell: what is left of it
// would say that less took part.
func TestARecordThatIsNotComplete(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	save(t, dir, "k/g/s", upgraded()[:200], plannedSteps)
	_, err := Run(dir, reports.Report{Cells: []reports.Cell{{ID: "k/g/s"}}}, func(reports.Cell) bool { return true })
	if err == nil || !strings.Contains(err.Error(), "k/g/s in "+dir) {
		t.Errorf("the error is %v", err)
	}
}
