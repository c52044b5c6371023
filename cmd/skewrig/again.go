package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/schedule"
)

// againFlags say which of the selected cells are run, and how often.
type againFlags struct {
	repeat    int
	untilFail bool
	rerun     string
	shard     string
	part      reports.Shard // what shard says
}

// untilFailLimit is how often a cell runs at most with --until-fail, unless
// --repeat says so.
const untilFailLimit = 100

func (f *againFlags) register(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.repeat, "repeat", 1, "how many times each cell runs; a cell whose outcomes differ is flaky")
	cmd.Flags().BoolVar(&f.untilFail, "until-fail", false, fmt.Sprintf("run each cell until it is not as expected, at most --repeat times (default %d)", untilFailLimit))
	cmd.Flags().StringVar(&f.rerun, "rerun-failed", "", "rerun the selected cells with unexpected outcomes in DIR; without arguments, all of them. Default of --report-dir: DIR-rerun")
	cmd.Flags().StringVar(&f.shard, "shard", "", "run one part of the cells, such as 2/4; skewrig report merge joins the reports")
}

// check checks the flags, and sets those that others imply.
func (f *againFlags) check(cmd *cobra.Command, reportDir *string) error {
	var problems []error
	if f.repeat < 1 {
		problems = append(problems, fmt.Errorf("--repeat is %d; it must be at least 1", f.repeat))
	}
	if f.untilFail && !cmd.Flags().Changed("repeat") {
		f.repeat = untilFailLimit
	}
	part, err := parseShard(f.shard)
	f.part = part
	problems = append(problems, err)
	if f.rerun != "" {
		if !cmd.Flags().Changed("report-dir") {
			*reportDir = beside(app.DirOf(f.rerun))
		}
		if app.SameDir(*reportDir, f.rerun) {
			problems = append(problems, fmt.Errorf("--report-dir and --rerun-failed are both %s: the run would overwrite the failures; choose another --report-dir, and join the two with skewrig report merge", f.rerun))
		}
	}
	return errors.Join(problems...)
}

// beside is where the cells of a report are run again unless something else is
// asked for.
func beside(dir string) string {
	dir = filepath.Clean(dir)
	if base := filepath.Base(dir); base == "." || base == ".." { // which have another name
		if abs, err := filepath.Abs(dir); err == nil {
			dir = abs
		}
	}
	return dir + "-rerun"
}

// parseShard reads "2/4". An empty text is no shard.
func parseShard(text string) (reports.Shard, error) {
	if text == "" {
		return reports.Shard{}, nil
	}
	before, after, _ := strings.Cut(text, "/")
	index, err := strconv.Atoi(before)
	of, ofErr := strconv.Atoi(after)
	if errors.Join(err, ofErr) != nil || index < 1 || index > of {
		return reports.Shard{}, fmt.Errorf("--shard is %q; it must be one of how many, such as 2/4", text)
	}
	return reports.Shard{Index: index, Of: of}, nil
}

// ofShard returns those of the cells that are in the shard, and says so if there
// are none: a partition into more parts than there are rigs has empty ones.
func (f *againFlags) ofShard(out io.Writer, cells []plan.Cell) []plan.Cell {
	if f.part == (reports.Shard{}) {
		return cells
	}
	part := schedule.Shard(cells, f.part.Index, f.part.Of)
	if len(part) == 0 {
		fmt.Fprintf(out, "Shard %d/%d has none of the %d cells\n", f.part.Index, f.part.Of, len(cells))
	}
	return part
}

// cells are the cells that arguments name; with --rerun-failed, those of them that
// were not as expected there.
func (f *againFlags) cells(ctx context.Context, here app.Catalog, args []string) ([]plan.Cell, error) {
	return planning(ctx, func() ([]plan.Cell, error) {
		if f.rerun == "" {
			return here.Select(args)
		}
		return here.SelectFailed(args, f.rerun)
	})
}
