package lease

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/harness/clock"
	"github.com/skewrig/skewrig/record"
)

// Component is what simulated nodes are called together, as if they were a
// component of a rig. Those of a zone are Component/zone.
const Component = "lease-nodes"

// condition is what is wrong with a node. The zero condition is nothing.
type condition struct {
	stopped bool
	// link is how what the node sends gets to the API server. A node whose link is
	// dropped waits for an answer until its timeout; with a reset it learns at once
	// that no server is there.
	link record.LinkFault
	// clock is the one by which the node says when it renewed its lease.
	clock clock.Clock
}

// loses reports whether nothing that the node sends is answered in time.
func (c condition) loses(timeout time.Duration) bool {
	return c.link.Cut != "" || c.link.Delay >= timeout
}

// slows reports whether a request gets through, and is late.
func (c condition) slows(timeout time.Duration) bool {
	return c.link.Delay > 0 && !c.loses(timeout)
}

// phase is a fault of a zone's links, with what was lost before.
type phase struct {
	fault record.LinkFault
	lost  int64
}

// in returns the nodes of a zone, or all of them.
func (f *Fleet) in(zone string) ([]*node, error) {
	if zone == "" {
		return f.nodes, nil
	}
	var names []string
	for _, z := range f.cfg.Nodes.Zones {
		names = append(names, z.Name)
	}
	if !slices.Contains(names, zone) {
		return nil, fmt.Errorf("no zone of simulated nodes has the name %q; zones are %s", zone, strings.Join(names, ", "))
	}
	return slices.DeleteFunc(slices.Clone(f.nodes), func(n *node) bool { return n.zone != zone }), nil
}

// tell changes the condition of the nodes of a zone, or of all, and records it.
func (f *Fleet) tell(zone string, what record.Payload, to func(*condition)) error {
	nodes, err := f.in(zone)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		n.change(to)
	}
	f.cfg.Recorder.Append("lease-nodes", name(zone), what)
	return nil
}

// Stop has the nodes of a zone, or of all zones if it is empty, do nothing.
func (f *Fleet) Stop(zone string) error {
	return f.tell(zone, record.LeaseNodesStopped{}, func(c *condition) { c.stopped = true })
}

// Start has them do again what nodes do.
func (f *Fleet) Start(zone string) error {
	return f.tell(zone, record.LeaseNodesStarted{}, func(c *condition) { c.stopped = false })
}

// SetClock gives the nodes of a zone, or of all, another clock.
func (f *Fleet) SetClock(zone string, to clock.Clock) error {
	return f.tell(zone, record.LeaseClockSet{Clock: to}, func(c *condition) { c.clock = to })
}

// StepClock sets the clocks of the nodes of a zone, or of all, forward, or back
// if by is negative.
func (f *Fleet) StepClock(zone string, by time.Duration) error {
	now := time.Now()
	return f.tell(zone, record.LeaseClockSet{Step: by}, func(c *condition) { c.clock = c.clock.Step(now, by) })
}

// SetLink gives the links of the nodes of a zone, or of all, a fault, or none. A
// fault is a cut, in both directions, or a delay of each request.
func (f *Fleet) SetLink(zone string, fault record.LinkFault) error {
	if err := checkFault(fault); err != nil {
		return fmt.Errorf("the links of %s: %w", name(zone), err)
	}
	nodes, err := f.in(zone)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	before, faulty := f.faults[zone]
	for _, n := range nodes {
		n.change(func(c *condition) { c.link = fault })
	}
	subject := name(zone) + "->kube-apiserver"
	lost := sum(nodes).Lost
	if faulty {
		f.cfg.Recorder.Append("lease-nodes", subject, record.FaultEnded{Fault: before.fault, Effect: record.Effect{Requests: lost - before.lost}})
		delete(f.faults, zone)
	}
	if fault != (record.LinkFault{}) {
		f.faults[zone] = phase{fault: fault, lost: lost}
		f.cfg.Recorder.Append("lease-nodes", subject, record.FaultBegan{Fault: fault})
	}
	return nil
}

// checkFault reports a fault that simulated nodes, whose requests don't go
// through a link, can't have.
func checkFault(fault record.LinkFault) error {
	only := record.LinkFault{Cut: fault.Cut, Delay: fault.Delay}
	if fault != only {
		return errors.Join(fault.Validate(), errors.New("links of simulated nodes can only be cut in both directions, or delay each request"))
	}
	return fault.Validate()
}

func name(zone string) string {
	if zone == "" {
		return Component
	}
	return Component + "/" + zone
}

// Names returns the names of the nodes of a zone, or of all nodes.
func (f *Fleet) Names(zone string) []string {
	var names []string
	nodes, _ := f.in(zone) // of a zone that isn't there, none
	for _, n := range nodes {
		names = append(names, n.name)
	}
	return names
}

// count is what nodes did so far.
type count struct {
	// Renewals that worked; requests that failed or had no answer in time, other
	// than for a conflict or because there is nothing; and requests that a fault
	// kept from being sent, or held up.
	Renewed, Failed, Lost int64
}

func (c *count) add(more count) {
	c.Renewed += more.Renewed
	c.Failed += more.Failed
	c.Lost += more.Lost
}

func sum(nodes []*node) (sum count) {
	for _, n := range nodes {
		sum.add(n.did())
	}
	return sum
}

// ages returns how long ago each node last renewed its lease, in real time, in
// the order of the nodes. Those that have not renewed one yet are left out.
func ages(nodes []*node, now time.Time) (all []time.Duration) {
	for _, n := range nodes {
		n.mu.Lock()
		if !n.renewed.IsZero() {
			all = append(all, now.Sub(n.renewed))
		}
		n.mu.Unlock()
	}
	return all
}

// agesOfZones returns how old the leases of each zone are that has any.
func (f *Fleet) agesOfZones(now time.Time) (a record.LeaseAges) {
	for _, z := range f.cfg.Nodes.Zones {
		nodes, _ := f.in(z.Name)
		if all := ages(nodes, now); len(all) > 0 {
			a.Zones = append(a.Zones, AgesOf(z.Name, all))
		}
	}
	return a
}

// AgesOf returns what there is to say of the ages of a zone's leases, of which
// there is at least one.
func AgesOf(zone string, ages []time.Duration) record.ZoneAges {
	sorted := slices.Sorted(slices.Values(ages))
	at := func(thousandths int) float64 {
		return float64(sorted[(len(sorted)-1)*thousandths/1000].Milliseconds()) / 1000
	}
	return record.ZoneAges{Zone: zone, Nodes: len(ages), Median: at(500), P99: at(990), Oldest: at(1000)}
}
