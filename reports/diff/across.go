package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/cellid"
)

// Across says which cells are compared with which, if not with those of the same id: those with
// one value of an axis with those that have another one, and are the same otherwise.
type Across struct {
	Axis          string
	Before, After string
}

// ParseAcross reads AXIS=BEFORE,AFTER.
func ParseAcross(text string) (Across, error) {
	axis, values, _ := strings.Cut(text, "=")
	before, after, _ := strings.Cut(values, ",")
	if axis == "" || before == "" || after == "" || before == after {
		return Across{}, fmt.Errorf("%q is not AXIS=BEFORE,AFTER, as kubelet=NEWER,OLDER", text)
	}
	return Across{axis, before, after}, nil
}

// Reports are two reports with the cells that are compared, whose ids are without the axis. It is
// an error if a report has none.
func (a Across) Reports(from, to reports.Report) (_, _ reports.Report, err error) {
	if from.Cells, err = a.cells(from.Cells, a.Before); err != nil {
		return from, to, fmt.Errorf("before: %w", err)
	}
	if to.Cells, err = a.cells(to.Cells, a.After); err != nil {
		return from, to, fmt.Errorf("after: %w", err)
	}
	return from, to, nil
}

// cells are those with a value of the axis.
func (a Across) cells(all []reports.Cell, value string) (with []reports.Cell, _ error) {
	var others []string
	for _, c := range all {
		switch has := cellid.Axes(c.ID)[a.Axis]; has {
		case value:
			c.ID = strings.ReplaceAll(c.ID+"/", "/"+a.Axis+":"+value+"/", "/")
			c.ID = strings.TrimSuffix(c.ID, "/")
			with = append(with, c)
		default:
			others = append(others, cmp.Or(has, "none"))
		}
	}
	if len(with) == 0 {
		slices.Sort(others)
		return nil, fmt.Errorf("no cell has %s:%s; its values here are %s", a.Axis, value, strings.Join(slices.Compact(others), ", "))
	}
	return with, nil
}
