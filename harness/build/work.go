package build

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"sync"
	"time"
)

// work is that on one target. It is done once in a process: a run uses the binary that its
// report names, and what could not be built is not tried again.
type work struct {
	done      chan struct{} // is closed when the rest is there
	binary    Binary
	err       error
	brokenOff bool // whoever did it was interrupted
}

// claim returns the work on a target, and whether the caller has to do it.
func (b *Builder) claim(t Target) (w *work, mine bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if w, there := b.works[t.id()]; there {
		return w, false
	}
	if b.works == nil {
		b.works = make(map[string]*work)
	}
	w = &work{done: make(chan struct{})}
	b.works[t.id()] = w
	return w, true
}

// isDone reports whether the work has ended.
func (w *work) isDone() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// finish ends the work on a target.
func (b *Builder) finish(ctx context.Context, o *order, w *work, binary Binary, err error) {
	defer close(w.done)
	if err == nil {
		w.binary = binary
		return
	}
	w.err = &TargetError{Target: o.target, Err: err}
	if ctx.Err() == nil {
		o.tell(Progress{State: Failed, Err: err})
		return
	}
	w.brokenOff = true
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.works, o.target.id())
}

// Binary returns the binary of one target, building it if needed, or once whoever builds it
// has. The error is a *TargetError, or the context's.
func (b *Builder) Binary(ctx context.Context, t Target) (Binary, error) {
	t = b.whole(t)
	for {
		w, mine := b.claim(t)
		if mine {
			if o := b.order(ctx, t); !b.look(ctx, o, w) {
				b.make(ctx, o, w)
			}
			return w.binary, w.err
		}
		select {
		case <-w.done:
		case <-ctx.Done():
			return Binary{}, context.Cause(ctx)
		}
		if !w.brokenOff {
			return w.binary, w.err
		}
	}
}

// Pending reports whether a target is being built, or will be after others.
func (b *Builder) Pending(t Target) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	w, there := b.works[b.whole(t).id()]
	return there && !w.isDone()
}

// Built are the binaries that are there so far, in the order of their targets' names.
func (b *Builder) Built() (all []Binary) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(b.works)) {
		if w := b.works[id]; w.isDone() && w.err == nil {
			all = append(all, w.binary)
		}
	}
	return all
}

// Build returns a binary for each target, in their order, compiling what is not in the
// cache. Nothing is compiled if there is no such release. All failures are reported
// together, as Errors, and the binaries are those that could be built.
func (b *Builder) Build(ctx context.Context, targets []Target) ([]Binary, error) {
	wait, err := b.Start(ctx, targets)
	if err != nil {
		return nil, err
	}
	return wait()
}

// Start is Build, but returns when it is known what has to be compiled. That is done one
// after the other, in the order of the targets. The caller has to wait: when wait returns, nothing
// is compiled any more.
func (b *Builder) Start(ctx context.Context, targets []Target) (wait func() ([]Binary, error), err error) {
	orders, err := b.orders(ctx, targets)
	if err != nil {
		return nil, err
	}
	var works []*work
	var compile []func()
	for _, o := range orders {
		w, mine := b.claim(o.target)
		works = append(works, w)
		if mine && !b.look(ctx, o, w) {
			compile = append(compile, func() { b.make(ctx, o, w) })
		}
	}
	var compiling sync.WaitGroup
	compiling.Go(func() {
		for _, one := range compile {
			one()
		}
	})
	return func() ([]Binary, error) {
		defer compiling.Wait() // what was interrupted still removes what it wrote
		return results(ctx, works)
	}, nil
}

// orders are what it takes to make targets. The error has those of which there is no release.
func (b *Builder) orders(ctx context.Context, targets []Target) (all []*order, err error) {
	var failures Errors
	for _, t := range targets {
		o := b.order(ctx, b.whole(t))
		if errors.Is(o.err, ErrNoRelease) {
			failures = append(failures, &TargetError{Target: t, Err: o.err})
		}
		all = append(all, o)
	}
	if len(failures) > 0 {
		return nil, failures
	}
	return all, nil
}

// results waits for works, and returns what came of them.
func results(ctx context.Context, works []*work) (binaries []Binary, _ error) {
	var failures Errors
	for _, w := range works {
		<-w.done
		if w.err == nil {
			binaries = append(binaries, w.binary)
			continue
		}
		failure, _ := errors.AsType[*TargetError](w.err)
		failures = append(failures, failure)
		if ctx.Err() != nil {
			break // what comes after it was broken off, too
		}
	}
	if len(failures) > 0 {
		return binaries, failures
	}
	return binaries, nil
}

// order is what it takes to make a target.
type order struct {
	target Target
	tell   func(Progress)
	began  time.Time
	given  string // the path of a ready-made binary
	store  store
	recipe *recipe
	err    error // why it can't be made
}

// order finds out what it takes to make a target.
func (b *Builder) order(ctx context.Context, t Target) *order {
	o := &order{target: t, began: time.Now(), given: b.given(t)}
	o.tell = func(p Progress) { b.tell(t, p, o.began) }
	o.store, o.recipe, o.err = b.prepare(ctx, t)
	return o
}

// prepare finds what a target is made of. The recipe is nil for a target of
// which there is a ready-made binary.
func (b *Builder) prepare(ctx context.Context, t Target) (store, *recipe, error) {
	if b.given(t) != "" {
		return store{}, nil, nil
	}
	s, err := b.store()
	if err != nil {
		return s, nil, err
	}
	r, err := newRecipe(ctx, s, t)
	return s, r, err
}

func (o *order) entry() entry { return o.store.entry(o.target, o.recipe.key()) }

// look ends the work on a target whose binary is there, or can't be had. It reports false if
// the binary has to be compiled.
func (b *Builder) look(ctx context.Context, o *order, w *work) bool {
	binary, state, err := Binary{}, Provided, o.err
	switch {
	case err != nil:
	case o.given != "":
		binary, err = provided(ctx, o.target, o.given)
	default:
		state = Cached
		if binary, err = o.entry().load(); errors.Is(err, os.ErrNotExist) {
			return false
		}
	}
	if err == nil {
		o.tell(Progress{State: state})
	}
	b.finish(ctx, o, w, binary, err)
	return true
}

// make ends the work on a target with what it compiles.
func (b *Builder) make(ctx context.Context, o *order, w *work) {
	binary, err := b.compile(ctx, o)
	b.finish(ctx, o, w, binary, err)
}

// compile builds what is not there.
func (b *Builder) compile(ctx context.Context, o *order) (Binary, error) {
	b.compiling.Lock()
	defer b.compiling.Unlock()
	o.began = time.Now() // before, it waited for others
	unlock, err := o.entry().lock(ctx, func() { o.tell(Progress{State: Waiting}) })
	if err != nil {
		return Binary{}, err
	}
	defer unlock()
	if binary, err := o.entry().load(); err == nil { // built by whoever held the lock
		o.tell(Progress{State: Cached})
		return binary, nil
	}
	binary, err := o.entry().create(o.recipe, func(out string) error { return o.recipe.make(ctx, o.store, out, o.tell) })
	if err == nil {
		o.tell(Progress{State: Built})
	}
	return binary, err
}
