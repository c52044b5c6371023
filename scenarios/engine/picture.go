package engine

import (
	"bytes"
	"fmt"
	"path"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/plot"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/scenarios/picture"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// leasesFile is the picture of a cell whose record has leases.
const leasesFile = "leases.svg"

// draw leaves the pictures of a cell in its directory, and returns their paths
// from the report directory.
func draw(dir string, cell plan.Cell, events []record.Event) ([]string, error) {
	p, ok := picture.Leases(cell, events)
	if !ok {
		return nil, nil
	}
	var content bytes.Buffer
	if err := plot.SVG(&content, p); err != nil {
		return nil, fmt.Errorf("cell %s: %w", cell.ID, err)
	}
	if err := render.WriteFile(CellDir(dir, cell.ID), leasesFile, content.Bytes()); err != nil {
		return nil, fmt.Errorf("writing a picture of cell %s: %w", cell.ID, err)
	}
	return []string{path.Join(reports.RunDir(cell.ID, 1), leasesFile)}, nil
}
