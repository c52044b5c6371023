package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/jobs"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/sweep/trial"
)

// Jobs is a run, or a sweep, whose shards are the indexes of a Job in an existing cluster.
type Jobs struct {
	// Run is what runs. Its name is chosen.
	Run jobs.Run
	// Config leads to the cluster.
	Config *rest.Config
	// Patch changes the Job: see jobs.Run.Job. If unset, nothing.
	Patch []byte
	// Files are those that the command names: scenarios, and a list of known deviations. They go along, with all others of
	// a catalog of one's own. Command is the whole command line.
	Files   []string
	Command string
	// Tell is called with what happens, also by several goroutines at the same time.
	Tell func(string)
}

// jobFile is where the directory of shards has which run they are of.
const jobFile = "run.json"

// jobRecord is what jobFile has: a run, and what else makes it another one.
type jobRecord struct {
	jobs.Run

	// FilesHash is of the user's files. If unset, there are none.
	FilesHash string `json:"filesHash,omitempty"`
	Patch     string `json:"patch,omitempty"`
}

// ShardsDir is where reports of shards are until they are joined into one in a directory.
func ShardsDir(dir string) string { return filepath.Clean(dir) + "-shards" }

// RunJobs runs the shards of a run, gathers their reports, and merges them. If it ends before, the Job stays, and the
// same command goes on with it.
func RunJobs(ctx context.Context, cells []plan.Cell, place Place, j Jobs) (report reports.Report, err error) {
	files, err := filesOf(j.Files)
	if err != nil {
		return report, err
	}
	before := func() error {
		quiet := place // Merge tells it
		quiet.Tell = nil
		claimed, err := quiet.ClaimFor(cells)
		if err != nil {
			return err
		}
		return Failed(claimed.Close())
	}
	err = j.gather(ctx, place.Dir, files, before, func(dirs []string) error {
		report, err = Merge(ctx, dirs, place, j.Command)
		return err
	})
	return report, err
}

// SweepJobs does the same for the shards of a sweep. Of known findings, it makes no news.
func SweepJobs(ctx context.Context, dir string, known []trial.Finding, j Jobs) (swept trial.Result, err error) {
	err = j.gather(ctx, dir, userFiles{}, func() error { return sweptDir.only(dir) }, func(dirs []string) error {
		swept, err = JoinSweeps(dirs, dir, j.Command, known)
		return err
	})
	return swept, err
}

// gather runs the shards and has what they left joined, which is to be in a directory. Nothing starts if before has an
// error.
func (j *Jobs) gather(ctx context.Context, to string, files userFiles, before func() error, join func(dirs []string) error) error {
	if _, err := j.Run.Job(files.packed != nil, j.Patch); err != nil {
		return fmt.Errorf("patching the Job: %w", err)
	}
	if err := before(); err != nil {
		return err
	}
	cluster, err := jobs.NewCluster(j.Config)
	if err != nil {
		return err
	}
	if err := cluster.Allowed(ctx, j.Run.Namespace); err != nil {
		return err
	}
	dir := ShardsDir(to)
	if err := j.begin(ctx, cluster, dir, files); err != nil {
		return err
	}
	gatherer := jobs.Gatherer{Cluster: cluster, Run: j.Run, Dir: dir, Tell: j.Tell}
	if err := gatherer.Gather(ctx); err != nil {
		return Failed(fmt.Errorf("gathering %s: %w\nWhat was gathered is in %s. %s", j.Run, err, dir, next(j.Run, err)))
	}
	var gathered []string
	for n := range j.Run.Shards {
		gathered = append(gathered, gatherer.ReportDir(n+1))
	}
	if err := join(gathered); err != nil {
		return err
	}
	return Failed(errors.Join(cluster.Delete(ctx, j.Run), os.RemoveAll(dir)))
}

// next is what to do about a run of which not all was gathered.
func next(r jobs.Run, err error) string {
	over, is := errors.AsType[jobs.Over](err)
	switch {
	case !is:
		return "The same command goes on; skewrig leaves the Job as it is"
	case over.Gone:
		return "To start anew, delete that directory"
	}
	return "To start anew, delete that directory and the Job: " + r.Deletion()
}

// begin starts the Job, or goes on with that of an earlier run of the same command.
func (j *Jobs) begin(ctx context.Context, cluster *jobs.Cluster, dir string, files userFiles) error {
	var had jobRecord
	switch err := readJSON(filepath.Join(dir, jobFile), &had); {
	case err == nil:
		j.Run.Name = had.Name
		if differs := had.differences(j.record(files)); differs != "" {
			return fmt.Errorf("%s has shards of another run (%s), which differs in %s: run it as it was, or delete the Job and the directory", dir, had.Run, differs)
		}
		j.Tell("going on with " + j.Run.String())
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	j.Run.Name = "skewrig-" + rand.String(5)
	job, err := j.Run.Job(files.packed != nil, j.Patch)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Failed(err)
	}
	if err := writeJSON(filepath.Join(dir, jobFile), j.record(files)); err != nil {
		return Failed(err)
	}
	if err := cluster.Start(ctx, j.Run, job, files.packed); err != nil {
		return errors.Join(fmt.Errorf("starting the Job: %w", err), os.RemoveAll(dir))
	}
	j.Tell(j.Run.String())
	return nil
}

// record is what jobFile has of this run.
func (j *Jobs) record(files userFiles) jobRecord {
	return jobRecord{Run: j.Run, FilesHash: files.hash, Patch: string(j.Patch)}
}

// differences says in what two runs differ.
func (r jobRecord) differences(other jobRecord) string {
	var in []string
	if !reflect.DeepEqual(r.Run, other.Run) {
		in = append(in, "the command")
	}
	if r.FilesHash != other.FilesHash {
		in = append(in, "the files that go along")
	}
	if r.Patch != other.Patch {
		in = append(in, "--job-patch")
	}
	return strings.Join(in, ", ")
}
