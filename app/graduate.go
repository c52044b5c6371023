package app

import (
	"errors"
	"slices"

	"github.com/skewrig/skewrig/keps"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/evidence"
	"github.com/skewrig/skewrig/reports/graduation"
	"github.com/skewrig/skewrig/reports/narrate/saved"
	"github.com/skewrig/skewrig/reports/prr"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/ledger"
	"github.com/skewrig/skewrig/scenarios/ledger/criteria"
)

// Graduate judges by the saved runs in directories what an enhancement lacks for a
// stage. What could be run besides is that of the newest release of these runs.
func Graduate(kep, stage string, dirs []string) (graduation.Result, error) {
	on, err := gather(kep, dirs)
	if err != nil {
		return graduation.Result{}, err
	}
	return graduation.Judge(on.enhancement, stage, on.runs, on.planned), nil
}

// PRR answers the production readiness questionnaire of an enhancement from the
// saved runs in directories.
func PRR(kep string, dirs []string) (prr.Result, error) {
	on, err := gather(kep, dirs)
	if err != nil {
		return prr.Result{}, err
	}
	return prr.Answers(on.enhancement, on.requirements, on.runs, on.planned), nil
}

// withLedgers adds to answers those of the ledgers, from saved runs. A proposal without a ledger stays as it is.
func withLedgers(all []keps.Result, dirs []string) error {
	_, known, err := enhancements()
	if err != nil {
		return err
	}
	for n, r := range all {
		i := slices.IndexFunc(known, func(e graduation.Enhancement) bool {
			return e.KEP == r.ID() || r.Number == 0 && e.Gate == r.ID()
		})
		if i < 0 {
			continue
		}
		answers, err := PRR(known[i].KEP, dirs)
		if err != nil {
			return err
		}
		all[n] = r.WithLedger(answers)
	}
	return nil
}

// grounds are what an enhancement is judged by.
type grounds struct {
	enhancement  graduation.Enhancement
	requirements []reports.Requirement
	runs         []evidence.Run
	planned      []evidence.Planned
}

// enhancements are those that have a ledger, with the requirements of all ledgers.
func enhancements() (requirements []reports.Requirement, all []graduation.Enhancement, err error) {
	if requirements, err = ledger.Requirements(); err == nil {
		all, err = criteria.Enhancements(requirements)
	}
	return requirements, all, err
}

// gather reads what an enhancement is judged by. A report that can't be read is
// not the user's mistake: evidence that is absent is red.
func gather(kep string, dirs []string) (on grounds, err error) {
	var all []graduation.Enhancement
	if on.requirements, all, err = enhancements(); err != nil {
		return on, err
	}
	if on.enhancement, err = criteria.Find(all, kep); err != nil {
		return on, err
	}
	var mistakes []error
	for _, dir := range dirs {
		report, err := ReadReport(dir)
		var run evidence.Run
		if err == nil {
			run, err = saved.Run(dir, report, on.enhancement.Concerns)
		}
		mistakes = append(mistakes, err)
		on.runs = append(on.runs, run)
	}
	judged := evidence.Releases(on.runs)
	cells, err := catalog.CellsOn(judged)
	if err != nil {
		return on, Failed(err)
	}
	newest, _ := judged.Pair()
	if on.enhancement.Released, err = criteria.Released(on.enhancement.Gate, newest); err != nil {
		return on, Failed(err)
	}
	on.planned = criteria.Planned(cells)
	return on, Failed(errors.Join(mistakes...))
}
