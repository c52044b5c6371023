package rig

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"sync"

	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider"
	"github.com/skewrig/skewrig/scenarios/schedule"
)

// Warm keeps control planes running from one run to the next: each for cells that agree on it and
// on its binaries. Warm replaces a control plane that a cell changed by a new one, which starts in
// the background. It must be closed.
type Warm struct {
	ctx    context.Context // ends when it is closed
	cancel context.CancelFunc

	mu     sync.Mutex
	planes map[string]*warming // by what cells agree on
	starts sync.WaitGroup
}

// warming is a control plane that starts, or has started.
type warming struct {
	done chan struct{} // is closed when on or err is there
	on   *ControlPlane
	err  error
}

// NewWarm returns a Warm that has no control planes yet.
func NewWarm() *Warm {
	ctx, cancel := context.WithCancel(context.Background())
	return &Warm{ctx: ctx, cancel: cancel, planes: make(map[string]*warming)}
}

// Take returns a control plane for cells, and what gives it back. Without one, each cell
// finds out itself why it can't start.
func (w *Warm) Take(ctx context.Context, p *Provider, cells []plan.Cell, changes bool) (_ *ControlPlane, leave func() error) {
	key, err := p.warmKey(ctx, cells)
	if err != nil {
		return nil, nil
	}
	warm := w.start(key, p, cells, changes)
	select {
	case <-warm.done:
	case <-ctx.Done():
		if changes {
			w.starts.Go(func() { _ = w.discard(key, warm) })
		}
		return nil, nil
	}
	switch {
	case warm.err != nil:
		w.forget(key, warm)
		return nil, nil
	case !warm.on.Healthy(): // one of its components ended since the last run
		_ = w.discard(key, warm)
		return w.Take(ctx, p, cells, changes)
	case !changes:
		return warm.on, func() error { return nil }
	default:
		return warm.on, func() error {
			err := w.discard(key, warm)
			w.start(key, p, cells, false)
			return err
		}
	}
}

// warmKey is what cells agree on: the control plane, what is observed there, and the binaries.
func (p *Provider) warmKey(ctx context.Context, cells []plan.Cell) (string, error) {
	topology := schedule.Shared(cells)
	agreed := []any{topology}
	for _, t := range plan.Targets([]plan.Cell{{Topology: topology}}) {
		binary, err := p.Binary(ctx, provider.Target(t))
		if err != nil {
			return "", err
		}
		agreed = append(agreed, binary.Path)
	}
	text, err := json.Marshal(agreed)
	return string(text), err
}

// start returns the control plane of a key, and starts one if there is none. If taken is set, no later
// call returns the same control plane.
func (w *Warm) start(key string, p *Provider, cells []plan.Cell, taken bool) *warming {
	w.mu.Lock()
	defer w.mu.Unlock()
	warm := w.planes[key]
	if warm == nil {
		warm = &warming{done: make(chan struct{})}
		w.planes[key] = warm
		w.starts.Go(func() {
			defer close(warm.done)
			warm.on, warm.err = p.Share(w.ctx, cells)
		})
	}
	if taken {
		delete(w.planes, key)
	}
	return warm
}

// forget has the next one who needs it start another.
func (w *Warm) forget(key string, warm *warming) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.planes[key] == warm {
		delete(w.planes, key)
	}
}

// discard ends a control plane.
func (w *Warm) discard(key string, warm *warming) error {
	w.forget(key, warm)
	if <-warm.done; warm.on == nil {
		return nil // it never was
	}
	return warm.on.Close()
}

// Close ends all control planes.
func (w *Warm) Close() error {
	w.cancel()
	w.mu.Lock()
	planes := maps.Clone(w.planes)
	w.mu.Unlock()
	var failures []error
	for key, warm := range planes {
		failures = append(failures, w.discard(key, warm))
	}
	w.starts.Wait()
	return errors.Join(failures...)
}
