package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/reports"
)

// copyRuns copies the files of runs to a merged report's directory. A run without
// files, such as one that never began, has none to copy.
func copyRuns(dirs []string, moved []reports.Moved, to string) error {
	var failures []error
	places := make(map[string]string) // where a run's files went, by where they were
	for _, m := range moved {
		from, to := filepath.Join(dirs[m.Input], filepath.FromSlash(m.From)), filepath.Join(to, filepath.FromSlash(m.To))
		if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		places[from] = to
		failures = append(failures, copyRun(dirs[m.Input], m.From, to))
	}
	for _, m := range moved {
		from := filepath.Join(dirs[m.Input], filepath.FromSlash(m.From))
		failures = append(failures, linkLogs(dirs[m.Input], from, places))
	}
	return errors.Join(failures...)
}

// copyRun copies the files of a run from a path below a report directory. Other directories there
// are other cells': the id of one may begin with another's.
func copyRun(dir, run, to string) error {
	from, err := fs.Sub(files.RootFS(dir, files.MaxLog), run)
	if err != nil {
		return err
	}
	entries, err := fs.ReadDir(from, ".")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, e := range entries {
		switch to := filepath.Join(to, e.Name()); {
		case e.Type().IsRegular():
			err = files.CopyFile(to, from, e.Name())
		case e.IsDir() && e.Name() == reports.LogsDir:
			var logs fs.FS
			if logs, err = fs.Sub(from, e.Name()); err == nil {
				err = files.CopyTree(to, logs)
			}
		}
		if err != nil {
			return fmt.Errorf("copying %s: %w", filepath.Join(dir, filepath.FromSlash(run), e.Name()), err)
		}
	}
	return nil
}

// linkLogs has the logs of a run that shared its rig point to those of the rig's
// first cell, where these are now. If that one did not come along, it copies them,
// unless they are outside of the report: who made it may have meant harm.
func linkLogs(root, from string, places map[string]string) error {
	target, err := os.Readlink(filepath.Join(from, reports.LogsDir))
	if err != nil {
		return nil //nolint:nilerr // it is no link: the logs are its own
	}
	logs, to := filepath.Join(from, target), filepath.Join(places[from], reports.LogsDir)
	if owner, found := places[filepath.Dir(logs)]; found && filepath.Base(logs) == reports.LogsDir {
		if target, err = filepath.Rel(places[from], filepath.Join(owner, reports.LogsDir)); err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	below, err := filepath.Rel(root, logs)
	if err != nil {
		return err
	}
	copied, err := fs.Sub(files.RootFS(root, files.MaxLog), filepath.ToSlash(below))
	if err == nil {
		err = files.CopyTree(to, copied)
	}
	if err != nil {
		return fmt.Errorf("copying the logs of %s: %w", from, err)
	}
	return nil
}
