package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/fakeservers/container/logged"
)

// follower reads the output of a container of a pod, over all its runs. An API server gives out that of the
// run that is the last one, and of the one before it.
type follower struct {
	*outputs

	namespace, pod, container, node string
	subject                         string
	log                             *logged.Log
	order                           []*logged.Run // those that were seen, as they followed each other
	over                            int           // how many of them were read to their end
	drained                         bool          // what was followed last has come to its end

	seen    sync.Mutex
	changed chan struct{}   // is closed when something new is known
	runs    map[string]bool // by the container's id: whether it has ended
	numbers []int           // of the runs, among those of all pods of the same name
	ended   time.Time       // when the last one did that has, by the clock of the node
	gone    bool            // the pod is
}

// see learns from the status of the container.
func (f *follower) see(s corev1.ContainerStatus, gone bool) {
	f.seen.Lock()
	defer f.seen.Unlock()
	f.gone = f.gone || gone
	for _, t := range []*corev1.ContainerStateTerminated{s.LastTerminationState.Terminated, s.State.Terminated} {
		if t != nil && logged.Ran(t.Reason) {
			f.ran(t.ContainerID, true)
			f.ended = t.FinishedAt.Time
		}
	}
	if s.State.Running != nil {
		f.ran(s.ContainerID, false)
	}
	close(f.changed)
	f.changed = make(chan struct{})
}

// ran notes that the container runs, or has run. f.seen is held.
func (f *follower) ran(id string, ended bool) {
	if id == "" {
		return
	}
	if _, known := f.runs[id]; !known {
		f.numbers = append(f.numbers, f.merger.Expect(f.subject, f.node, len(f.runs) == 0))
	}
	f.runs[id] = f.runs[id] || ended
}

// known is what the status says of the container.
type known struct {
	runs  int       // that have begun
	ended bool      // all of them have
	last  time.Time // when the last one did that has, by the clock of the node
	gone  bool      // the pod is
}

func (f *follower) known() (is known, changed <-chan struct{}) {
	f.seen.Lock()
	defer f.seen.Unlock()
	running := slices.Contains(slices.Collect(maps.Values(f.runs)), false)
	return known{runs: len(f.runs), ended: !running, last: f.ended, gone: f.gone}, f.changed
}

// await returns what is known once that is enough, and false if ctx ends before.
func (f *follower) await(ctx context.Context, enough func(known) bool) (known, bool) {
	for {
		is, changed := f.known()
		if enough(is) {
			return is, true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return is, false
		}
	}
}

// pause is how long there is between two attempts to read.
const pause = 200 * time.Millisecond

// follow reads the output of one run after the other.
func (f *follower) follow() {
	for f.ctx.Err() == nil {
		is, there := f.await(f.ctx, func(is known) bool { return is.runs > f.over })
		if !there {
			return
		}
		if err := f.read(is); err != nil {
			if f.ctx.Err() == nil {
				f.merger.Lose(f.subject, fmt.Errorf("reading what container %s records: %w", f.subject, err))
			}
			return
		}
		select {
		case <-time.After(pause):
		case <-f.ctx.Done():
		}
	}
}

// read reads what there is of the runs that were not read to their end.
func (f *follower) read(is known) error {
	if f.over < is.runs-1 {
		if err := f.before(); err != nil {
			return err
		}
	}
	over := is.ended || is.gone // so that what there is, is all
	last, err := f.stream(false, !over)
	if err != nil || last == nil {
		return err
	}
	if last.Ended || over && slices.Index(f.order, last) < is.runs {
		return f.finish(last)
	}
	return nil
}

// before reads the run before the last one, if there is one.
func (f *follower) before() error {
	run, err := f.stream(true, false)
	if err != nil || run == nil {
		return err
	}
	return f.finish(run)
}

// finish says that a run was read to its end.
func (f *follower) finish(run *logged.Run) error {
	switch at := slices.Index(f.order, run); {
	case at > f.over:
		return fmt.Errorf("%w: it was started again before all was read", logged.ErrLost)
	case at == f.over:
		f.over++
		f.merger.Over(f.subject, f.number(at), run, run.End())
	}
	return nil
}

func (f *follower) number(at int) int {
	f.seen.Lock()
	defer f.seen.Unlock()
	return f.numbers[at]
}

// stream reads the output of one run to its end, and returns that run. It is nil if there was nothing of
// the record, or if it is not sure that it was the end.
func (f *follower) stream(previous, follow bool) (*logged.Run, error) {
	ctx, cancel := context.WithCancel(f.ctx)
	defer cancel()
	if follow {
		go f.limit(ctx, cancel)
	}
	out, err := f.open(ctx, f.namespace, f.pod, f.container, previous, follow)
	is, _ := f.known()
	switch {
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return nil, err
	case apierrors.IsNotFound(err) && is.gone && !previous:
		return f.left()
	case err != nil:
		return nil, nil // it is tried again, until it has taken too long
	}
	defer out.Close()
	reading := f.log.Read()
	err = f.lines(ctx, out, reading, previous)
	if follow {
		f.drained = errors.Is(err, io.EOF)
	}
	switch {
	case errors.Is(err, logged.ErrLost):
		return nil, err
	case f.ctx.Err() != nil, reading.Run == nil:
		return nil, nil
	case reading.Run.Ended, errors.Is(err, io.EOF) && !follow:
		return reading.Run, nil
	default:
		return nil, nil // what is followed may end because a connection does
	}
}

// lines reads lines until they end.
func (f *follower) lines(ctx context.Context, out io.Reader, reading *logged.Reading, previous bool) error {
	var last time.Time
	for from := bufio.NewReader(out); ; {
		text, err := from.ReadString('\n')
		if err != nil {
			return err
		}
		events, fresh, err := reading.Line(text)
		if err != nil {
			return err
		}
		now, awaited := time.Now(), time.Duration(0)
		if !last.IsZero() {
			awaited = now.Sub(last)
		}
		last = now
		if !fresh {
			continue
		}
		at, err := f.place(ctx, reading.Run, previous)
		if err != nil {
			return err
		}
		f.merger.Read(f.subject, f.number(at), reading.Run, awaited, events)
		if reading.Run.Ended {
			return io.EOF
		}
	}
}

// place is the place of a run among all. Before one that is new, there may be another that is; and the status
// of the pod may not have said yet that it has begun.
func (f *follower) place(ctx context.Context, run *logged.Run, previous bool) (int, error) {
	at := slices.Index(f.order, run)
	if at >= 0 {
		return at, nil
	}
	if !previous {
		if err := f.before(); err != nil {
			return 0, err
		}
	}
	if at = slices.Index(f.order, run); at < 0 { // it is not the one before by now
		at = len(f.order)
		f.order = append(f.order, run)
	}
	if _, there := f.await(ctx, func(is known) bool { return is.runs > at }); !there {
		return 0, context.Cause(ctx)
	}
	return at, nil
}

// limit ends what is followed when that is not the last run any more, or a while after it has ended: a kubelet
// takes seconds to notice that.
func (f *follower) limit(ctx context.Context, cancel context.CancelFunc) {
	first, _ := f.known()
	is, there := f.await(ctx, func(is known) bool { return is.runs != first.runs || is.ended })
	if there && is.runs == first.runs {
		select {
		case <-time.After(drain):
		case <-ctx.Done():
		}
	}
	cancel()
}

// drain is how long what a run wrote may take to arrive after its end is known, and beats how long before its end
// it may have said something last.
const drain, beats = time.Second, 8 * container.Beat

// left is the last run of a pod that is gone, whose output can't be read again, if it was read to its end.
func (f *follower) left() (*logged.Run, error) {
	is, _ := f.known()
	if n := len(f.order); n >= is.runs {
		last := f.order[n-1]
		if last.Ended || f.drained || is.ended && last.At.After(is.last.Add(-beats)) {
			return last, nil
		}
	}
	return nil, fmt.Errorf("%w: the pod is gone, and its output was not read to the end", logged.ErrLost)
}
