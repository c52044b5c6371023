package plan

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// scale is a time of the rig that takes d in the world.
func scale(t spec.Topology, d time.Duration) behavior.Duration { return behavior.Duration(t.Scaled(d)) }

func newLeaseNodes(t spec.Topology) *record.LeaseNodes {
	l := t.LeaseNodes
	if l == nil {
		return nil
	}
	duration, interval := l.Times()
	nodes := &record.LeaseNodes{
		Duration: scale(t, duration), Interval: scale(t, interval),
		Timeout: scale(t, min(requestTimeout, duration)), Status: scale(t, statusPeriod), Report: scale(t, reportPeriod),
		Offset: scale(t, time.Duration(l.Offset)), Via: l.Via,
		Seed: uint64(l.Seed), //nolint:gosec // any number is a seed
	}
	for _, name := range slices.Sorted(maps.Keys(l.Zones)) {
		nodes.Zones = append(nodes.Zones, record.Zone{Name: name, Count: l.Zones[name]})
	}
	if l.Count > 0 {
		nodes.Zones = append(nodes.Zones, record.Zone{Count: l.Count})
	}
	return nodes
}

// What a kubelet does beside renewing its lease: the timeout of its requests for
// that, nodeStatusUpdateFrequency and nodeStatusReportFrequency.
const (
	requestTimeout = 10 * time.Second
	statusPeriod   = 10 * time.Second
	reportPeriod   = 5 * time.Minute
)

func newGarden(t spec.Topology, watchdog release.Version) *record.Garden {
	g := t.Garden
	if g == nil {
		return nil
	}
	prober := spec.WithDefaults(g.Prober)
	return &record.Garden{Watchdog: watchdog, Prober: scaled(t, prober), Dependents: dependents(g.Dependents, prober), Shoot: g.Shoot, Via: g.Via}
}

// dependents are those that the scenario names, or else one replica of each that
// the prober scales.
func dependents(replicas map[string]int32, p record.Prober) (all []record.Dependent) {
	if replicas == nil {
		replicas = make(map[string]int32)
		for _, d := range p.DependentResourceInfos {
			replicas[d.Ref.Name] = 1
		}
	}
	for _, name := range slices.Sorted(maps.Keys(replicas)) {
		all = append(all, record.Dependent{Name: name, Replicas: replicas[name]})
	}
	return all
}

// The watchdog's defaults, which are written out where times are scaled
// (internal/prober/config.go).
const (
	defaultProbeInterval = 10 * time.Second
	defaultInitialDelay  = 30 * time.Second
	defaultProbeTimeout  = 30 * time.Second
	defaultScaleTimeout  = 30 * time.Second
)

// scaled is a prober's configuration with the times of this rig.
func scaled(t spec.Topology, p record.Prober) record.Prober {
	if t.TimeScale == 0 {
		return p
	}
	rescale := func(d *behavior.Duration, unset time.Duration) { *d = scale(t, cmp.Or(time.Duration(*d), unset)) }
	rescale(&p.ProbeInterval, defaultProbeInterval)
	rescale(&p.InitialDelay, defaultInitialDelay)
	rescale(&p.ProbeTimeout, defaultProbeTimeout)
	rescale(&p.KCMNodeMonitorGraceDuration, spec.DefaultProberGrace)
	p.DependentResourceInfos = slices.Clone(p.DependentResourceInfos)
	for i := range p.DependentResourceInfos {
		d := &p.DependentResourceInfos[i]
		for _, s := range []**record.Scaling{&d.ScaleUp, &d.ScaleDown} {
			if *s == nil {
				continue // it is missing in the file
			}
			own := **s
			rescale(&own.InitialDelay, 0)
			rescale(&own.Timeout, defaultScaleTimeout)
			*s = &own
		}
	}
	return p
}
