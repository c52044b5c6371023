// Package lease simulates nodes that do nothing but say that they are alive.
// Each registers itself and renews its Lease as a kubelet does, by a clock and
// over a link of its own. All of them share one queue and a few connections, so
// that there can be thousands. What a node waits for is simulated where its own
// Condition says that nobody answers; an API server that really does not answer
// holds up the few requests that are underway at the same time, and with them
// other nodes.
package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/harness/clock"
)

// Config says which nodes to simulate.
type Config struct {
	// Client may write any Node and Lease. Its own limits are not used.
	Client *rest.Config
	// Count is how many nodes there are.
	Count int
	// Prefix begins their names: "sim-" gives sim-0, sim-1 and so on. If unset,
	// it is "node-".
	Prefix string
	// Zones are given to the nodes in turn, as the label
	// topology.kubernetes.io/zone. If unset, they have no zone.
	Zones []string
	// Timing is that of all nodes.
	Timing Timing
	// Seed determines when each node renews. If unset, it is 0.
	Seed uint64
}

// Timing is how often nodes say that they are alive. The defaults are a
// kubelet's.
type Timing struct {
	// Duration is that of a lease, in whole seconds. If unset, 40 s.
	Duration time.Duration
	// Interval is the time between two renewals. If unset, a quarter of
	// Duration. Up to a 25th more is added, at random.
	Interval time.Duration
	// Timeout is how long a node waits for an answer. If unset, 10 s, or Duration
	// if that is less.
	Timeout time.Duration
	// Status is how often a node looks at its own status, and reports it if
	// somebody else has changed it: a controller that has not heard of the node.
	// If unset, 10 s.
	Status time.Duration
	// Report is the time between two reports of a status that stays the same. If
	// unset, 5 min.
	Report time.Duration
}

// jitter is how much later than asked for a renewal may be.
const jitter = 0.04

func (cfg Config) withDefaults() Config {
	t := &cfg.Timing
	set := func(d *time.Duration, def time.Duration) {
		if *d == 0 {
			*d = def
		}
	}
	set(&t.Duration, 40*time.Second)
	set(&t.Interval, t.Duration/4)
	set(&t.Timeout, min(10*time.Second, t.Duration))
	set(&t.Status, 10*time.Second)
	set(&t.Report, 5*time.Minute)
	cfg.Prefix = cmp.Or(cfg.Prefix, "node-")
	return cfg
}

func (cfg Config) validate() error {
	t := cfg.Timing
	var mistakes []error
	mistake := func(is bool, format string, args ...any) {
		if is {
			mistakes = append(mistakes, fmt.Errorf(format, args...))
		}
	}
	mistake(cfg.Count < 1, "%d nodes: there is at least one", cfg.Count)
	mistake(t.Duration < time.Second || t.Duration%time.Second != 0, "a lease of %s: the API counts whole seconds", t.Duration)
	mistake(t.Interval >= t.Duration, "a lease of %s that is renewed every %s has run out each time", t.Duration, t.Interval)
	mistake(t.Interval <= 0 || t.Timeout <= 0 || t.Status <= 0 || t.Report <= 0, "an interval is longer than nothing")
	return errors.Join(mistakes...)
}

// Fleet is simulated nodes at work.
type Fleet struct {
	cfg    Config
	client kubernetes.Interface
	nodes  []*node
	byName map[string]*node
	queue  *queue
	turns  chan turn
	work   errgroup.Group
	cancel context.CancelFunc
}

// atOnce is how many requests are underway at the same time. An API server takes
// a hundred in one connection.
const atOnce = 64

// Start registers the nodes, and returns when each is ready and has a lease.
// From then on they keep both up until the fleet is closed.
func Start(ctx context.Context, cfg Config) (*Fleet, error) {
	cfg = cfg.withDefaults()
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
	f := &Fleet{cfg: cfg, client: client, queue: newQueue(), turns: make(chan turn), byName: make(map[string]*node, cfg.Count)}
	for i := range cfg.Count {
		n := &node{fleet: f, name: fmt.Sprint(cfg.Prefix, i), rand: rand.New(rand.NewPCG(cfg.Seed, uint64(i)))} //nolint:gosec // jitter is no secret
		if len(cfg.Zones) > 0 {
			n.zone = cfg.Zones[i%len(cfg.Zones)]
		}
		f.nodes = append(f.nodes, n)
		f.byName[n.name] = n
	}
	working, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f.cancel = cancel
	f.work.Go(func() error { return f.watch(working) })
	f.work.Go(func() error { return f.dispatch(working) })
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
			now, timing := time.Now(), f.cfg.Timing
			n.reported = now.Add(-n.within(timing.Report))
			renewal, report := turn{n, renewing, now.Add(n.within(timing.Interval))}, turn{n, reporting, now.Add(n.within(timing.Status))}
			f.queue.push(renewal)
			f.queue.push(report)
			return nil
		})
	}
	return group.Wait()
}

// dispatch hands out turns as they come due.
func (f *Fleet) dispatch(ctx context.Context) error {
	for {
		t, err := f.queue.pop(ctx)
		if err != nil {
			return nil //nolint:nilerr // the fleet is closed
		}
		select {
		case f.turns <- t:
		case <-ctx.Done():
			return nil
		}
	}
}

// serve takes one turn after the other.
func (f *Fleet) serve(ctx context.Context) error {
	for {
		select {
		case t := <-f.turns:
			f.queue.push(t.node.take(ctx, t))
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

// Names returns the names of the nodes of some zones, or of all nodes if no zone
// is given.
func (f *Fleet) Names(zones ...string) []string {
	var names []string
	for _, n := range f.nodes {
		if len(zones) == 0 || slices.Contains(zones, n.zone) {
			names = append(names, n.name)
		}
	}
	return names
}

// Condition is what is wrong with a node. The zero Condition is nothing.
type Condition struct {
	// Stopped nodes do nothing.
	Stopped bool `json:"stopped,omitempty"`
	// Dropped is true if what the node sends gets lost, so that it waits for an
	// answer until its timeout; Refused, if it learns at once that nobody is
	// there.
	Dropped bool `json:"dropped,omitempty"`
	Refused bool `json:"refused,omitempty"`
	// Clock is the node's own clock, by which it says when it renewed its lease.
	Clock clock.Clock `json:"clock,omitzero"`
}

// Set gives some nodes another condition. Names that are not the fleet's are an
// error, and then nothing is set.
func (f *Fleet) Set(names []string, c Condition) error {
	var chosen []*node
	for _, name := range names {
		n, ok := f.byName[name]
		if !ok {
			return fmt.Errorf("there is no simulated node %q: there are %s to %s", name, f.nodes[0].name, f.nodes[len(f.nodes)-1].name)
		}
		chosen = append(chosen, n)
	}
	for _, n := range chosen {
		n.set(c)
	}
	return nil
}

// Count is what the fleet's nodes did so far.
type Count struct {
	// Renewals that worked; requests that failed or had no answer in time, other
	// than for a conflict or because there is nothing; and requests that a
	// condition kept from being sent.
	Renewed, Failed, Lost int64
}

// Count returns what all nodes did so far.
func (f *Fleet) Count() (sum Count) {
	for _, n := range f.nodes {
		c := n.did()
		sum.Renewed += c.Renewed
		sum.Failed += c.Failed
		sum.Lost += c.Lost
	}
	return sum
}

// Ages returns how long ago each node last renewed its lease, in real time, in
// the order of the nodes.
func (f *Fleet) Ages(now time.Time) []time.Duration {
	ages := make([]time.Duration, len(f.nodes))
	for i, n := range f.nodes {
		ages[i] = n.age(now)
	}
	return ages
}
