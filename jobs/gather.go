package jobs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Gatherer takes the reports of the shards of a run.
type Gatherer struct {
	Cluster *Cluster
	Run     Run
	// Dir gets the report of each shard, in a directory that is called by its number. What is there was gathered
	// before.
	Dir string
	// Tell is called with what happens, also by several goroutines at the same time. If unset, that is not
	// reported.
	Tell func(string)

	states map[int]string  // the state of each shard that was reported
	heard  map[string]bool // pods
	freed  sync.Map        // pods whose report was taken
	failed time.Time       // since when the cluster does not answer
	saying sync.WaitGroup  // what passes on what pods say
}

// How often the cluster is asked, and for how long it may not answer.
const (
	often   = 2 * time.Second
	patient = 5 * time.Minute
)

// ReportDir is where the report of a shard is.
func (g *Gatherer) ReportDir(shard int) string { return filepath.Join(g.Dir, strconv.Itoa(shard)) }

// Gather returns when the report of each shard is there. It is an error if some will not come; the others are
// there then. A cluster that does not answer for a while is asked again.
func (g *Gatherer) Gather(ctx context.Context) error {
	g.states, g.heard = make(map[int]string), make(map[string]bool)
	ctx, cancel := context.WithCancel(ctx)
	defer func() { cancel(); g.saying.Wait() }()
	for {
		left, err := g.round(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil:
			g.failed = time.Time{}
		case g.gives(err):
			return err
		}
		if err == nil && left == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(often):
		}
	}
}

// Over is the error of a Job that ended, or is gone, before all reports were there: nothing more comes.
type Over struct {
	error
	// Gone says that there is no Job.
	Gone bool
}

// gives reports whether it is given up because of an error.
func (g *Gatherer) gives(err error) bool {
	if _, is := errors.AsType[Over](err); is || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		return true
	}
	if g.failed.IsZero() {
		g.failed = time.Now()
		g.tell("%v; trying again", err)
	}
	return time.Since(g.failed) > patient
}

// round takes the reports that are there, and returns how many have not come.
func (g *Gatherer) round(ctx context.Context) (left int, err error) {
	job, pods, err := g.Cluster.look(ctx, g.Run)
	if over, is := errors.AsType[Over](err); is && over.Gone && g.all() {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	shards := shardsOf(g.Run.Shards, pods)
	if err := g.takeAll(ctx, shards); err != nil {
		return 0, err
	}
	var missing []error
	for _, s := range shards {
		if exists(g.ReportDir(s.Number)) {
			continue
		}
		left++
		missing = append(missing, fmt.Errorf("shard %d/%d %s", s.Number, g.Run.Shards, s.State))
		g.tellOf(ctx, s)
	}
	if why := ended(*job); why != "" && left > 0 {
		return left, Over{fmt.Errorf("the Job ended (%s) without the reports of %d of %d shards:\n%w", why, left, g.Run.Shards, errors.Join(missing...)), false}
	}
	return left, nil
}

// all reports whether each report is there.
func (g *Gatherer) all() bool {
	for n := range g.Run.Shards {
		if !exists(g.ReportDir(n + 1)) {
			return false
		}
	}
	return true
}

// tellOf reports the state of a shard, if it has changed, and the output of its pod.
func (g *Gatherer) tellOf(ctx context.Context, s shard) {
	if g.states[s.Number] != s.State {
		g.states[s.Number] = s.State
		g.tell("shard %d/%d %s", s.Number, g.Run.Shards, s.State)
	}
	if s.Pod == "" || g.heard[s.Pod] {
		return
	}
	out, err := g.Cluster.logs(ctx, g.Run, s.Pod)
	if err != nil {
		return // it has not started
	}
	g.heard[s.Pod] = true
	g.saying.Go(func() { g.pass(s, out) })
}

// pass passes on what the pod of a shard says.
func (g *Gatherer) pass(s shard, out io.ReadCloser) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		g.tell("%d/%d  %s", s.Number, g.Run.Shards, lines.Text())
	}
	_ = out.Close() // it is read to its end
}

// together is how many reports are taken at the same time: a pod packs its own, which takes longer than sending it.
const together = 8

// takeAll takes the reports of the shards that are ready.
func (g *Gatherer) takeAll(ctx context.Context, shards []shard) error {
	var taking errgroup.Group
	taking.SetLimit(together)
	for _, s := range shards {
		if s.Ready {
			taking.Go(func() error { return g.take(ctx, s) })
		}
	}
	return taking.Wait()
}

// take takes the report of a shard, unless it is there, and lets its pod end.
func (g *Gatherer) take(ctx context.Context, s shard) error {
	if !exists(g.ReportDir(s.Number)) {
		if err := g.receive(ctx, s); err != nil {
			return fmt.Errorf("taking the report of shard %d/%d: %w", s.Number, g.Run.Shards, err)
		}
		g.tell("shard %d/%d gathered", s.Number, g.Run.Shards)
	}
	if _, freed := g.freed.Load(s.Pod); freed { // it is ready until the cluster reports that it ended
		return nil
	}
	err := g.Cluster.exec(ctx, g.Run, s.Pod, command("release"), io.Discard)
	if err == nil {
		g.freed.Store(s.Pod, true)
	}
	return err
}

// receive has a report sent. It is there as a whole, or not at all.
func (g *Gatherer) receive(ctx context.Context, s shard) error {
	temp, err := os.MkdirTemp(g.Dir, ".receiving-")
	if err != nil {
		return err
	}
	read, write := io.Pipe()
	sent := make(chan error, 1)
	go func() {
		err := g.Cluster.exec(ctx, g.Run, s.Pod, command("send"), write)
		sent <- errors.Join(err, write.CloseWithError(err))
	}()
	err = Unpack(read, temp)
	_ = read.CloseWithError(err)
	if err := errors.Join(err, <-sent); err != nil {
		return errors.Join(err, os.RemoveAll(temp))
	}
	return os.Rename(temp, g.ReportDir(s.Number))
}

func (g *Gatherer) tell(format string, args ...any) {
	if g.Tell != nil {
		g.Tell(fmt.Sprintf(format, args...))
	}
}
