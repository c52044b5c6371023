package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/jobs"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/sweep/trial"
)

// jobsFlags say that cells, or a sweep, run in an existing cluster, as the indexes of a Job.
type jobsFlags struct {
	number                  int
	image, namespace, patch string
	cluster                 *kubeconfig
	// shards are the flags that the command gives to shards. Those of a gatherer are its own. With others there is no
	// Job.
	shards []string
}

func (f *jobsFlags) register(cmd *cobra.Command, cluster *kubeconfig, of string, shards ...string) {
	f.cluster, f.shards = cluster, shards
	cmd.Flags().IntVar(&f.number, "jobs", 0, "run "+of+" as so many shards of a Job in an existing cluster, and gather their reports (default: on this machine)")
	cmd.Flags().StringVar(&f.image, "image", "", "with --jobs: the image that runs, with skewrig and its components (make image)")
	cmd.Flags().StringVar(&f.namespace, "namespace", "", "with --jobs: the namespace of the Job (default: that of the context)")
	cmd.Flags().StringVar(&f.patch, "job-patch", "", "with --jobs: a file with a patch of the Job, such as resources or imagePullSecrets")
}

// wanted reports whether there is to be a Job.
func (*jobsFlags) wanted(cmd *cobra.Command) bool { return cmd.Flags().Changed("jobs") }

// ofGatherer are flags for who gathers the shards of a Job.
var ofGatherer = []string{"jobs", "image", "namespace", "job-patch", "kubeconfig", "context", "report-dir", "force", "output", "github", "baseline", "provider-config", "quiet", "verbose"}

// args are those with which each shard runs.
func (f *jobsFlags) args(cmd *cobra.Command, named []string) (args []string, _ error) {
	var problems []error
	args = append([]string{cmd.Name()}, named...)
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		switch {
		case slices.Contains(f.shards, flag.Name):
			args = append(args, fmt.Sprintf("--%s=%s", flag.Name, given(flag)))
		case !slices.Contains(ofGatherer, flag.Name):
			problems = append(problems, fmt.Errorf("--%s can't be with --jobs", flag.Name))
		}
	})
	return args, errors.Join(problems...)
}

// given is a flag's value as it is given.
func given(flag *pflag.Flag) string {
	if all, is := flag.Value.(pflag.SliceValue); is {
		return strings.Join(all.GetSlice(), ",")
	}
	return flag.Value.String()
}

// config leads to the cluster. The namespace is that of the context if it is not set.
func (f *jobsFlags) config() (*rest.Config, error) {
	config, namespace, err := f.cluster.config().Load()
	if f.namespace == "" {
		f.namespace = namespace
	}
	return config, err
}

// of is what runs in a cluster: the command with what it names.
func (f *jobsFlags) of(cmd *cobra.Command, named []string) (app.Jobs, error) {
	args, problem := f.args(cmd, named)
	if f.number < 1 {
		problem = errors.Join(problem, fmt.Errorf("--jobs is %d; it must be at least 1", f.number))
	}
	if f.image == "" {
		problem = errors.Join(problem, errors.New("--jobs needs an image (jobs.image of --provider-config): one with skewrig and its components, which the cluster can pull (make image makes one)"))
	}
	config, err := f.config()
	problem = errors.Join(problem, err)
	var patch []byte
	if f.patch != "" {
		patch, err = files.Read(f.patch, files.MaxText)
		problem = errors.Join(problem, err)
	}
	var one sync.Mutex
	return app.Jobs{
		Run:    jobs.Run{Namespace: f.namespace, Image: f.image, Shards: f.number, Args: args},
		Config: config, Patch: patch, Command: app.CommandLine(os.Args),
		Tell: func(what string) {
			one.Lock()
			defer one.Unlock()
			fmt.Fprintln(news(cmd), what)
		},
	}, problem
}

// jobs runs cells in a cluster.
func (f *runFlags) jobs(cmd *cobra.Command, named []string, cells []plan.Cell) error {
	j, err := f.inJobs.of(cmd, named)
	if err != nil {
		return err
	}
	if j.Files = slices.DeleteFunc(slices.Clone(named), func(name string) bool { return !app.IsFile(name) }); f.known != "" {
		j.Files = append(j.Files, f.known)
	}
	report, err := app.RunJobs(cmd.Context(), cells, f.report.place(cmd), j)
	if err != nil {
		return err
	}
	return f.github.tell(cmd, f.output, report, func() error { return finish(cmd, f.output, report, f.report.dir) })
}

// jobs sweeps a release in a cluster.
func (f *sweepFlags) jobs(cmd *cobra.Command, release string, known []trial.Finding) error {
	j, err := f.inJobs.of(cmd, []string{release})
	if err != nil {
		return err
	}
	swept, err := app.SweepJobs(cmd.Context(), f.dir, known, j)
	if err != nil {
		return err
	}
	return finishSweep(cmd, f.output, swept, f.dir)
}
