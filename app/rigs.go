package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/claim"
	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/harness/rigs"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
)

// Rigs are the rigs of this user on this machine, and what killed processes have left
// of others. They are where temporary files go.
func Rigs() ([]rigs.Rig, error) {
	all, err := rigs.List(os.TempDir())
	return all, Failed(err)
}

// Prune removes what killed processes have left, and returns what it removed.
func Prune() ([]rigs.Rig, error) {
	all, err := Rigs()
	removed := []rigs.Rig{}
	failures := []error{err}
	for _, r := range all {
		if r.Running {
			continue
		}
		if err := rigs.Remove(r); err != nil {
			failures = append(failures, err)
			continue
		}
		removed = append(removed, r)
	}
	return removed, Failed(errors.Join(failures...))
}

// Logs are the logs of the components of a rig, or of a cell.
type Logs struct {
	files fs.FS
	claim string // the directory that is claimed while they are written
}

// Log is the log of a component.
type Log struct {
	// Component is what the file is called without its ending: kubelet-node-a is that of
	// kubelet/node-a.
	Component string `json:"component"`
	File      string `json:"file"`
	Bytes     int64  `json:"bytes"`
}

// RigLogs are those of a rig, given by its name or by what it is for.
func RigLogs(rig string) (Logs, error) {
	all, err := Rigs()
	var names []string
	for _, r := range all { // those that can be read
		if r.Name == rig || r.For == rig {
			return Logs{files.DirFS(r.Logs, files.MaxLog), r.Dir}, nil
		}
		names = append(names, r.Name)
	}
	if err != nil {
		return Logs{}, err
	}
	return Logs{}, fmt.Errorf("no rig %s: %s. The logs of a cell that has ended are in its report: skewrig cluster logs --report DIR CELL", rig, there("rigs", names))
}

// there says which of something there are.
func there(what string, names []string) string {
	if len(names) == 0 {
		return "there are no " + what
	}
	return render.Printable(fmt.Sprintf("the %s are %s", what, strings.Join(names, ", ")))
}

// CellLogs are those of a run of a cell of a report, given by its number or, if that is
// 0, of the first of its worst. What is outside of the report's directory is not shown:
// who made it may have meant harm.
func CellLogs(dir, cell string, number int) (Logs, error) {
	report, err := ReadReport(dir)
	if err != nil {
		return Logs{}, err
	}
	i := slices.IndexFunc(report.Cells, func(c reports.Cell) bool { return c.ID == cell })
	if i < 0 {
		return Logs{}, fmt.Errorf("%s has no cell %s", dir, cell)
	}
	run := report.Cells[i].WorstRun()
	if number != 0 {
		all := report.Cells[i].EachRun()
		n := slices.IndexFunc(all, func(r reports.Run) bool { return r.Number == number })
		if n < 0 {
			return Logs{}, fmt.Errorf("cell %s of %s has no run %d", cell, dir, number)
		}
		run = all[n]
	}
	dir = DirOf(dir)
	logs, err := fs.Sub(files.RootFS(dir, files.MaxLog), path.Join(run.Dir, reports.LogsDir))
	return Logs{logs, dir}, err
}

// List lists the logs.
func (l Logs) List() ([]Log, error) {
	all := []Log{}
	err := fs.WalkDir(l.files, ".", func(name string, entry fs.DirEntry, err error) error {
		component, is := strings.CutSuffix(name, ".log")
		if err != nil || !is || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			all = append(all, Log{component, name, info.Size()})
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there are no logs in %s", l.claim)
	}
	return all, Failed(err)
}

// Open opens the log of a component, given as kubelet/node-a or as its file is called,
// or by the beginning of that if no other begins so.
func (l Logs) Open(component string) (fs.File, error) {
	all, err := l.List()
	if err != nil {
		return nil, err
	}
	log, err := pickLog(all, component)
	if err != nil {
		return nil, err
	}
	file, err := l.files.Open(log.File)
	return file, Failed(err)
}

// Written reports whether the logs may still be written: their process lives.
func (l Logs) Written() bool {
	_, held, err := claim.Look(l.claim)
	return held && err == nil
}

func pickLog(all []Log, component string) (Log, error) {
	dashed := func(name string) string { return strings.ReplaceAll(name, "/", "-") }
	var begin []Log
	var names []string
	for _, l := range all {
		if dashed(l.Component) == dashed(component) {
			return l, nil
		}
		if strings.HasPrefix(dashed(l.Component), dashed(component)) {
			begin = append(begin, l)
		}
		names = append(names, l.Component)
	}
	if len(begin) == 1 {
		return begin[0], nil
	}
	return Log{}, fmt.Errorf("no component %s: %s", component, there("components", names))
}
