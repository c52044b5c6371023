package saved

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
)

// planned is the plan that a run stored in the directory of a cell, and as it was
// printed there. Where there is neither, both are empty.
func planned(dir string) (record.Plan, string, error) {
	text, err := os.ReadFile(filepath.Join(dir, reports.PlanFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return record.Plan{}, "", err
	}
	p, err := record.ReadPlanFile(filepath.Join(dir, reports.PlanData))
	switch {
	case err != nil:
		return record.Plan{}, string(text), err
	case p == nil:
		return printedPlan(string(text)), string(text), nil
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
