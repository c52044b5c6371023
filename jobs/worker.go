package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/harness/process"
)

// Worker runs the shard of one index in its container.
type Worker struct {
	// Program is skewrig, Dir where it works, and Files the archive of the user's files, if it exists.
	Program, Dir, Files string
	// Index is that of the pod, as the Job gives it, and Of how many shards there are.
	Index string
	Of    int
	// Check is an error if a directory has no report that can be gathered: a command that fails may have the exit code
	// of one that could not judge.
	Check func(dir string) error
	// Out takes what skewrig says.
	Out io.Writer
}

// NewWorker is the worker of this container.
func NewWorker(of int, check func(dir string) error) (Worker, error) {
	program, err := os.Executable()
	return Worker{
		Program: program, Dir: workDir, Files: filepath.Join(filesDir, filesName), Index: os.Getenv("JOB_COMPLETION_INDEX"), Of: of,
		Check: check, Out: os.Stdout,
	}, err
}

// refused is the exit code of skewrig when it refuses what it was given.
const refused = 3

func (w Worker) report() string { return filepath.Join(w.Dir, "report") }
func (w Worker) ended() string  { return filepath.Join(w.Dir, "ended") }
func (w Worker) taken() string  { return filepath.Join(w.Dir, "taken") }

// Run runs the shard: a command of skewrig with its arguments. It returns when the report was taken. It is an error if
// there is none. An error of the command is returned.
func (w Worker) Run(ctx context.Context, args []string) error {
	index, err := strconv.Atoi(w.Index)
	if err != nil || index < 0 || index >= w.Of {
		return fmt.Errorf("JOB_COMPLETION_INDEX is %q: a shard is an index of a Job, from 0 to %d", w.Index, w.Of-1)
	}
	in := filepath.Join(w.Dir, "files")
	if err := w.unpack(in); err != nil {
		return err
	}
	args = append(slices.Clone(args), "--shard", fmt.Sprintf("%d/%d", index+1, w.Of), "--report-dir", w.report())
	_, err = process.Command{
		Path: w.Program, Args: args, Env: process.UserEnv(), Dir: in, Stdout: w.Out, Stderr: w.Out, Grace: time.Minute, // the kubelet allows it half of that
	}.Run(ctx)
	if exit, is := errors.AsType[*exec.ExitError](err); err != nil && (!is || !exit.Exited() || exit.ExitCode() >= refused) || ctx.Err() != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	if err := w.Check(w.report()); err != nil {
		return err
	}
	if err := files.WriteBytes(w.ended(), 0o600, nil); err != nil {
		return err
	}
	return w.untilTaken(ctx)
}

// unpack makes the directory that skewrig runs in, with the user's files.
func (w Worker) unpack(to string) (err error) {
	archive, err := files.Open(w.Files)
	if errors.Is(err, fs.ErrNotExist) {
		return os.MkdirAll(to, 0o755)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, archive.Close()) }()
	return Unpack(archive, to)
}

func (w Worker) untilTaken(ctx context.Context) error {
	for {
		if exists(w.taken()) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the report was not taken: %w", context.Cause(ctx))
		case <-time.After(time.Second):
		}
	}
}

// Ready reports whether the report is there, as an error if it is not.
func (w Worker) Ready() error {
	if !exists(w.ended()) {
		return errors.New("the shard has not ended")
	}
	return nil
}

// Send writes the report as an archive.
func (w Worker) Send(to io.Writer) error {
	if err := w.Ready(); err != nil {
		return err
	}
	return Pack(to, files.RootFS(w.report(), files.MaxLog))
}

// Release lets the worker end: its report was taken.
func (w Worker) Release() error { return files.WriteBytes(w.taken(), 0o600, nil) }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
