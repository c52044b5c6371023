package cluster

import (
	"errors"
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
// with a Clock in the rig's Config can have it set.
func (c *Cluster) SetClock(node string, to clock.Clock) error {
	comp, err := c.component("kubelet/" + node)
	if err != nil {
		return err
	}
	return c.setClock(comp, to)
}

// StepClock sets the wall clock of a node's kubelet forward, or back if by is
// negative, as SetClock does.
func (c *Cluster) StepClock(node string, by time.Duration) error {
	comp, err := c.component("kubelet/" + node)
	if err != nil {
		return err
	}
	c.mu.Lock()
	shown := comp.shown
	c.mu.Unlock()
	return c.setClock(comp, shown.Step(time.Now(), by))
}

func (c *Cluster) setClock(comp *component, to clock.Clock) error {
	if comp.clock == nil {
		return fmt.Errorf("%s shows the machine's time: its node has no Clock in the rig's Config", comp.name)
	}
	c.mu.Lock() // changes are recorded in the order in which they are made
	defer c.mu.Unlock()
	if err := comp.clock.Set(to); err != nil {
		return fmt.Errorf("setting the clock of %s: %w", comp.name, err)
	}
	comp.shown = to
	c.cfg.Recorder.Append("cluster", comp.name, record.ClockSet{Clock: to})
	return nil
}

// addClock gives a component a clock of its own, which outlives its processes.
func (c *Cluster) addClock(comp *component, dir string, first clock.Clock) (err error) {
	if comp.clock, err = page.Create(filepath.Join(dir, "clock")); err != nil {
		return err
	}
	return c.setClock(comp, first)
}

// closeClocks frees the pages of all clocks.
func (c *Cluster) closeClocks() error {
	var failures []error
	for _, comp := range c.components {
		if comp.clock != nil {
			failures = append(failures, comp.clock.Close())
		}
	}
	return errors.Join(failures...)
}

// target is the binary that a component runs as.
func (comp *component) target() build.Target {
	return build.Target{Component: comp.kind, Version: comp.version, Clock: comp.clock != nil}
}

// clockReaders is how many of a component's processes have shown its clock so
// far.
func (comp *component) clockReaders() uint64 {
	if comp.clock == nil {
		return 0
	}
	return comp.clock.Readers()
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
