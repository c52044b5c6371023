package page

import (
	"io"
	"path"
	"strings"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
)

// kepTitles are the titles of the texts that requirements are from, by KEP or area: what
// the sources of all of them begin with, since each names its section behind the title.
func kepTitles(requirements []reports.Requirement) map[string]string {
	const separator = ", "
	titles := make(map[string]string)
	for _, of := range reports.Grouped(requirements, func(q reports.Requirement) string { return q.KEP }) {
		common := strings.Split(of[0].Source, separator)
		if len(of) == 1 {
			common = common[:1]
		}
		for _, q := range of[1:] {
			parts := strings.Split(q.Source, separator)
			n := 0
			for n < len(common) && n < len(parts) && common[n] == parts[n] {
				n++
			}
			common = common[:n]
		}
		title := strings.Join(common, separator)
		if _, after, named := strings.Cut(title, ": "); named && strings.HasPrefix(title, of[0].KEP) {
			title = after
		}
		if _, is := reports.WebAddress(title); !is {
			titles[of[0].KEP] = title
		}
	}
	return titles
}

// plans are the titles of scenarios, and for what time runs faster there, by the ids of the
// scenarios, as the plans of their cells say it. What has no plan beside the page has none.
func (run Run) plans() (titles, scaled map[string]string) {
	titles, scaled = make(map[string]string), make(map[string]string)
	for _, c := range run.Report.Cells {
		if titles[c.Scenario] == "" && run.Dir != nil {
			plan := run.planOf(c)
			titles[c.Scenario], scaled[c.Scenario] = plan.Title, plan.Topology.Scaled()
		}
	}
	return titles, scaled
}

// planOf is the plan of a cell. It is empty if there is none beside the page.
func (run Run) planOf(c reports.Cell) record.Plan {
	plan, err := run.Dir.Open(path.Join(c.WorstRun().Dir, reports.PlanData))
	if err != nil {
		return record.Plan{}
	}
	defer plan.Close()
	p, err := record.ReadPlan(io.LimitReader(plan, files.MaxReport))
	if err != nil {
		return record.Plan{} // the page of the cell says so
	}
	return p
}
