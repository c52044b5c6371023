package action

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Restart starts a component, perhaps as something else than before.
type Restart struct {
	// Component is kube-apiserver, kube-controller-manager, kube-scheduler,
	// etcd or kubelet/<node>; in a garden also dependency-watchdog,
	// seed/kube-apiserver and seed/etcd. Of lease-nodes and those of a zone,
	// lease-nodes/<zone>, all is stopped and started, and nothing else.
	Component string `json:"component"`
	// Version is a release, "newest", "previous" or a minor version ("v1.36"). If unset, unchanged.
	Version release.Version `json:"version,omitempty"`
	// Gates are set on top of the gates of before.
	Gates release.Gates `json:"gates,omitempty"`
	// Unset are the gates of before that are no longer set to anything. A
	// rollback needs it: a component does not start with a gate set that its
	// release doesn't have.
	Unset []string `json:"unset,omitempty"`
	// Settings are on top of those of before.
	spec.Settings

	// Stopped is true if the component is not running before the step.
	Stopped bool `json:"-"`
}

// Check implements spec.Action. The rig judges the rest.
func (s Restart) Check(f spec.Field) { f.Named(".component", s.Component) }

func (s Restart) Asks() map[string]release.Version {
	return map[string]release.Version{".version": s.Version}
}

func (s Restart) Sets() (string, spec.Settings) { return s.Component, s.Settings }

func (s Restart) Plan(scene Scene) (Action, error) {
	before, _ := scene.Rig.Component(s.Component)
	after := before
	s.Gates, s.Stopped = s.Gates.Clone(), !before.Running
	var err error
	if s.Version != "" {
		s.Version, err = scene.Rig.Meant(s.Version)
		s.Version = scene.Rig.On(s.Component, s.Version)
		after.Version = s.Version
	}
	s.Settings = scene.Rig.Emulation("", s.Component, s.Settings)
	after.Settings = after.With(s.Settings)
	scene.Rig.SetGates(&after, s.Gates, s.Unset...)
	return s.withOptional(before.Gates, after.Gates), err
}

// withOptional is the restart with the gates that come and go with the releases that have them.
func (s Restart) withOptional(before, after release.Gates) Restart {
	for gate := range s.Gates {
		if _, set := after[gate]; !set {
			delete(s.Gates, gate)
		}
	}
	for gate, on := range after {
		if was, set := before[gate]; !set || was != on {
			s.Gates = s.Gates.With(release.Gates{gate: on})
		}
	}
	for _, gate := range before.Names() {
		if _, set := after[gate]; !set && !slices.Contains(s.Unset, gate) {
			s.Unset = append(slices.Clone(s.Unset), gate)
		}
	}
	return s
}

// Describe implements Action: what is started, and what is different about it.
func (s Restart) Describe() string {
	text := "restart " + s.Component
	if s.Stopped {
		text = "start " + s.Component
	}
	if to := s.to(); to != "" {
		text += " " + to
	}
	return OneLine(text)
}

// to is what is different about the component.
func (s Restart) to() string {
	var text string
	if s.Version != "" {
		text = "as " + string(s.Version)
	}
	text += strings.Join(append([]string{""}, emulation(s.Settings)...), " ")
	var with []string
	if len(s.Gates) > 0 {
		with = append(with, s.Gates.String())
	}
	for _, gate := range s.Unset {
		with = append(with, gate+" unset")
	}
	with = append(with, describeFlagsAndConfig(s.Settings)...)
	if len(with) > 0 {
		text += " with " + strings.Join(with, ", ")
	}
	return strings.TrimSpace(text)
}

// DescribeSettings describes the settings of a component: its emulated version, each flag, and its configuration.
func DescribeSettings(s spec.Settings) []string {
	return append(emulation(s), describeFlagsAndConfig(s)...)
}

// emulation describes the version that a component emulates, and the oldest one that it expects beside it.
func emulation(s spec.Settings) (all []string) {
	if s.EmulatedVersion != "" {
		all = append(all, "emulating "+string(s.EmulatedVersion))
	}
	if s.MinCompatibilityVersion != "" {
		all = append(all, "beside no older one than "+string(s.MinCompatibilityVersion))
	}
	return all
}

// describeFlagsAndConfig describes each flag, and the patch of the configuration.
func describeFlagsAndConfig(s spec.Settings) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(s.Flags)) {
		all = append(all, OneLine("--"+name+"="+s.Flags[name]))
	}
	if len(s.Config) > 0 {
		all = append(all, OneLine("config "+Encode(s.Config)))
	}
	return all
}

func (s Restart) Run(ctx context.Context, rig Rig) error { return rig.Restart(ctx, s) }

// Facts are those of a component that starts.
func (s Restart) Facts() Facts {
	return Facts{
		Needs: NeedsRestarts, Component: s.Component, Reach: ofComponent(s.Component, ReachChanges), Changes: true,
		Restarts: []Restart{s}, Ends: []string{s.Component}, Estimate: startEstimate,
	}
}

// Start starts a component that is stopped.
type Start Restart

// Check implements spec.Action. The rig judges the rest.
func (s Start) Check(f spec.Field) { f.Named(".component", s.Component) }

func (s Start) Asks() map[string]release.Version {
	return map[string]release.Version{".version": s.Version}
}

func (s Start) Sets() (string, spec.Settings) { return Restart(s).Sets() }

func (s Start) Plan(scene Scene) (Action, error) { return Restart(s).Plan(scene) }

func (s Start) Change(r *spec.Rig) {
	if c, known := r.Component(s.Component); known && c.Running {
		r.Conflict(".component", "%s is running already: restart starts a component that runs", c.Name)
	}
	Restart(s).Change(r)
}

func (s Restart) Change(r *spec.Rig) {
	c := r.Find(".component", s.Component)
	if c == nil {
		return
	}
	before := *c
	c.Running = true
	if same, is := unchangeable(c.Name); is {
		if s.Version != "" {
			r.Conflict(".version", "%s", same)
		}
		s.checkNoGates(r)
		s.setSettings(r, c)
		return
	}
	s.setSettings(r, c)
	if c.Name == spec.Watchdog {
		s.startWatchdog(r, c)
		return
	}
	if c.Version == release.Reference && s.Version != "" {
		r.Conflict(".version", "the kubelet of node %s is the reference, and stays that", strings.TrimPrefix(c.Name, spec.KubeletPrefix))
		return
	}
	if s.Version != "" {
		if v := r.Resolve(".version", s.Version); v != "" {
			c.Version = r.On(c.Name, v)
		}
	}
	s.checkUnset(r, before.Asked)
	r.SetGates(c, s.Gates, s.Unset...)
	checkMove(r, before, *c)
	r.CheckEmulation("", *c)
	r.CheckGates(".gates", c.Effective(), s.Gates, c.Gates)
	if c.Effective() != before.Effective() {
		s.checkKept(r, *c)
	}
}

// unchangeable says of a component that is the same all the time why that is.
func unchangeable(name string) (why string, is bool) {
	switch {
	case name == spec.Etcd, name == spec.SeedEtcd:
		return fmt.Sprintf("etcd is %s in every rig", release.Etcd), true
	case name == spec.SeedAPIServer:
		return "the seed stays as it is", true
	case spec.IsSimulated(name):
		return "simulated nodes have no release", true
	default:
		return "", false
	}
}

// setSettings adds the settings of the step to those of a component, or reports that the component supports none.
func (s Restart) setSettings(r *spec.Rig, c *spec.Component) {
	if s.IsZero() {
		return
	}
	if c.Name == spec.Watchdog || spec.IsSimulated(c.Name) || strings.HasPrefix(c.Name, spec.Seed+"/") {
		r.Conflict("", "%s does not support flags, config or an emulated version", c.Name)
		return
	}
	r.CheckSettings("", "", spec.Program(c.Name), s.Settings)
	c.Settings = c.With(r.Emulation("", c.Name, s.Settings))
}

// checkNoGates reports gates of what has none.
func (s Restart) checkNoGates(r *spec.Rig) {
	if len(s.Gates) > 0 {
		r.Conflict(".gates", "%s has no feature gates", s.Component)
	}
	if len(s.Unset) > 0 {
		r.Conflict(".unset", "%s has no feature gates", s.Component)
	}
}

// startWatchdog starts the watchdog, perhaps as another release.
func (s Restart) startWatchdog(r *spec.Rig, c *spec.Component) {
	if s.Version != "" {
		v, err := spec.ResolveWatchdog(s.Version)
		if err == nil && v == "" {
			err = fmt.Errorf("it is stopped by stop: %s", spec.Watchdog)
		}
		if err != nil {
			r.Conflict(".version", "%v", err)
			return
		}
		c.Version = v
	}
	s.checkNoGates(r)
}

// checkUnset reports gates that can't be unset.
func (s Restart) checkUnset(r *spec.Rig, before release.Gates) {
	for i, gate := range s.Unset {
		at := ".unset" + index(i)
		if _, set := s.Gates[gate]; set {
			r.Conflict(at, "gate %s is set by the same step", strict.Quote(gate))
		} else if _, set := before[gate]; !set {
			r.Conflict(at, "gate %s is not set before this step", strict.Quote(gate))
		}
	}
}

// checkKept reports gates of before that the release doesn't have: the
// component would refuse to start.
func (s Restart) checkKept(r *spec.Rig, c spec.Component) {
	for _, gate := range c.Gates.Names() {
		if _, set := s.Gates[gate]; set || !spec.GateName.MatchString(gate) {
			continue
		}
		if err := r.CheckGate(c.Effective(), gate); err != nil {
			r.Conflict("", "%s still has gate %s set: %v; unset: [%s] takes it away", c.Name, gate, err, gate)
		}
	}
}

// checkMove reports a version that a component can't be moved to: an API
// server that skips a minor version (Kubernetes version skew policy,
// "Supported component upgrade order"), and a kubelet or API server that leaves
// a kubelet too old behind.
func checkMove(r *spec.Rig, before, after spec.Component) {
	if before.Version == "" || after.Version == "" {
		return
	}
	if spec.Program(after.Name) != spec.APIServer {
		r.CheckSkew(".version", after)
		return
	}
	if !spec.SameMajor(before.Version, after.Version) {
		r.Conflict(".version", "%s can't go from %s to %s: it is another major version", after.Name, before.Version, after.Version)
		return
	}
	if moved := after.Version.Minor() - before.Version.Minor(); moved < -1 || moved > 1 {
		r.Break(spec.ServerSkips, ".version", "%s can't go from %s to %s in one step: it moves by one minor version at a time", after.Name, before.Version, after.Version)
	}
	for _, c := range r.Components() {
		if c.Running {
			r.CheckSkew(".version", c)
		}
	}
}
