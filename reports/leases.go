package reports

import (
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
)

// ZoneLeases is how old the leases of the simulated nodes of a zone got.
type ZoneLeases struct {
	// Zone is empty where the nodes have no zones.
	Zone  string `json:"zone,omitempty"`
	Nodes int    `json:"nodes"`
	// Oldest has the highest ages in each of a few stretches of the run that are
	// equally long, in seconds. It is volatile.
	Oldest []float64 `json:"oldest"`
}

// stretches is how many stretches of a run ZoneLeases has.
const stretches = 40

// LeasesOf are the leases of a history, by zone in the order of their appearance.
func LeasesOf(events []record.Event) (all []ZoneLeases) {
	var ages []record.LeaseAges
	for _, a := range record.All[record.LeaseAges](events) {
		ages = append(ages, a)
	}
	for n, a := range ages {
		for _, z := range a.Zones {
			i := slices.IndexFunc(all, func(l ZoneLeases) bool { return l.Zone == z.Zone })
			if i < 0 {
				i = len(all)
				all = append(all, ZoneLeases{Zone: z.Zone, Nodes: z.Nodes, Oldest: make([]float64, min(stretches, len(ages)))})
			}
			at := &all[i].Oldest[n*len(all[i].Oldest)/len(ages)]
			*at = max(*at, z.Oldest)
		}
	}
	return all
}

// Highest is the highest age.
func (l ZoneLeases) Highest() (highest float64) {
	for _, age := range l.Oldest {
		highest = max(highest, age)
	}
	return highest
}

// Sparkline draws the ages as a line of text, from 0 to the highest.
func (l ZoneLeases) Sparkline() string {
	levels := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, age := range l.Oldest {
		level := 0
		if age > 0 {
			level = int(age / l.Highest() * float64(len(levels)-1))
		}
		b.WriteRune(levels[level])
	}
	return b.String()
}
