package app

import (
	"context"
	"errors"
	"time"

	"github.com/skewrig/skewrig/podsapi/conformance"
	"github.com/skewrig/skewrig/reports"
)

// PodsAPICells are the ids of the cells that CheckPodsAPI reports.
func PodsAPICells() []string { return []string{conformance.Cell} }

// CheckPodsAPI judges whatever serves the Pods API at a socket by KEP-4188. If a
// report directory is set, the report goes there, and replaces an earlier one.
func CheckPodsAPI(ctx context.Context, socket string, o Options) (_ reports.Report, err error) {
	began := time.Now()
	record, err := conformance.Observe(ctx, socket)
	if err != nil {
		return reports.Report{}, Failed(err)
	}
	cell := reports.Cell{
		ID: conformance.Cell, Scenario: conformance.Cell, KEP: "KEP-4188", Checks: conformance.Judge(record),
		Again:   CommandLine([]string{"", "podsapi", "check", "--socket", record.Path}),
		Started: began, DurationSeconds: time.Since(began).Seconds(),
	}
	o.Reproduce.Components = []reports.Component{{
		Name: "Pods API server", Version: "unknown",
		Source: "the server at " + record.Path + "; the API does not report its version", Digest: "unknown",
	}}
	assembler, err := newAssembler(nil, nil, o.Catalog, o.Reproduce)
	if err != nil {
		return reports.Report{}, err
	}
	report, err := assembler.assemble([]ranCell{{1, cell}})
	if err != nil || o.Dir == "" {
		return report, err
	}
	done, err := Place{Dir: o.Dir}.begin(o.Claimed, PodsAPICells())
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, done()) }()
	return finish(ctx, o.Dir, report)
}
