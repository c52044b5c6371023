package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/podsapi/script"
)

type serveFlags struct {
	output
	scenario, socket string
	wait             bool
}

func newPodsServe() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Simulate a node for an agent, and print what the agent did and missed",
		Long: `Serve the Pods API at a socket and run a script for all clients: pods are added,
changed and removed, the kubelet restarts, answers are slow, watches break. At the
end of the script, or on Ctrl-C, print what each client did, how many pod states
were never sent to it, and for how many pods it lacks the latest state.

docs/podsapi.md describes the language of scripts and has examples.`,
		Example: `  skewrig podsapi serve --scenario docs/podsapi/startup-and-restart.yaml --socket /tmp/node/pods.sock`,
		Args:    cobra.NoArgs,
		RunE:    f.run,
	}
	f.register(cmd)
	cmd.Flags().StringVar(&f.scenario, "scenario", "", "the script to run")
	cmd.Flags().StringVar(&f.socket, "socket", "", "the socket to serve; its directory is created if it is missing")
	cmd.Flags().BoolVar(&f.wait, "wait", false, "keep serving the last state until Ctrl-C")
	_ = cmd.MarkFlagRequired("scenario") // there are these two
	_ = cmd.MarkFlagRequired("socket")
	return cmd
}

func planScript(path string) ([]script.Move, error) {
	text, err := files.Read(path, files.MaxText)
	if err != nil {
		return nil, err
	}
	s, err := script.Parse(path, text)
	if err != nil {
		return nil, err
	}
	return s.Plan(time.Now())
}

func (f *serveFlags) run(cmd *cobra.Command, _ []string) (err error) {
	moves, err := planScript(f.scenario)
	if err != nil {
		return err
	}
	ctx, log := cmd.Context(), news(cmd)
	node, err := script.Serve(f.socket)
	if err != nil {
		return err // it says what is wrong with the flag
	}
	defer func() { err = errors.Join(err, app.Failed(node.Close())) }()
	var length time.Duration
	if len(moves) > 0 {
		length = moves[len(moves)-1].At
	}
	fmt.Fprintf(log, "serving at %s for %s; Ctrl-C stops the server\n", f.socket, length)
	err = node.Play(ctx, moves, script.RealTime(), func(m script.Move) {
		if m.Text != "" {
			fmt.Fprintf(log, "%8s  %s\n", m.At.Round(time.Millisecond), m.Text)
		}
	})
	if err == nil && f.wait {
		fmt.Fprintln(log, "the script has ended; Ctrl-C stops the server")
		<-ctx.Done()
	} else if err == nil {
		err = node.Settle(ctx)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return app.Failed(err)
	}
	node.AwaitAnswers(context.WithoutCancel(ctx)) // also after Ctrl-C: a client may have its answer already
	return printResult(cmd, f.output, node.Runs(), printRuns)
}
