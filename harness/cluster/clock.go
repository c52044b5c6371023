package cluster

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/clock"
	"github.com/skewrig/skewrig/harness/clock/page"
	"github.com/skewrig/skewrig/record"
)

// SetClock sets the wall clock of a node's kubelet, at once: what the kubelet
// asks for after SetClock has returned is the new time. Its timers run on. A
// kubelet that is away starts with the clock that was set last. Only a node
// with a clock of its own in the rig's Config can have it set. The certificates of
// a rig are valid from an hour before it started, for 30 days: a kubelet that
// shows another time trusts no certificate.
func (c *Cluster) SetClock(node string, to clock.Clock) error {
	return c.changeClock(node, func(clock.Clock) clock.Clock { return to })
}

// StepClock sets the wall clock of a node's kubelet forward, or back if by is
// negative, as SetClock does.
func (c *Cluster) StepClock(node string, by time.Duration) error {
	return c.changeClock(node, func(shown clock.Clock) clock.Clock { return shown.Step(time.Now(), by) })
}

func (c *Cluster) changeClock(node string, change func(shown clock.Clock) clock.Clock) error {
	_, comp, err := c.find("kubelet/" + node)
	if err != nil {
		return err
	}
	if comp.clock == nil {
		return fmt.Errorf("%s shows the machine's time: its node has no clock of its own in the rig's Config", comp.name)
	}
	c.mu.Lock() // changes are recorded in the order in which they are made
	defer c.mu.Unlock()
	to := change(comp.shown)
	if err := comp.clock.Set(to); err != nil {
		return fmt.Errorf("setting the clock of %s: %w", comp.name, err)
	}
	comp.shown = to
	c.cfg.Recorder.Append("cluster", comp.name, record.ClockSet{Clock: to})
	return nil
}

// addClock gives a kubelet a clock of its own, which outlives its processes. It is
// right to begin with.
func (c *Cluster) addClock(comp *component, dir string) (err error) {
	if comp.clock, err = page.Create(filepath.Join(dir, "clock")); err != nil {
		return err
	}
	return c.SetClock(comp.node, clock.Clock{})
}

// target is the binary that a component runs as.
func (comp *component) target() build.Target {
	return build.Target{Component: comp.kind, Version: comp.version, Clock: comp.clock != nil, Unmodified: comp.host != nil}
}

// checkClock finds out whether the process that was started last shows the
// component's clock: a binary that was not built for it would look like one
// whose clock is right.
func (comp *component) checkClock(before uint64) error {
	if comp.clock != nil && comp.clock.Readers() == before {
		return fmt.Errorf("%s shows the machine's time, not the clock that its node has: its binary was not built with build.Target's Clock", comp.name)
	}
	return nil
}

// clockEnvironment tells a component's process of its clock, if it has one.
func (comp *component) clockEnvironment() []string {
	if comp.clock == nil {
		return nil
	}
	return []string{comp.clock.Environment()}
}
