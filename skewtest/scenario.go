package skewtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/page"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// Scenarios are cells that a test runs and judges.
type Scenarios struct {
	// Files are scenario files of one's own. If unset, none.
	Files []string
	// Patterns choose cells by id, of the files and of the catalog. If unset, all of the
	// files.
	Patterns []string
	// KnownDeviations is a file with checks that are known to fail. If unset, it is the
	// catalog's list alone.
	KnownDeviations string
	// AllowHost lets scenarios reach beyond their rigs, as skewrig run --allow-host does. If unset, those
	// that do are refused.
	AllowHost bool
}

// Run runs the cells, as skewrig run does, and writes a report. Each check that is not as
// expected is an error of the test, in a subtest for each cell where the test can have
// subtests. A mistake in a file ends the test before anything is started.
func (s Scenarios) Run(t testing.TB) {
	t.Helper()
	if len(s.Files)+len(s.Patterns) == 0 {
		t.Fatal("skewtest: there are no Files and no Patterns")
	}
	ctx, cancel := bounded(t)
	defer cancel()
	builder, err := newBuilder(ctx, t.Logf)
	if err != nil {
		t.Fatalf("skewtest: %v", err)
	}
	here, err := app.HereOn(builder.Releases())
	if err != nil {
		t.Fatalf("skewtest: %v", err)
	}
	cells, err := here.Select(slices.Concat(s.Files, s.Patterns))
	if err != nil {
		t.Fatalf("skewtest: %v", err)
	}
	dir, report, err := s.run(ctx, t, builder, here, cells)
	if err != nil {
		giveUp(t, err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("skewtest: what happened: %s", filepath.Join(dir, page.Name))
		} else if os.Getenv(DirEnv) == "" {
			_ = os.RemoveAll(dir) // a report of what passed, in a directory for temporary files
		}
	})
	for _, cell := range report.Cells {
		judge(t, cell)
	}
	for _, problem := range report.Problems {
		t.Errorf("skewtest: %s", problem)
	}
}

// run runs cells, and returns the report and its directory.
func (s Scenarios) run(ctx context.Context, t testing.TB, builder builder, here app.Catalog, cells []plan.Cell) (dir string, report reports.Report, err error) {
	if here, err = here.Excusing(s.KnownDeviations); err != nil {
		return "", report, err
	}
	if err := builder.provide(ctx, app.Targets(cells), cells); err != nil {
		return "", report, err
	}
	built, err := app.Build(ctx, builder.Builder, app.Targets(cells), cells)
	if err != nil {
		return "", report, err
	}
	if dir, err = newDir(dirName(t.Name())); err != nil {
		return "", report, err
	}
	report, err = app.Run(ctx, cells, app.Options{
		Dir: dir, Binary: builder.Binary, Catalog: here, Parallel: min(len(cells), app.Parallel()), AllowHost: s.AllowHost,
		Reproduce: app.Reproduce(slices.Concat([]string{"skewrig", "run"}, s.Files, s.Patterns), s.Files, version(), built),
	})
	return dir, report, err
}

// judge reports what is not as expected in a cell.
func judge(t testing.TB, cell reports.Cell) {
	t.Helper()
	if parent, is := t.(*testing.T); is {
		parent.Run(cell.ID, func(t *testing.T) {
			for _, problem := range problems(cell) {
				t.Error(problem)
			}
		})
		return
	}
	for _, problem := range problems(cell) {
		t.Errorf("%s: %s", cell.ID, problem)
	}
}

// problems are what is not as expected in a cell: its checks, or why it was not judged.
func problems(cell reports.Cell) (all []string) {
	if cell.Outcome.Expected() {
		return nil
	}
	for _, c := range cell.Checks {
		if c.Outcome.Expected() {
			continue
		}
		all = append(all, outcomeOf(c))
	}
	if len(all) == 0 || !cell.Outcome.Nonconforming() {
		all = append([]string{fmt.Sprintf("%s: %s", cell.Outcome, cell.Reason)}, all...)
	}
	return all
}

// outcomeOf is what a check came to.
func outcomeOf(c reports.Check) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s", c.Outcome, c.ID)
	if c.Requirement != "" {
		fmt.Fprintf(&text, " (%s)", c.Requirement)
	}
	for _, part := range []struct{ what, text string }{{"observed", c.Observed}, {"expected", c.Expected}, {"reason", c.Reason}} {
		if part.text != "" {
			fmt.Fprintf(&text, "\n  %s: %s", part.what, strings.ReplaceAll(part.text, "\n", "\n    "))
		}
	}
	return text.String()
}

// module is the one that this package is in.
const module = "github.com/skewrig/skewrig"

// version is that of the module, as the test is built with it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module {
			return m.Version
		}
	}
	return "unknown"
}
