package picture

import (
	"encoding/json"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports/plot"
)

// nodes shows how many nodes are not Ready, and of those Unknown.
func (h history) nodes() plot.Panel {
	unready := plot.Line{Label: "not Ready", Color: 4, Style: plot.Solid, Held: true}
	unknown := plot.Line{Label: "of those, Unknown", Color: 0, Style: plot.Dashed, Held: true}
	p := plot.Panel{Title: Nodes}
	ready := make(map[string]string)
	for e, seen := range record.All[record.ObjectObserved](h.events) {
		if seen.Cluster != "" || seen.Resource != "nodes" || !observe(ready, seen) {
			continue
		}
		count := make(map[string]int)
		for _, status := range ready {
			count[status]++
		}
		unready.Points = counted(unready.Points, h.at(e), len(ready)-count["True"])
		unknown.Points = counted(unknown.Points, h.at(e), count["Unknown"])
		p.Top = max(p.Top, float64(len(ready)))
	}
	if len(unready.Points) > 0 {
		p.Lines = []plot.Line{unready, unknown}
	}
	return p
}

// observe notes whether a node is ready.
func observe(ready map[string]string, seen record.ObjectObserved) bool {
	if seen.Change == "deleted" {
		delete(ready, seen.Name)
		return true
	}
	var node struct {
		Status struct {
			Conditions []struct{ Type, Status string }
		}
	}
	if err := json.Unmarshal(seen.Object, &node); err != nil {
		return false
	}
	ready[seen.Name] = "False"
	for _, c := range node.Status.Conditions {
		if c.Type == "Ready" {
			ready[seen.Name] = c.Status
		}
	}
	return true
}

// counted adds a number to those that there were, if it is another one.
func counted(points []plot.Point, at float64, n int) []plot.Point {
	if len(points) > 0 && points[len(points)-1].Value == float64(n) {
		return points
	}
	return append(points, plot.Point{At: at, Value: float64(n)})
}
