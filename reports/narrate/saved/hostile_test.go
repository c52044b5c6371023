package saved

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// TestFilesOutOfTheReportAreNotRead: a report of others may have links to any file, and to devices.
func TestFilesOutOfTheReportAreNotRead(t *testing.T) {
	t.Parallel()
	const id = "a/b/c"
	secret, dir := filepath.Join(t.TempDir(), "secret"), t.TempDir()
	cell := filepath.Join(dir, filepath.FromSlash(reports.RunDir(id, 1)))
	err := errors.Join(os.MkdirAll(filepath.Join(cell, reports.LogsDir), 0o755), os.WriteFile(secret, []byte("E1128 secret\n"), 0o600),
		os.Symlink(secret, filepath.Join(cell, reports.PlanFile)), os.Symlink("/dev/zero", filepath.Join(cell, reports.LogsDir, "etcd.log")))
	if err != nil {
		t.Fatal(err)
	}
	history, err := os.Create(filepath.Join(cell, reports.HistoryFile))
	if err != nil {
		t.Fatal(err)
	}
	record.NewHistory(history).Append("rig", "etcd", record.ComponentStarted{})
	if err := history.Close(); err != nil {
		t.Fatal(err)
	}
	n := Narration(dir, reports.Cell{ID: id, Outcome: reports.Fail}, 1, 1<<20, func(*narrate.Input) {})
	omitted := strings.Join(n.Omitted, "\n")
	for _, file := range []string{"plan", "etcd.log"} {
		if !strings.Contains(omitted, file) {
			t.Errorf("%s is not said to be omitted: %s", file, omitted)
		}
	}
	if strings.Contains(n.Plan, "secret") {
		t.Errorf("the narration has a file from outside: %s", n.Plan)
	}
}
