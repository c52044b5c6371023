package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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
		failures = append(failures, copyRun(from, to))
	}
	for _, m := range moved {
		from := filepath.Join(dirs[m.Input], filepath.FromSlash(m.From))
		failures = append(failures, linkLogs(dirs[m.Input], from, places))
	}
	return errors.Join(failures...)
}

// copyRun copies a run's own files. Other directories below are other cells': the
// id of one may begin with another's.
func copyRun(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, e := range entries {
		switch from, to := filepath.Join(from, e.Name()), filepath.Join(to, e.Name()); {
		case e.Type().IsRegular():
			var content []byte
			if content, err = os.ReadFile(from); err == nil {
				err = os.WriteFile(to, content, 0o644)
			}
		case e.IsDir() && e.Name() == reports.LogsDir:
			err = os.CopyFS(to, os.DirFS(from))
		}
		if err != nil {
			return fmt.Errorf("copying %s: %w", filepath.Join(from, e.Name()), err)
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
		return nil // it is no link: the logs are its own
	}
	logs, to := filepath.Join(from, target), filepath.Join(places[from], reports.LogsDir)
	if owner, found := places[filepath.Dir(logs)]; found && filepath.Base(logs) == reports.LogsDir {
		if target, err = filepath.Rel(places[from], filepath.Join(owner, reports.LogsDir)); err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	inside, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer inside.Close()
	below, err := filepath.Rel(root, logs)
	if err != nil {
		return err
	}
	copied, err := fs.Sub(inside.FS(), filepath.ToSlash(below))
	if err == nil {
		err = os.CopyFS(to, copied)
	}
	if err != nil {
		return fmt.Errorf("copying the logs of %s: %w", from, err)
	}
	return nil
}
