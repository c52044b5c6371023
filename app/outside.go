package app

import (
	"errors"
	"fmt"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// AllowHost is the flag with which scenarios may reach beyond their rigs.
const AllowHost = "--allow-host"

// CheckOutside returns all that cells have that reaches beyond their rigs, unless that is allowed. On a
// cluster, all nodes have real containers.
func CheckOutside(cells []plan.Cell, cluster, allowed bool) error {
	if allowed {
		return nil
	}
	var problems []error
	for _, o := range plan.OutsideOf(cells, cluster) {
		problems = append(problems, strict.At(o.Place, errors.New(o.Text)))
	}
	if len(problems) == 0 {
		return nil
	}
	return strict.Join(append(problems, fmt.Errorf("run with %s to allow it, if you trust the scenario as you trust a program that you run", AllowHost))...)
}
