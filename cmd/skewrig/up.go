package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
)

type upFlags struct {
	binaries
	output
	kubeconfig string
	history    string
}

func newUp() *cobra.Command {
	var f upFlags
	cmd := &cobra.Command{
		Use:   "up [FILE | CELL]",
		Short: "Start a mixed-version cluster and keep it until Ctrl-C",
		Long: `Start the rig that a scenario's topology describes, and keep it running until
Ctrl-C. The scenario's steps do not run. A cluster file of kind
(kind.x-k8s.io/v1alpha4) works too: its nodes' images name the releases. Without an
argument, start the newest release with one node of it and one of the previous.`,
		Example: `  skewrig up
  skewrig up 'kep-4939/skew/older-kubelet/**'
  skewrig up ./mine.yaml
  skewrig up ./kind-cluster.yaml`,
		Args: cobra.MaximumNArgs(1),
		RunE: f.run,
	}
	f.binaries.register(cmd)
	f.output.register(cmd)
	cmd.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", "also write the kubeconfig to this new file (default: only in the rig's own directory)")
	cmd.Flags().StringVar(&f.history, "history", "", "write the record to this file, as JSON lines")
	return cmd
}

func (f *upFlags) run(cmd *cobra.Command, args []string) (err error) {
	cell, err := app.UpCell(cmd.ErrOrStderr(), args)
	if err != nil {
		return err
	}
	ctx, cells := cmd.Context(), []plan.Cell{cell}
	builder, err := f.BuilderFor(ctx, cells)
	if err != nil {
		return err
	}
	if _, err := f.build(cmd, builder, app.Targets(cells), cells); err != nil {
		return err
	}
	var history record.Recorder // without --history, nothing is kept: a cluster may be up for days
	if f.history != "" {
		file, failure := os.Create(f.history)
		if failure != nil {
			return failure
		}
		kept := record.NewHistory(file)
		defer func() { err = errors.Join(err, app.Failed(errors.Join(kept.Err(), file.Close()))) }()
		history = kept
	}
	c, err := start(news(cmd), func() (*engine.Rig, error) { return app.Up(ctx, cell, builder, history) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Failed(c.Close())) }()
	is := describeCluster(c)
	if f.kubeconfig != "" {
		if err := copyNew(f.kubeconfig, is.Kubeconfig); err != nil {
			return app.Failed(err)
		}
		defer func() { err = errors.Join(err, app.Failed(os.Remove(f.kubeconfig))) }()
		is.Kubeconfig = f.kubeconfig
	}
	if err := printResult(cmd, f.output, is, printStarted); err != nil {
		return err
	}
	return hold(cmd, c)
}

// start starts a rig and tells how long it took.
func start(w io.Writer, up func() (*engine.Rig, error)) (*engine.Rig, error) {
	began, p := time.Now(), newProgress(w)
	defer p.close()
	p.begin("rig", "starting")
	c, err := up()
	if err == nil {
		p.line("up after %.1fs", time.Since(began).Seconds())
	}
	return c, err
}

// hold waits for the interrupt, or for a component to die.
func hold(cmd *cobra.Command, c *engine.Rig) error {
	bound, cancel := c.Bind(cmd.Context())
	defer cancel()
	<-bound.Done()
	if cmd.Context().Err() == nil {
		return app.Failed(context.Cause(bound))
	}
	fmt.Fprintln(news(cmd), "\nstopping")
	return nil
}

// started is a cluster that is up, as `up --output json` prints it.
type started struct {
	Kubeconfig string `json:"kubeconfig"`
	// SeedKubeconfig is that of the seed. If unset, there is none.
	SeedKubeconfig string             `json:"seedKubeconfig,omitempty"`
	Components     []startedComponent `json:"components"`
}

type startedComponent struct {
	record.Component
	PID int `json:"pid"`
}

func describeCluster(c *engine.Rig) started {
	is := started{Kubeconfig: c.Kubeconfig(), SeedKubeconfig: c.SeedKubeconfig()}
	for _, i := range c.Instances() {
		is.Components = append(is.Components, startedComponent{record.Component{Name: i.Name, Version: i.Version, Gates: i.Gates}, i.PID})
	}
	return is
}

func printStarted(w io.Writer, s started) {
	table(w, "COMPONENT\tRELEASE\tGATES", s.Components, func(c startedComponent) string {
		return fmt.Sprintf("%s\t%s\t%s", c.Name, c.Version, c.Gates.Flag())
	})
	fmt.Fprintf(w, "\n  export KUBECONFIG=%s\n  kubectl get nodes\n", s.Kubeconfig)
	if s.SeedKubeconfig != "" {
		fmt.Fprintf(w, "\n  kubectl --kubeconfig %s get deployments -n shoot\n", s.SeedKubeconfig)
	}
	fmt.Fprint(w, "\nCtrl-C stops the cluster.\n")
}

// copyNew copies a file to one that must not be there yet: another cluster's
// kubeconfig is neither overwritten nor removed later.
func copyNew(to, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}
