package app

import (
	"bytes"
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
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/scenarios/own"
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
	// Named are the patterns and files that say which cells, and Command the whole command line.
	Named   []string
	Command string
	// Tell is called with what happens, also by several goroutines at the same time.
	Tell func(string)
}

// jobFile is where the directory of shards has which run they are of.
const jobFile = "run.json"

// maxFiles is how many bytes a ConfigMap can have of the user's files.
const maxFiles = 900 << 10

// ShardsDir is where reports of shards are until they are joined into one in a directory.
func ShardsDir(dir string) string { return filepath.Clean(dir) + "-shards" }

// RunJobs runs the shards of a run, gathers their reports, and merges them. If it ends before, the Job stays, and the
// same command goes on with it.
func RunJobs(ctx context.Context, cells []plan.Cell, place Place, j Jobs) (report reports.Report, err error) {
	packed, err := filesOf(j.Named)
	if err != nil {
		return report, err
	}
	before := func() error { // before anything starts
		claimed, err := place.ClaimFor(cells)
		if err != nil {
			return err
		}
		return Failed(claimed.Close())
	}
	err = j.gather(ctx, place.Dir, packed, before, func(dirs []string) error {
		report, err = Merge(dirs, place, j.Command)
		return err
	})
	return report, err
}

// SweepJobs does the same for the shards of a sweep. Of known findings, it makes no news.
func SweepJobs(ctx context.Context, dir string, known []trial.Finding, j Jobs) (swept trial.Swept, err error) {
	err = j.gather(ctx, dir, nil, func() error { return clearSweep(dir) }, func(dirs []string) error {
		swept, err = JoinSweeps(dirs, dir, j.Command, known)
		return err
	})
	return swept, err
}

// gather runs the shards and has what they left joined, which is to be in a directory. Nothing starts if before has an
// error.
func (j *Jobs) gather(ctx context.Context, to string, packed []byte, before func() error, join func(dirs []string) error) error {
	if _, err := j.Run.Job(packed != nil, j.Patch); err != nil {
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
	if err := j.begin(ctx, cluster, dir, packed); err != nil {
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
func (j *Jobs) begin(ctx context.Context, cluster *jobs.Cluster, dir string, packed []byte) error {
	var had jobs.Run
	switch err := readJSON(filepath.Join(dir, jobFile), &had); {
	case err == nil:
		j.Run.Name = had.Name
		if !reflect.DeepEqual(had, j.Run) {
			return fmt.Errorf("%s has shards of another run (%s): run the same command, or delete the Job and the directory", dir, had)
		}
		j.Tell("going on with " + j.Run.String())
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	j.Run.Name = "skewrig-" + rand.String(5)
	job, err := j.Run.Job(packed != nil, j.Patch)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Failed(err)
	}
	if err := writeJSON(filepath.Join(dir, jobFile), j.Run); err != nil {
		return Failed(err)
	}
	if err := cluster.Start(ctx, j.Run, job, packed); err != nil {
		return errors.Join(fmt.Errorf("starting the Job: %w", err), os.RemoveAll(dir))
	}
	j.Tell(j.Run.String())
	return nil
}

// filesOf are the user's own files, packed, or nil if nothing of them is run: the YAML files of the working
// directory and below.
func filesOf(named []string) ([]byte, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	catalog, has := own.Find(dir)
	var problems []error
	for _, name := range named {
		if IsFile(name) {
			has = true
			if !filepath.IsLocal(name) {
				problems = append(problems, fmt.Errorf("%s is not below the working directory, whose files go along", name))
			}
		}
	}
	if catalog != "" && catalog != dir {
		problems = append(problems, fmt.Errorf("the catalog is in %s: run skewrig there, so that its files go along", catalog))
	}
	if err := errors.Join(problems...); err != nil || !has {
		return nil, err
	}
	var b bytes.Buffer
	if err := jobs.Pack(&b, yamlFiles{os.DirFS(dir)}); err != nil {
		return nil, err
	}
	if b.Len() > maxFiles {
		return nil, fmt.Errorf("the YAML files of %s have %d bytes when packed, and %d can go along: run skewrig in a directory with less", dir, b.Len(), maxFiles)
	}
	return b.Bytes(), nil
}

// yamlFiles is a file system with nothing but directories and YAML files. Hidden directories, and those of reports, are
// left out.
type yamlFiles struct{ fs.FS }

// ReadDir implements fs.ReadDirFS.
func (y yamlFiles) ReadDir(name string) (left []fs.DirEntry, _ error) {
	all, err := fs.ReadDir(y.FS, name)
	for _, e := range all {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !y.isReport(name, e) || e.Type().IsRegular() && IsFile(e.Name()) {
			left = append(left, e)
		}
	}
	return left, err
}

func (y yamlFiles) isReport(in string, e fs.DirEntry) bool {
	_, err := fs.Stat(y.FS, filepath.ToSlash(filepath.Join(in, e.Name(), render.JSONFile)))
	return err == nil
}
