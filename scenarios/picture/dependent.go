package picture

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports/plot"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// dependents shows how many replicas the Deployments on the seed are to have,
// and when the watchdog scaled them.
func (h history) dependents() (lanes []plot.Lane) {
	all := make(map[string]plot.Lane)
	for e, seen := range record.All[record.ObjectObserved](h.events) {
		if seen.Cluster == "" || seen.Resource != "deployments" {
			continue
		}
		if replicas, ok := replicas(seen); ok {
			lane := all[seen.Name]
			lane.Name = seen.Name
			lane.Steps = counted(lane.Steps, h.at(e), replicas)
			all[seen.Name] = lane
		}
	}
	for e, r := range record.All[record.LinkRequest](h.events) {
		lane, is := all[scaled(r)]
		if e.Subject != spec.WatchdogToSeed || !is {
			continue
		}
		if r.Code == http.StatusOK {
			lane.Marks = mark(lane.Marks, h.at(e), "scaled by the watchdog", plot.Good)
		} else {
			lane.Marks = mark(lane.Marks, h.at(e), "its request failed", plot.Bad)
		}
		all[lane.Name] = lane
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		lanes = append(lanes, all[name])
	}
	return lanes
}

// replicas is how many a Deployment is to have. One that is gone has none.
func replicas(seen record.ObjectObserved) (int, bool) {
	if seen.Change == "deleted" {
		return 0, true
	}
	var deployment struct{ Spec struct{ Replicas int } }
	err := json.Unmarshal(seen.Object, &deployment)
	return deployment.Spec.Replicas, err == nil
}

// scaled is the Deployment that a request scales.
func scaled(r record.LinkRequest) string {
	_, rest, _ := strings.Cut(r.Path, "/deployments/")
	name, is := strings.CutSuffix(rest, "/scale")
	if !is || r.Method == http.MethodGet {
		return ""
	}
	return name
}
