package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
)

// ownDir names what a kind of run leaves in its directory.
type ownDir struct {
	// of names the run: "a sweep".
	of string
	// files are the names of all that is left there.
	files []string
	// kept are the names of what stays if a run replaces an earlier one. If unset, nothing does.
	kept []string
}

// only is an error if a directory has anything else. It need not be there.
func (o ownDir) only(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Failed(err)
	}
	for _, e := range entries {
		if !slices.Contains(o.files, e.Name()) && !slices.Contains(o.kept, e.Name()) {
			return fmt.Errorf("%s is not of %s: choose another directory (--report-dir)", filepath.Join(dir, e.Name()), o.of)
		}
	}
	return nil
}

// clear makes a directory. What an earlier run left there is removed; it is an error if there is anything else.
func (o ownDir) clear(dir string) error {
	if err := o.only(dir); err != nil {
		return err
	}
	for _, name := range o.files {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return Failed(err)
		}
	}
	return Failed(os.MkdirAll(dir, 0o755))
}

// recordFiles are the record and the directory of the logs of a control plane.
type recordFiles struct {
	history *record.History
	logs    string
	close   func() error
}

// createRecord creates the file of a record and the directory of its logs below a directory. The caller closes it.
func createRecord(dir, below string, mode fs.FileMode) (recordFiles, error) {
	logs, err := files.MkdirBelow(dir, path.Join(below, reports.LogsDir), 0o755)
	if err != nil {
		return recordFiles{}, err
	}
	file, err := files.Create(filepath.Join(filepath.Dir(logs), reports.HistoryFile), mode)
	if err != nil {
		return recordFiles{}, err
	}
	return recordFiles{record.NewHistory(file), logs, file.Close}, nil
}
