package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/ledger"
)

// Trace says of each statement of the ledgers what the runs in report directories
// say about it. If kep is set, it is those of one ledger.
func Trace(dirs []string, kep string) ([]reports.Traced, error) {
	requirements, err := ledger.Requirements()
	if err != nil {
		return nil, err
	}
	runs := make([]reports.Report, len(dirs))
	for i, dir := range dirs {
		if runs[i], err = ReadReport(dir); err != nil {
			return nil, err
		}
	}
	traced := reports.Trace(requirements, runs)
	if kep == "" {
		return traced, nil
	}
	var keps []string
	for _, t := range traced {
		keps = append(keps, t.KEP)
	}
	if !slices.Contains(keps, kep) {
		slices.Sort(keps)
		return nil, fmt.Errorf("--kep is %q; there are ledgers of %s", kep, strings.Join(slices.Compact(keps), ", "))
	}
	return slices.DeleteFunc(traced, func(t reports.Traced) bool { return t.KEP != kep }), nil
}
