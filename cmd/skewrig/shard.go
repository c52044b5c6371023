package main

import (
	"errors"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/jobs"
)

var _ = register("", newShard)

// newShard is what containers of a Job run (--jobs).
func newShard() *cobra.Command {
	cmd := &cobra.Command{Use: "shard", Short: "Run a shard in a container of a Job"}
	var of int
	run := &cobra.Command{
		Use: "run --of N -- COMMAND [ARGUMENT ...]", Short: "Run the shard of JOB_COMPLETION_INDEX, and wait until its report was collected",
		RunE: func(cmd *cobra.Command, args []string) error {
			return withWorker(of, func(w jobs.Worker) error { return w.Run(cmd.Context(), args) })
		},
	}
	run.Flags().IntVar(&of, "of", 1, "how many shards there are")
	cmd.AddCommand(run)
	for _, c := range []struct {
		name, short string
		do          func(jobs.Worker) error
	}{
		{"ready", "Readiness probe: exit with 0 once the report is written", jobs.Worker.Ready},
		{"send", "Write the report to standard output, as an archive", func(w jobs.Worker) error { return w.Send(os.Stdout) }},
		{"release", "Let the shard end: its report was collected", jobs.Worker.Release},
	} {
		cmd.AddCommand(&cobra.Command{
			Use: c.name, Short: c.short, Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return withWorker(1, c.do) },
		})
	}
	return cmd
}

func withWorker(of int, do func(jobs.Worker) error) error {
	w, err := jobs.NewWorker(of, app.HasReport)
	if err != nil {
		return app.Failed(err)
	}
	err = do(w)
	if exit, is := errors.AsType[*exec.ExitError](err); is && exit.ExitCode() > 0 { // skewrig said why
		return exitCode(exit.ExitCode())
	}
	return app.Failed(err)
}
