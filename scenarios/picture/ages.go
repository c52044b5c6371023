package picture

import (
	"cmp"
	"fmt"
	"time"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports/plot"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// quantiles are the lines of a zone.
var quantiles = []struct {
	name  string
	style plot.Style
	of    func(record.ZoneAges) float64
}{
	{"oldest", plot.Solid, func(z record.ZoneAges) float64 { return z.Oldest }},
	{"99th percentile", plot.Dashed, func(z record.ZoneAges) float64 { return z.P99 }},
	{"median", plot.Dotted, func(z record.ZoneAges) float64 { return z.Median }},
}

// ages shows how old the leases of each zone are, and who loses patience when.
func (h history) ages() plot.Panel {
	p := plot.Panel{Title: "age of leases, s", Limits: patience(h.cell.Topology)}
	places := make(map[string]int) // of a zone's first line
	for e, ages := range record.All[record.LeaseAges](h.events) {
		for _, z := range ages.Zones {
			first, known := places[z.Zone]
			if !known {
				first = len(p.Lines)
				places[z.Zone] = first
				p.Lines = append(p.Lines, linesOf(z, len(places)-1)...)
			}
			for i, q := range quantiles {
				line := &p.Lines[first+i]
				line.Points = append(line.Points, plot.Point{At: h.at(e), Value: q.of(z)})
			}
		}
	}
	return p
}

// linesOf are the lines of a zone, without points.
func linesOf(z record.ZoneAges, color int) (lines []plot.Line) {
	for _, q := range quantiles {
		label := q.name
		if z.Zone != "" {
			label = z.Zone + ": " + label
		}
		lines = append(lines, plot.Line{Label: label, Color: color, Style: q.style})
	}
	return lines
}

// patience is how old a lease may get for those who look at it.
func patience(t plan.Topology) (limits []plot.Limit) {
	if expiry := expiry(t); expiry > 0 {
		limits = append(limits, limit("%g s: expired for the watchdog", expiry))
	}
	if t.ControllerManager {
		limits = append(limits, limit("%g s: kube-controller-manager gives the node up", grace(t)))
	}
	return limits
}

func limit(format string, d time.Duration) plot.Limit {
	return plot.Limit{At: d.Seconds(), Label: fmt.Sprintf(format, d.Seconds())}
}

// expiry is the age from which the watchdog takes a lease for expired: three
// quarters of the grace that it is told of. It is zero if there is no watchdog.
func expiry(t plan.Topology) time.Duration {
	if t.Garden == nil || t.Garden.Watchdog == "" {
		return 0
	}
	return cmp.Or(time.Duration(t.Garden.Prober.KCMNodeMonitorGraceDuration), spec.DefaultProberGrace) * 3 / 4
}

// grace is for how long kube-controller-manager waits for a node.
func grace(t plan.Topology) time.Duration {
	if t.NodeMonitor.Grace > 0 {
		return time.Duration(t.NodeMonitor.Grace)
	}
	return defaultGrace(t.Version)
}

// defaultGrace is the default of --node-monitor-grace-period, which grew with
// v1.32.
func defaultGrace(v release.Version) time.Duration {
	if v.Compare("v1.32.0-alpha.0") < 0 {
		return 40 * time.Second
	}
	return 50 * time.Second
}
