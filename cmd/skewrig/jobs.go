package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/jobs"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// jobsFlags say that cells run in an existing cluster, as the indexes of a Job.
type jobsFlags struct {
	number                  int
	image, namespace, patch string
	cluster                 *kubeconfig
}

func (f *jobsFlags) register(cmd *cobra.Command, cluster *kubeconfig) {
	f.cluster = cluster
	cmd.Flags().IntVar(&f.number, "jobs", 0, "run the cells as so many shards of a Job in an existing cluster, and gather their reports (default: on this machine)")
	cmd.Flags().StringVar(&f.image, "image", "", "with --jobs: the image that runs, with skewrig and its components (make image)")
	cmd.Flags().StringVar(&f.namespace, "namespace", "", "with --jobs: the namespace of the Job (default: that of the context)")
	cmd.Flags().StringVar(&f.patch, "job-patch", "", "with --jobs: a file with a patch of the Job, such as resources or imagePullSecrets")
}

// Flags of skewrig run are for the shards of a Job, or for who gathers them. With others there is no Job.
var (
	ofShards   = []string{"repeat", "until-fail", "isolate", "shuffle", "parallel", "known-deviations"}
	ofGatherer = []string{"jobs", "image", "namespace", "job-patch", "kubeconfig", "context", "report-dir", "force", "output", "matrix", "github", "quiet", "verbose"}
)

// args are those with which each shard runs.
func (f *jobsFlags) args(flags *pflag.FlagSet, named []string) (args []string, _ error) {
	var problems []error
	flags.Visit(func(flag *pflag.Flag) {
		switch {
		case slices.Contains(ofShards, flag.Name):
			args = append(args, fmt.Sprintf("--%s=%s", flag.Name, flag.Value))
		case !slices.Contains(ofGatherer, flag.Name):
			problems = append(problems, fmt.Errorf("--%s can't be with --jobs", flag.Name))
		}
	})
	return append(slices.Clone(named), args...), errors.Join(problems...)
}

// config leads to the cluster. The namespace is that of the context if it is not set.
func (f *jobsFlags) config() (*rest.Config, error) {
	config, namespace, err := f.cluster.config().Load()
	if f.namespace == "" {
		f.namespace = namespace
	}
	return config, err
}

// jobs runs cells in a cluster.
func (f *runFlags) jobs(cmd *cobra.Command, named []string, cells []plan.Cell) error {
	j := &f.inJobs
	args, problem := j.args(cmd.Flags(), named)
	if j.number < 1 {
		problem = errors.Join(problem, fmt.Errorf("--jobs is %d; it must be at least 1", j.number))
	}
	if j.image == "" {
		problem = errors.Join(problem, errors.New("--jobs needs --image: an image with skewrig and its components, which the cluster can pull (make image makes one)"))
	}
	config, err := j.config()
	problem = errors.Join(problem, err)
	var patch []byte
	if j.patch != "" {
		patch, err = os.ReadFile(j.patch)
		problem = errors.Join(problem, err)
	}
	if problem != nil {
		return problem
	}
	var one sync.Mutex
	report, err := app.RunJobs(cmd.Context(), cells, f.report.place(cmd), app.Jobs{
		Run:    jobs.Run{Namespace: j.namespace, Image: j.image, Shards: j.number, Args: args},
		Config: config, Patch: patch, Named: named, Command: app.CommandLine(os.Args),
		Tell: func(what string) {
			one.Lock()
			defer one.Unlock()
			fmt.Fprintln(news(cmd), what)
		},
	})
	if err != nil {
		return err
	}
	return f.github.tell(cmd, f.output, report, func() error { return finish(cmd, f.output, report, f.report.dir) })
}
