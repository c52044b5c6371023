package spec

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/record"
)

// Defaults of a kubelet's lease and of the prober (internal/prober/config.go of
// dependency-watchdog), before they are scaled.
const (
	defaultLease       = 40 * time.Second
	DefaultProberGrace = 40 * time.Second
)

// checkTopology reports what is wrong with the parts of a rig that have to do
// with leases.
func (v *validator) checkTopology() {
	t := v.scenario.Topology
	v.Refuse("topology.timeScale", t.TimeScale < 1 || t.TimeScale > maxTimeScale, "times can be 1 to %d times as short", maxTimeScale)
	if t.ControlPlane.NodeMonitor != nil {
		v.checkNodeMonitor("topology.controlPlane.nodeMonitor", t)
	}
	if t.LeaseNodes != nil {
		v.checkLeaseNodes("topology.leaseNodes", t)
	}
	if t.Garden != nil {
		v.checkGarden("topology.garden", *t.Garden)
	}
}

// maxTimeScale is how much shorter times can be: a lease has whole seconds.
const maxTimeScale = 40

// renewal is the time between two renewals of a lease: that of the simulated
// nodes, or a kubelet's.
func (t Topology) renewal() time.Duration {
	if t.LeaseNodes == nil {
		return defaultLease / 4
	}
	_, interval := t.LeaseNodes.Times()
	return interval
}

// Times are those of a lease, before they are scaled.
func (l LeaseNodes) Times() (duration, interval time.Duration) {
	duration = cmp.Or(time.Duration(l.Duration), defaultLease)
	return duration, cmp.Or(time.Duration(l.Interval), duration/4)
}

func (v *validator) checkNodeMonitor(at string, t Topology) {
	m := t.ControlPlane.NodeMonitor
	v.checkDuration(at+".period", m.Period)
	v.checkDuration(at+".grace", m.Grace)
	if !enabled(t.ControlPlane.ControllerManager) {
		v.Note(at, "it is %s that looks after nodes, and the rig has none", ControllerManager)
	}
	v.Refuse(at+".grace", time.Duration(m.Grace) < t.renewal(),
		"%s is less than the %s between two renewals of a lease: every node would be Unknown", m.Grace, t.renewal())
}

func (v *validator) checkLeaseNodes(at string, t Topology) {
	l := t.LeaseNodes
	if v.Has(at+".count") == v.Has(at+".zones") {
		v.Note(at, "simulated nodes have either count or zones")
	} else {
		v.Refuse(at+".count", l.Count < 1, "%d nodes: leave leaseNodes out if there are none", l.Count)
		v.Refuse(at+".count", l.Count > maxLeaseNodes, "%d nodes: must be at most %d", l.Count, maxLeaseNodes)
		l.Count = min(l.Count, maxLeaseNodes) // what is checked afterwards makes names of them
	}
	left := maxLeaseNodes
	for _, zone := range slices.Sorted(maps.Keys(l.Zones)) {
		if field := fmt.Sprintf("%s.zones[%q]", at, zone); !dnsLabel.MatchString(zone) {
			v.Note(field, "%s can't name a zone: use a DNS label, of a-z, 0-9 and -", strict.Quote(zone))
		} else if l.Zones[zone] < 1 {
			v.Note(field, "zone %s has %d nodes: leave it out if there are none", zone, l.Zones[zone])
		} else if left -= min(l.Zones[zone], maxLeaseNodes+1); left < 0 {
			v.Note(field, "too many nodes: all zones must have at most %d", maxLeaseNodes)
			l.Zones = nil // what is checked afterwards makes names of them
			break
		}
	}
	v.checkDuration(at+".duration", l.Duration)
	v.checkDuration(at+".interval", l.Interval)
	duration, interval := l.Times()
	if interval >= duration {
		v.Note(at, "a lease of %s that is renewed every %s has run out each time", duration, interval)
	}
	if scaled := t.Scaled(duration); v.Clean("topology.timeScale") == v.Has("topology.timeScale") && scaled%time.Second != 0 {
		v.Note(at, "a lease of %s is one of %s in this rig, and the API counts whole seconds: choose another timeScale", duration, scaled)
	}
}

// checkGarden reports what dependency-watchdog's own loader would refuse
// (internal/prober/config.go), and what a rig can't play.
func (v *validator) checkGarden(at string, g Garden) {
	_, err := ResolveWatchdog(g.Watchdog)
	v.Refuse(at+".watchdog", err != nil, "%v", err)
	for _, name := range slices.Sorted(maps.Keys(g.Dependents)) {
		if field := fmt.Sprintf("%s.dependents[%q]", at, name); !objectName.MatchString(name) {
			v.Note(field, "%s can't name a Deployment", strict.Quote(name))
		} else if g.Dependents[name] < 0 {
			v.Note(field, "%d replicas: it is none or more", g.Dependents[name])
		}
	}
	p, at := g.Prober, at+".prober"
	v.Refuse(at+".kubeConfigSecretName", !objectName.MatchString(p.KubeConfigSecretName), "%s can't name a secret", strict.Quote(p.KubeConfigSecretName))
	for field, d := range map[string]behavior.Duration{"probeInterval": p.ProbeInterval, "initialDelay": p.InitialDelay,
		"probeTimeout": p.ProbeTimeout, "kcmNodeMonitorGraceDuration": p.KCMNodeMonitorGraceDuration} {
		v.checkDuration(at+"."+field, d)
	}
	if f := p.NodeLeaseFailureFraction; f != nil {
		v.Refuse(at+".nodeLeaseFailureFraction", *f <= 0 || *f > 1, "%g is no part of all nodes: it is more than 0, and 1 at the most", *f)
	}
	if f := p.BackoffJitterFactor; f != nil {
		v.Refuse(at+".backoffJitterFactor", *f < 0, "%g is negative", *f)
	}
	renewal := v.scenario.Topology.renewal()
	v.Refuse(at+".kcmNodeMonitorGraceDuration", time.Duration(p.KCMNodeMonitorGraceDuration) < renewal,
		"%s is less than the %s between two renewals of a lease: every lease would have expired", p.KCMNodeMonitorGraceDuration, renewal)
	v.Refuse(at+".dependentResourceInfos", len(p.DependentResourceInfos) == 0, "the watchdog wants something to scale")
	for i, d := range p.DependentResourceInfos {
		v.checkDependent(fmt.Sprintf("%s.dependentResourceInfos[%d]", at, i), d)
	}
}

func (v *validator) checkDependent(at string, d record.DependentResource) {
	if !v.Has(at) {
		return
	}
	v.Refuse(at+".ref", d.Ref.APIVersion != "apps/v1" || d.Ref.Kind != "Deployment",
		"a rig plays Deployments of apps/v1, and no %s of %s", strict.Quote(d.Ref.Kind), strict.Quote(d.Ref.APIVersion))
	v.Refuse(at+".ref.name", !objectName.MatchString(d.Ref.Name), "%s can't name a Deployment", strict.Quote(d.Ref.Name))
	for field, s := range map[string]*record.Scaling{"scaleUp": d.ScaleUp, "scaleDown": d.ScaleDown} {
		if !v.Has(at + "." + field) {
			v.Note(at, "the watchdog wants to know the %s of %s", field, strict.Quote(d.Ref.Name))
		} else if s != nil {
			v.checkDuration(at+"."+field+".initialDelay", s.InitialDelay)
			v.checkDuration(at+"."+field+".timeout", s.Timeout)
		}
	}
}

// ResolveWatchdog returns the release that a version of dependency-watchdog
// stands for. It is empty for none.
func ResolveWatchdog(version release.Version) (release.Version, error) {
	known := release.DependencyWatchdog()
	switch version {
	case NoWatchdog:
		return "", nil
	case "":
		return known[len(known)-1], nil
	default:
		v, err := release.Parse(string(version))
		if err != nil {
			return "", fmt.Errorf("%w, or %s", err, NoWatchdog)
		}
		return v, nil
	}
}

// Scaled is how long something takes in the rig that takes d in the world.
func (t Topology) Scaled(d time.Duration) time.Duration {
	if t.TimeScale == 0 {
		return d
	}
	return time.Duration(float64(d) / t.TimeScale)
}
