package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
)

type logsFlags struct {
	output
	report string
	number int
	follow bool
}

func newLogs() *cobra.Command {
	var f logsFlags
	cmd := &cobra.Command{
		Use:   "logs RIG [COMPONENT]",
		Short: "Show the logs of a rig's components",
		Long: `List the logs of a rig that runs, or print that of one of its components. RIG is a
name that skewrig cluster list shows, or the cell that runs on it. What containers wrote is listed
as pods/NAMESPACE_POD/CONTAINER/ATTEMPT, the last 256 KiB of each attempt.

With --report, RIG is a cell of a saved report, and its logs are listed or printed. Of a
cell that ran several times, they are those of the first run with the worst outcome.

A component is named as in a scenario, such as kubelet/node-a, or by the beginning of
its name if no other begins so.`,
		Example: `  skewrig cluster logs up-4711
  skewrig cluster logs up-4711 kubelet/node-a --follow
  skewrig cluster logs --report report kep-4939/skew/older-kubelet kube-apiserver
  skewrig cluster logs up-4711 pods/default_web/app/0`,
		Args: cobra.RangeArgs(1, 2),
		RunE: f.run,
	}
	f.register(cmd)
	cmd.Flags().StringVar(&f.report, "report", "", "the directory of a saved report (default: the rigs that run)")
	cmd.Flags().IntVar(&f.number, "run", 0, "with --report: the number of a run of the cell (default: the first of its worst)")
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "go on with what is written, until the rig ends or Ctrl-C")
	return cmd
}

func (f *logsFlags) run(cmd *cobra.Command, args []string) error {
	logs, err := f.of(args[0])
	if err != nil {
		return err
	}
	if len(args) == 1 {
		if f.follow {
			return errors.New("--follow needs a component")
		}
		all, err := logs.List()
		if err != nil {
			return err
		}
		return printResult(cmd, f.output, all, printLogs)
	}
	if f.json() {
		return errors.New("--output json lists the logs, and prints none: leave the component out")
	}
	file, err := logs.Open(args[1])
	if err != nil {
		return err
	}
	defer file.Close()
	if !f.follow {
		_, err = io.Copy(cmd.OutOrStdout(), file)
		return app.Failed(err)
	}
	return app.Failed(follow(cmd.Context(), cmd.OutOrStdout(), file, logs.Written))
}

// of are the logs of a rig, or of a cell if a report is named.
func (f *logsFlags) of(name string) (app.Logs, error) {
	if f.report == "" {
		if f.number != 0 {
			return app.Logs{}, errors.New("--run is for a cell of a --report")
		}
		return app.RigLogs(name)
	}
	return app.CellLogs(f.report, name, f.number)
}

func printLogs(w io.Writer, all []app.Log) {
	table(w, "COMPONENT\tBYTES", all, func(l app.Log) string { return fmt.Sprintf("%s\t%d", l.Component, l.Bytes) })
}

// followPause is how long there is between two looks at what was written.
const followPause = 200 * time.Millisecond

// follow copies what is written, until no process writes any more or the context ends.
func follow(ctx context.Context, to io.Writer, from io.Reader, written func() bool) error {
	for {
		more := written() // before the last look
		if _, err := io.Copy(to, from); err != nil || !more {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followPause):
		}
	}
}
