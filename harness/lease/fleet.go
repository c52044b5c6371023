// Package lease simulates nodes that do nothing but say that they are alive.
// Each registers itself and renews its Lease as a kubelet does, by a clock and
// over a link of its own. All of them share one queue and a few connections, so
// that there can be thousands. What a node waits for is simulated where its own
// link loses it; an API server that really does not answer
// holds up the few requests that are underway at the same time, and with them
// other nodes.
package lease

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"

	"github.com/skewrig/skewrig/record"
)

// Config says which nodes to simulate.
type Config struct {
	// Client may write any Node and Lease. Its own limits are not used.
	Client *rest.Config
	// Nodes says how many there are, and how often they say that they are alive.
	// They are called node-0, node-1 and so on. Up to a 25th is added to each
	// interval, at random.
	Nodes record.LeaseNodes
	// Recorder gets the age of the leases once a second, faults, and what else is
	// done to nodes. It may be unset.
	Recorder record.Recorder
}

// jitter is how much later than asked for a renewal may be.
const jitter = 0.04

func (cfg Config) validate() error {
	l := cfg.Nodes
	duration, interval := time.Duration(l.Duration), time.Duration(l.Interval)
	var mistakes []error
	mistake := func(is bool, format string, args ...any) {
		if is {
			mistakes = append(mistakes, fmt.Errorf(format, args...))
		}
	}
	for _, z := range l.Zones {
		mistake(z.Count < 1, "zone %q has %d nodes: there is at least one", z.Name, z.Count)
	}
	mistake(duration < time.Second || duration%time.Second != 0, "a lease of %s: the API counts whole seconds", duration)
	mistake(interval >= duration, "a lease of %s that is renewed every %s has run out each time", duration, interval)
	mistake(min(l.Interval, l.Timeout, l.Status, l.Report) <= 0, "an interval is longer than nothing")
	return errors.Join(mistakes...)
}

// Fleet is simulated nodes at work.
type Fleet struct {
	cfg    Config
	client kubernetes.Interface
	nodes  []*node
	byName map[string]*node
	queue  workqueue.TypedDelayingInterface[turn]
	work   errgroup.Group
	cancel context.CancelFunc

	mu     sync.Mutex
	faults map[string]phase // by zone; those that last
}

// atOnce is how many requests are underway at the same time. An API server takes
// a hundred in one connection.
const atOnce = 64

// Start registers the nodes, and returns when each is ready and has a lease.
// From then on they keep both up until the fleet is closed.
func Start(ctx context.Context, cfg Config) (*Fleet, error) {
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("simulating nodes: %w", err)
	}
	unlimited := rest.CopyConfig(cfg.Client)
	unlimited.QPS, unlimited.RateLimiter, unlimited.ContentType = -1, nil, "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(unlimited)
	if err != nil {
		return nil, err
	}
	return start(ctx, cfg, client)
}

func start(ctx context.Context, cfg Config, client kubernetes.Interface) (*Fleet, error) {
	if cfg.Recorder == nil {
		cfg.Recorder = (*record.History)(nil) // which discards what it takes
	}
	f := &Fleet{cfg: cfg, client: client, queue: workqueue.NewTypedDelayingQueue[turn](), byName: make(map[string]*node), faults: make(map[string]phase)}
	for _, z := range cfg.Nodes.Zones {
		for range z.Count {
			i := len(f.nodes)
			n := &node{fleet: f, name: fmt.Sprint("node-", i), zone: z.Name, rand: rand.New(rand.NewPCG(cfg.Nodes.Seed, uint64(i)))} //nolint:gosec // jitter is no secret
			n.condition.clock.Offset = time.Duration(cfg.Nodes.Offset)
			f.nodes = append(f.nodes, n)
			f.byName[n.name] = n
		}
	}
	working, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f.cancel = cancel
	f.work.Go(func() error {
		f.watch(working)
		return nil
	})
	context.AfterFunc(working, f.queue.ShutDown)
	f.work.Go(func() error { return f.sample(working) })
	for range atOnce {
		f.work.Go(func() error { return f.serve(working) })
	}
	if err := f.register(ctx); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// register registers the nodes, each of which is at work from then on.
func (f *Fleet) register(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, n := range f.nodes {
		group.Go(func() error {
			if err := n.register(ctx); err != nil {
				return err
			}
			// Nodes that registered together would renew together: they take their
			// first turn at any time of the interval.
			times := f.cfg.Nodes
			n.reported = time.Now().Add(-n.within(time.Duration(times.Report)))
			f.queue.AddAfter(turn{n, renewing}, n.within(time.Duration(times.Interval)))
			f.queue.AddAfter(turn{n, reporting}, n.within(time.Duration(times.Status)))
			return nil
		})
	}
	return group.Wait()
}

// task is one of the two things that a node does.
type task int

const (
	renewing task = iota
	reporting
)

// turn is that a node is to do something.
type turn struct {
	node *node
	task task
}

// serve takes one turn after the other, as they come due.
func (f *Fleet) serve(ctx context.Context) error {
	for {
		t, closed := f.queue.Get()
		if closed || ctx.Err() != nil {
			return nil //nolint:nilerr // that the fleet ends is no failure of it
		}
		next := t.node.take(ctx, t.task)
		f.queue.Done(t)
		f.queue.AddAfter(t, next)
	}
}

// sampleEvery is how often it is recorded how old leases are.
const sampleEvery = time.Second

func (f *Fleet) sample(ctx context.Context) error {
	ticker := time.NewTicker(sampleEvery)
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			if ages := f.agesOfZones(now); len(ages.Zones) > 0 {
				f.cfg.Recorder.Append("lease-nodes", Component, ages)
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// Close ends the nodes as a power cut does: their objects stay.
func (f *Fleet) Close() error {
	f.cancel()
	return f.work.Wait()
}
