package picture

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports/plot"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// probes shows how the watchdog's requests went by which it decides.
func (h history) probes() (lanes []plot.Lane) {
	version := plot.Lane{Name: "is the API server there?"}
	leases := plot.Lane{Name: "are leases renewed?"}
	for e, r := range record.All[record.LinkRequest](h.events) {
		switch {
		case e.Subject != spec.WatchdogToShoot:
		case r.Path == "/version":
			version.Marks = marked(version.Marks, h.at(e), r)
		case isLeases(r.Path):
			leases.Marks = marked(leases.Marks, h.at(e), r)
		}
	}
	for _, l := range []plot.Lane{version, leases} {
		if len(l.Marks) > 0 {
			lanes = append(lanes, l)
		}
	}
	return lanes
}

func isLeases(path string) bool { return strings.HasSuffix(path, "/leases") }

// marked adds a request to the marks of those that went the same way.
func marked(all []plot.Marks, at float64, r record.LinkRequest) []plot.Marks {
	label, look := "answered", plot.Good
	switch {
	case r.Code == http.StatusTooManyRequests:
		label, look = "throttled", plot.Doubt
	case r.Code == 0 || r.Code >= http.StatusBadRequest:
		label, look = "failed", plot.Bad
	}
	return mark(all, at, label, look)
}

func mark(all []plot.Marks, at float64, label string, look plot.Look) []plot.Marks {
	for i := range all {
		if all[i].Label == label {
			all[i].At = append(all[i].At, at)
			return all
		}
	}
	return append(all, plot.Marks{Label: label, Look: look, At: []float64{at}})
}

// expired shows which part of the leases was expired in each list that the
// watchdog got, by the clocks of who renews them. The watchdog may leave some of
// them out.
func (h history) expired() plot.Panel {
	threshold := h.threshold()
	few := plot.Stems{Label: "below the threshold", Look: plot.Good}
	many := plot.Stems{Label: "at it or above", Look: plot.Bad}
	for e, r := range record.All[record.LinkRequest](h.events) {
		if e.Subject != spec.WatchdogToShoot || len(r.Renewed) == 0 {
			continue
		}
		part := expiredPart(r.Renewed, e.At.Add(-expiry(h.cell.Topology)))
		point := plot.Point{At: h.at(e), Value: 100 * part}
		if part < threshold {
			few.Points = append(few.Points, point)
		} else {
			many.Points = append(many.Points, point)
		}
	}
	p := plot.Panel{Title: Expired, Top: 100}
	for _, s := range []plot.Stems{few, many} {
		if len(s.Points) > 0 {
			p.Stems = append(p.Stems, s)
		}
	}
	p.Limits = []plot.Limit{{At: 100 * threshold, Label: fmt.Sprintf("%g %%: the watchdog's threshold", 100*threshold)}}
	return p
}

func expiredPart(renewed map[string]time.Time, since time.Time) float64 {
	expired := 0
	for _, t := range renewed {
		if t.Before(since) {
			expired++
		}
	}
	return float64(expired) / float64(len(renewed))
}

// threshold is the part of the leases from which the watchdog takes it that the
// nodes are cut off.
func (h history) threshold() float64 {
	if g := h.cell.Topology.Garden; g != nil && g.Prober.NodeLeaseFailureFraction != nil {
		return *g.Prober.NodeLeaseFailureFraction
	}
	return spec.DefaultProberFraction
}
