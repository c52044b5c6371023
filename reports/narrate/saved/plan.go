package saved

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
)

// planned is the plan that a run stored in the directory of a cell below a report directory, and
// as it was printed there. Where there is neither, both are empty.
func planned(dir, cell string) (record.Plan, string, error) {
	text, err := files.ReadBelow(dir, path.Join(cell, reports.PlanFile), files.MaxReport)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return record.Plan{}, "", err
	}
	p, err := record.ReadPlanBelow(dir, path.Join(cell, reports.PlanData))
	switch {
	case err != nil:
		return record.Plan{}, string(text), err
	case p == nil && len(text) > 0:
		return record.Plan{}, string(text), fmt.Errorf("%s has no plan as data (%s): an earlier skewrig wrote it; run the cell again", cell, reports.PlanData)
	case p == nil:
		return record.Plan{}, "", nil
	}
	return *p, string(text), nil
}

// stepsOf are the steps of a plan, with what changes by each, a line each.
func stepsOf(p record.Plan) (all []string) {
	for _, s := range p.Steps {
		text := s.Description
		if s.Name != strconv.Itoa(s.Number) {
			text = s.Name + ": " + text
		}
		if s.Run != "" {
			text = string(s.Run) + ": " + text
		}
		all = append(all, fmt.Sprintf("%3d. %s", s.Number, text))
		for _, change := range s.Changes {
			all = append(all, "      "+change)
		}
	}
	return all
}
