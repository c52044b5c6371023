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
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
)

type upFlags struct {
	binaries
	output
	kubeconfig string
	written    bool // the file that kubeconfig names
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
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, args)
		},
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
	history, closeHistory, err := f.openHistory()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Failed(closeHistory())) }()
	c, err := start(news(cmd), func() (*engine.Landscape, error) { return app.Up(ctx, cell, builder, history) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Failed(c.Close()), app.Failed(f.removeKubeconfig())) }()
	if err := f.announce(cmd, c); err != nil {
		return app.Failed(err)
	}
	return f.hold(ctx, cmd, c)
}

// start starts a rig and tells how long it took.
func start(w io.Writer, up func() (*engine.Landscape, error)) (*engine.Landscape, error) {
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
func (f *upFlags) hold(ctx context.Context, cmd *cobra.Command, c *engine.Landscape) error {
	bound, cancel := c.Bind(ctx)
	defer cancel()
	<-bound.Done()
	if ctx.Err() == nil {
		return app.Failed(context.Cause(bound))
	}
	fmt.Fprintln(news(cmd), "\nstopping")
	return nil
}

func (f *upFlags) announce(cmd *cobra.Command, c *engine.Landscape) error {
	path := c.Kubeconfig()
	if f.kubeconfig != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := writeNew(f.kubeconfig, text); err != nil {
			return err
		}
		f.written = true
		path = f.kubeconfig
	}
	is := started{Kubeconfig: path, SeedKubeconfig: c.SeedKubeconfig()}
	for _, i := range c.Instances() {
		is.Components = append(is.Components, startedComponent{Name: i.Name, Version: i.Version, Gates: i.Gates, PID: i.PID})
	}
	return is.print(cmd.OutOrStdout(), f.output)
}

// started is a cluster that is up, as `up --output json` prints it.
type started struct {
	Kubeconfig string `json:"kubeconfig"`
	// SeedKubeconfig is that of the seed. If unset, there is none.
	SeedKubeconfig string             `json:"seedKubeconfig,omitempty"`
	Components     []startedComponent `json:"components"`
}

type startedComponent struct {
	Name    string          `json:"name"`
	Version release.Version `json:"version"`
	Gates   release.Gates   `json:"gates,omitempty"`
	PID     int             `json:"pid"`
}

func (s started) print(w io.Writer, out output) error {
	if out.json() {
		return printJSON(w, s)
	}
	err := table(w, "COMPONENT\tRELEASE\tGATES", s.Components, func(c startedComponent) string {
		return fmt.Sprintf("%s\t%s\t%s", c.Name, c.Version, c.Gates.Flag())
	})
	fmt.Fprintf(w, "\n  export KUBECONFIG=%s\n  kubectl get nodes\n", s.Kubeconfig)
	if s.SeedKubeconfig != "" {
		fmt.Fprintf(w, "\n  kubectl --kubeconfig %s get deployments -n shoot\n", s.SeedKubeconfig)
	}
	fmt.Fprint(w, "\nCtrl-C stops the cluster.\n")
	return err
}

func (f *upFlags) removeKubeconfig() error {
	if !f.written {
		return nil
	}
	return os.Remove(f.kubeconfig)
}

// writeNew writes a file that must not be there yet: somebody else's kubeconfig
// is neither overwritten nor removed later.
func writeNew(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

// openHistory opens the file that --history names. Without one nothing is
// kept: a cluster may be up for days.
func (f *upFlags) openHistory() (record.Recorder, func() error, error) {
	if f.history == "" {
		return nil, func() error { return nil }, nil
	}
	file, err := os.Create(f.history)
	if err != nil {
		return nil, nil, err
	}
	history := record.NewHistory(file)
	return history, func() error { return errors.Join(history.Err(), file.Close()) }, nil
}
