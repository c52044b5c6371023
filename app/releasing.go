package app

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skewrig/skewrig/app/changes"
	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/changed"
	"github.com/skewrig/skewrig/reports/graduation"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/scenarios/ledger"
	"github.com/skewrig/skewrig/scenarios/ledger/criteria"
	"github.com/skewrig/skewrig/sweep/gated"
	"github.com/skewrig/skewrig/sweep/trial"
)

// ReleasePage is the page of what a release changes.
const ReleasePage = "index.md"

// KeptFile is what a stage without a report directory leaves: what it printed.
const KeptFile = "index.json"

// Releasing is the directory in which stages gather what a release changes. Each stage has a directory, and a file that
// says how it ended.
type Releasing struct {
	dir      string
	pair     release.Releases
	baseline string
	stages   []changed.Stage
}

// OpenReleasing opens a directory, or makes it. Baseline is the report directory of the release before; if unset, there is
// none. An error is that the directory is about another pair.
func OpenReleasing(dir string, pair release.Releases, baseline string) (*Releasing, error) {
	if err := os.MkdirAll(filepath.Join(dir, "stages"), 0o755); err != nil {
		return nil, err
	}
	var of changed.Document
	err := readJSON(filepath.Join(dir, documentFile), &of)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case of.Release != pair.Newest || of.Since != pair.Previous:
		return nil, fmt.Errorf("%s is about %s since %s: name another directory (--report-dir)", dir, of.Release, of.Since)
	}
	return &Releasing{dir: dir, pair: pair, baseline: baseline}, nil
}

// documentFile is the document as data.
const documentFile = "index.json"

// Dir is the directory of a stage.
func (r *Releasing) Dir(stage string) string { return filepath.Join(r.dir, stage) }

func (r *Releasing) state(stage string) string { return filepath.Join(r.dir, "stages", stage+".json") }

// Plan adds a stage, which may have ended before.
func (r *Releasing) Plan(s changed.Stage) error {
	if err := readJSON(r.state(s.Name), &s); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r.stages = append(r.stages, s)
	return nil
}

// Ended reports whether a stage has come to a result.
func (r *Releasing) Ended(name string) bool { return r.stage(name).Ended() }

func (r *Releasing) stage(name string) *changed.Stage {
	for i := range r.stages {
		if r.stages[i].Name == name {
			return &r.stages[i]
		}
	}
	return new(changed.Stage)
}

// Keep keeps what a stage printed.
func (r *Releasing) Keep(name string, text []byte) error {
	if err := os.MkdirAll(r.Dir(name), 0o755); err != nil {
		return err
	}
	return files.WriteBytes(filepath.Join(r.Dir(name), KeptFile), 0o644, text)
}

// End says how a stage ended.
func (r *Releasing) End(name string, code int, started time.Time, said string) error {
	s := r.stage(name)
	s.Exit, s.Started, s.Seconds, s.Said = &code, started.UTC().Truncate(time.Second), time.Since(started).Round(time.Second).Seconds(), ""
	if !s.Ended() {
		s.Said = said
	}
	return writeJSON(r.state(name), s)
}

// Write writes the page, as far as the stages have come.
func (r *Releasing) Write() (d changed.Document, err error) {
	in, err := r.input()
	if err != nil {
		return d, err
	}
	d = changes.Of(in)
	return d, errors.Join(
		writeJSON(filepath.Join(r.dir, documentFile), d),
		r.render(ReleasePage, d, render.Changed),
		r.render("junit.xml", d, render.ChangedJUnit),
	)
}

func (r *Releasing) render(name string, d changed.Document, write func(io.Writer, changed.Document) error) error {
	var b strings.Builder
	if err := write(&b, d); err != nil {
		return err
	}
	return files.WriteBytes(filepath.Join(r.dir, name), 0o644, []byte(b.String()))
}

// input reads what the stages have left.
func (r *Releasing) input() (in changes.Input, _ error) {
	in = changes.Input{Release: r.pair.Newest, Since: r.pair.Previous, Stages: r.stages, Sweeps: make(map[string]trial.Result)}
	var problems []error
	report := func(dir string) *reports.Report {
		read, err := ReadReport(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		problems = append(problems, err)
		return &read
	}
	for _, s := range r.stages {
		if s.Exit == nil {
			continue
		}
		switch s.Name {
		case changes.CatalogStage:
			in.Catalog = report(r.Dir(s.Name))
		case changes.UpstreamStage:
			in.Upstream = report(r.Dir(s.Name))
		case changes.GatesStage:
			in.Gates = new(gated.Difference)
			problems = append(problems, r.kept(s, in.Gates))
		case changes.SweepStage, changes.RollbackStage, changes.UpgradeStage:
			swept, err := ReadSweep(r.Dir(s.Name))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			problems, in.Sweeps[s.Name] = append(problems, err), swept
		default:
			if strings.HasPrefix(s.Name, changes.GraduateStage("")) {
				var of graduation.Result
				problems, in.Graduations = append(problems, r.kept(s, &of)), append(in.Graduations, of)
			}
		}
	}
	if r.baseline != "" {
		in.Baseline = report(r.baseline)
	}
	return in, errors.Join(problems...)
}

// kept reads what a stage printed.
func (r *Releasing) kept(s changed.Stage, into any) error {
	err := readJSON(filepath.Join(r.Dir(s.Name), KeptFile), into)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Claim is the stage that the gate of an enhancement has in a release.
type Claim struct{ KEP, Stage string }

// Claims are those of a release whose gates are known.
func Claims(v release.Version) (claims []Claim, _ error) {
	requirements, err := ledger.Requirements()
	if err != nil {
		return nil, Failed(err)
	}
	all, err := criteria.Enhancements(requirements)
	if err != nil {
		return nil, Failed(err)
	}
	for _, e := range all {
		is, err := criteria.Released(e.Gate, v)
		if err != nil {
			return nil, Failed(err)
		}
		if is != nil && is.Stage != "" && is.Stage != "deprecated" {
			claims = append(claims, Claim{e.KEP, is.Stage})
		}
	}
	return claims, nil
}
