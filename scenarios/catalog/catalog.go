// Package catalog holds the scenarios that come with skewrig, in one folder per
// KEP or area.
package catalog

import (
	"embed"
	"io/fs"

	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

//go:embed */*.yaml
var files embed.FS

// Cells plans the catalog.
func Cells() ([]plan.Cell, error) {
	paths, err := fs.Glob(files, "*/*.yaml")
	if err != nil {
		return nil, err
	}
	scenarios, err := spec.Load(files, paths)
	if err != nil {
		return nil, err
	}
	return plan.Cells(scenarios)
}
