package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/reports"
)

func newMerge() *cobra.Command {
	var out output
	var dir string
	cmd := &cobra.Command{
		Use:   "merge DIR ... --report-dir OUT",
		Short: "Join the reports of shards and of repeated runs",
		Long: `Join reports into one, with the files of their cells. Cells that are in one of
them are taken over; those that are in several become repeated runs of one cell,
which is flaky if they disagree. A cell that did not run to its end gives way to
one that did.`,
		Example: `  skewrig report merge shard-1 shard-2 --report-dir report
  skewrig report merge report report-rerun --report-dir both`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			return merge(cmd, out, args, dir)
		},
	}
	out.register(cmd)
	cmd.Flags().StringVar(&dir, "report-dir", "", "where the merged report goes; an earlier report there is replaced")
	_ = cmd.MarkFlagRequired("report-dir") // it exists
	return cmd
}

func merge(cmd *cobra.Command, out output, dirs []string, to string) error {
	var inputs []reports.Input
	var problems []error
	for _, dir := range dirs {
		if sameDir(dir, to) {
			problems = append(problems, fmt.Errorf("%s can't be merged into itself: choose another --report-dir", dir))
		}
		report, err := app.ReadReport(dir)
		problems = append(problems, err)
		inputs = append(inputs, reports.Input{Name: dir, Report: report})
	}
	if err := errors.Join(append(problems, app.CheckReportDir(to))...); err != nil {
		return err
	}
	report, moved, err := reports.Merge(inputs)
	if err != nil {
		return err
	}
	report.Reproduce.Command += "\n" + commandLine(os.Args)
	if err := app.ClearReport(to); err != nil {
		return err
	}
	if err := copyRuns(dirs, moved, to); err != nil {
		return app.Failed(err)
	}
	compareRuns(to, &report)
	return finish(cmd, out, report, to, nil)
}

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
			err = copyFile(from, to)
		case e.IsDir() && e.Name() == reports.LogsDir:
			err = os.CopyFS(to, os.DirFS(from))
		}
		if err != nil {
			return fmt.Errorf("copying %s: %w", filepath.Join(from, e.Name()), err)
		}
	}
	return nil
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = out.ReadFrom(in)
	return err
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
	copied, err := inside.OpenRoot(below)
	if err != nil {
		return fmt.Errorf("copying the logs of %s: %w", from, err)
	}
	defer copied.Close()
	return os.CopyFS(to, copied.FS())
}
