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
	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider/images"
	"github.com/skewrig/skewrig/scenarios/provider/rig"
)

type upFlags struct {
	binaries
	output
	kubeconfig string
	history    string
	images     []string
	archives   []string
	fallback   string
	runtime    choice
	allowHost  bool
}

var _ = register(useCluster, newCluster)

func newCluster() *cobra.Command {
	return newParent(&cobra.Command{
		Use:   "cluster",
		Short: "Start a mixed-version cluster, list those that run, show logs",
		Long: `Start a mixed-version cluster, list the clusters that run on this machine, and show the logs
of their components.`,
		Example: `  skewrig cluster up
  skewrig cluster list`,
	}, false, newUp(), newRigs(), newLogs())
}

func newUp() *cobra.Command {
	var f upFlags
	cmd := &cobra.Command{
		Use:   "up [FILE | CELL]",
		Short: "Start a mixed-version cluster and keep it until Ctrl-C",
		Long: `Start the rig that a scenario's topology describes, and keep it running until
Ctrl-C. The scenario's steps do not run. A cluster file of kind
(kind.x-k8s.io/v1alpha4) works too: its nodes' images name the releases. Without an
argument, start the newest release with one node of it and one of the previous. It
prints the kubeconfig for kubectl.

Containers are programs inside skewrig, so only known images run: agnhost, busybox,
pause, and those that the scenario maps. Any other image can't be pulled, unless
--image maps it, or --default-image maps all that are left. In such a container, a
server listens, or a shell runs if that is the command. Protocols are those of a
scenario: http1, https, h2c, grpc, grpc-tls, tcp and so on.`,
		Example: `  skewrig cluster up
  skewrig cluster up --kubeconfig ./kubeconfig        # and beside it: kubectl --kubeconfig ./kubeconfig get nodes
  skewrig cluster up --newest v1.36 --previous v1.35
  skewrig cluster up --default-image http1:8080
  skewrig cluster up --image 'nginx=http1:8080' --image 'registry.example/*=grpc-tls:9000,http1:8080'
  skewrig cluster up 'kep-4939/skew/older-kubelet/**'
  skewrig cluster up ./mine.yaml
  sudo skewrig cluster up --runtime containerd
  skewrig cluster up ./kind-cluster.yaml`,
		Args: cobra.MaximumNArgs(1),
		RunE: f.run,
	}
	f.binaries.register(cmd)
	f.output.register(cmd)
	cmd.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", "also write the kubeconfig to this new file (default: only in the rig's own directory)")
	cmd.Flags().StringArrayVar(&f.images, "image", nil, "mock an image as a server: IMAGE=PROTOCOL:PORT[,PROTOCOL:PORT...]; * in it matches all but / (repeatable)")
	cmd.Flags().StringArrayVar(&f.archives, "archive", nil, "with containerd: an image of a file, as docker save writes it: IMAGE=FILE (repeatable)")
	cmd.Flags().StringVar(&f.fallback, "default-image", "", "mock every unknown image as a server: PROTOCOL:PORT[,PROTOCOL:PORT...]")
	registerRuntime(cmd, &f.runtime, "")
	registerAllowHost(cmd, &f.allowHost)
	cmd.Flags().StringVar(&f.history, "history", "", "write the record to this new file, as JSON lines")
	return cmd
}

func (f *upFlags) run(cmd *cobra.Command, args []string) (err error) {
	builder, here, err := f.open(cmd)
	if err != nil {
		return err
	}
	cell, err := here.UpCell(cmd.ErrOrStderr(), args)
	played, unreadable := f.played()
	if err := errors.Join(err, unreadable, isNew("history", f.history), isNew("kubeconfig", f.kubeconfig)); err != nil {
		return err
	}
	ctx := cmd.Context()
	cells, err := app.OnRuntime([]plan.Cell{cell}, f.runtime.value)
	if err != nil {
		return err
	}
	cell = cells[0]
	warnUnconfined(cmd, args, f.allowHost)
	if err := app.CheckOutside(cells, false, f.allowHost); err != nil {
		return err
	}
	if err := f.CheckUsed(builder, cells); err != nil {
		return err
	}
	if _, err := f.build(ctx, cmd, builder, app.Targets(cells), cells); err != nil {
		return err
	}
	var history record.Recorder // without --history, nothing is kept: a cluster may be up for days
	if f.history != "" {
		file, failure := files.CreateNew(f.history, 0o644)
		if failure != nil {
			return failure
		}
		kept := record.NewHistory(file)
		defer func() { err = errors.Join(err, app.Failed(errors.Join(kept.Err(), file.Close()))) }()
		history = kept
	}
	c, err := start(news(cmd), func() (*rig.Rig, error) { return app.Up(ctx, cell, played, builder, history, f.allowHost) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Failed(c.Close())) }()
	is := describeCluster(c, played, f.fallback, cell)
	if f.kubeconfig != "" {
		text, err := os.ReadFile(is.Kubeconfig)
		if err == nil {
			err = app.WriteNew(f.kubeconfig, text, 0o600)
		}
		if err != nil {
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

// isNew returns an error if the file of a flag exists: it may be another cluster's, or a record that is still needed.
func isNew(flag, name string) error {
	if name == "" {
		return nil
	}
	if _, err := os.Lstat(name); err == nil {
		return fmt.Errorf("--%s: file %s already exists", flag, name)
	}
	return nil // making it shows whether it can be made
}

// played reads what images are played by. The error says everything that is wrong.
func (f *upFlags) played() (played images.Played, _ error) {
	var problems []error
	for _, text := range f.images {
		image, err := images.ParseImage(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("--image %s: %w", text, err))
		}
		played.Images = append(played.Images, image)
	}
	for _, text := range f.archives {
		reference, file, err := images.ParseArchive(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("--archive %s: %w", text, err))
			continue
		}
		if played.Archives == nil {
			played.Archives = make(map[string]string)
		}
		played.Archives[reference] = file
	}
	if f.fallback != "" {
		var err error
		if played.Default, err = images.ParseListeners(f.fallback); err != nil {
			problems = append(problems, fmt.Errorf("--default-image %s: %w", f.fallback, err))
		}
	}
	return played, errors.Join(problems...)
}

// start starts a rig and tells how long it took.
func start(w io.Writer, up func() (*rig.Rig, error)) (*rig.Rig, error) {
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
func hold(cmd *cobra.Command, c *rig.Rig) error {
	bound, cancel := c.Bind(cmd.Context())
	defer cancel()
	<-bound.Done()
	if cmd.Context().Err() == nil {
		return app.Failed(context.Cause(bound))
	}
	fmt.Fprintln(news(cmd), "\nstopping")
	return nil
}
