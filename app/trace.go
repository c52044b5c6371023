package app

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/ledger"
)

// Traces is what runs show of the statements of the ledgers, and how the texts of the
// proposals differ from them.
type Traces struct {
	// Runs are the report directories. Without any there are no requirements.
	Runs         []string         `json:"runs"`
	Requirements []reports.Traced `json:"requirements"`
	// Texts are the proposals that the reader has. If the reader named no directory,
	// there are none.
	Texts []ledger.Text `json:"texts,omitempty"`
}

// Trace says of each statement of the ledgers what the runs in report directories
// say about it. If kep is set, it is those of one ledger. If texts is set, it is a
// directory with the texts of the proposals: they are compared with the ledgers, and
// each requirement cites its sentences.
func Trace(dirs []string, kep, texts string) (found Traces, _ error) {
	found = Traces{Runs: dirs, Requirements: []reports.Traced{}}
	here, err := Here()
	if err != nil {
		return found, err
	}
	requirements := here.Requirements
	if len(here.BuiltIn) == 0 { // whose cells are what tests each of the oracles
		requirements = slices.DeleteFunc(requirements, func(r reports.Requirement) bool { return r.KEP == ledger.Oracles })
	}
	keps := make(map[string]bool)
	for _, q := range requirements {
		keps[q.KEP] = true
	}
	if kep != "" && !keps[kep] {
		return found, fmt.Errorf("--kep is %q; there are ledgers of %s", kep, strings.Join(slices.Sorted(maps.Keys(keps)), ", "))
	}
	if texts != "" {
		if found.Texts, err = readTexts(texts, kep); err != nil {
			return found, err
		}
	}
	if len(dirs) == 0 {
		return found, nil
	}
	runs := make([]reports.Report, len(dirs))
	for i, dir := range dirs {
		if runs[i], err = ReadReport(dir); err != nil {
			return found, err
		}
	}
	found.Requirements = slices.DeleteFunc(reports.Trace(requirements, runs), func(t reports.Traced) bool { return kep != "" && t.KEP != kep })
	ledger.Cite(found.Requirements, found.Texts)
	return found, nil
}

// readTexts compares the ledgers with the texts of a directory. It is an error if it
// has none of them.
func readTexts(dir, kep string) ([]ledger.Text, error) {
	all, err := ledger.Texts(files.DirFS(dir, files.MaxText))
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(t ledger.Text) bool { return t.Document == "" || kep != "" && t.KEP != kep })
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no text that a ledger names: give a checkout of the enhancements repository, or a directory with copies", dir)
	}
	return all, nil
}
