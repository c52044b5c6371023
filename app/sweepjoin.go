package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/sweep/trial"
)

// JoinSweeps joins the shards of a sweep, which are in directories, into the whole sweep in another one, with all
// that they left. Of known findings, it makes no news.
func JoinSweeps(dirs []string, to, command string, known []trial.Finding) (trial.Result, error) {
	var shards []trial.Input
	var problems []error
	for _, dir := range dirs {
		s, err := ReadSweep(dir)
		problems = append(problems, notItself(dir, to), err)
		shards = append(shards, trial.Input{Name: dir, Result: s})
	}
	if err := errors.Join(problems...); err != nil {
		return trial.Result{}, err
	}
	joined, err := trial.Join(shards)
	if err != nil {
		return trial.Result{}, err
	}
	state := &swept{Result: joined, plans: make(map[int]trial.Plan)}
	for _, ran := range joined.Plans {
		state.plans[ran.Number] = ran.Plan
	}
	var again []trial.Finding
	state.Findings, again = trial.New(state.Findings, known)
	state.Known = trial.Merge(state.Known, again)
	if err := sweptDir.clear(to); err != nil {
		return joined, err
	}
	return state.Result, Failed(state.leave(shards, to, command))
}

// leave writes what the shards of a sweep came to.
func (s *swept) leave(shards []trial.Input, to, command string) error {
	if err := readJSONBelow(shards[0].Name, sweptUses, &s.uses); err != nil {
		return err
	}
	if _, err := s.writeScenarios(to, nil); err != nil {
		return err
	}
	var alone []string
	for _, shard := range shards {
		plans, err := fs.Sub(files.RootFS(shard.Name, files.MaxLog), sweptPlans)
		if err == nil {
			err = files.CopyTree(filepath.Join(to, sweptPlans, fmt.Sprintf("shard-%d", shard.Shard.Index)), plans)
		}
		if err != nil {
			return err
		}
		in := filepath.Join(shard.Name, sweptAlone)
		switch _, err := os.Stat(in); {
		case err == nil:
			alone = append(alone, in)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	if len(alone) > 0 {
		if _, err := Merge(context.Background(), alone, Place{Dir: filepath.Join(to, sweptAlone)}, command); err != nil {
			return err
		}
	}
	return errors.Join(s.write(to), writeSweepPages(to, s.Result, s.alone))
}
