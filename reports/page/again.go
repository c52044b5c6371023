package page

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/evidence"
)

// again is what to type to see a cell again.
type again struct {
	Command string `json:"command"`
	// Note is what else the command runs. If unset, it runs nothing but the cell.
	Note string `json:"note,omitempty"`
}

// again is the shortest command that runs a cell, with a report directory of its own. The catalog has its cells by their
// ids; those of a user's own are chosen of their files.
func (run Run) again(c reports.Cell) again {
	command := run.Report.Reproduce.Command
	byID := again{Command: evidence.Sources{command}.Command(c.ID)}
	named := run.Report.Reproduce.Files
	if len(named) == 0 {
		named = filesIn(command)
	}
	if len(named) == 0 {
		return byID
	}
	file, found := run.fileOf(c)
	switch {
	case !found:
		return again{Command: reports.Again(command), Note: "This is the command of the whole run: the cell's plan, which names its file, is not beside this page."}
	case slices.ContainsFunc(named, func(n string) bool {
		n = path.Clean(n)
		return n == file || path.IsAbs(n) && strings.HasSuffix(n, "/"+file)
	}):
		return again{Command: fmt.Sprintf("skewrig run %s '%s' --report-dir %s", quoted(file), c.ID, reports.DirFor([]string{command}, c.ID))}
	}
	return byID
}

// fileOf is the scenario file that a cell is from, as its plan says.
func (run Run) fileOf(c reports.Cell) (file string, found bool) {
	if run.Dir == nil {
		return "", false
	}
	f, err := run.Dir.Open(path.Join(worst(c).Dir, reports.PlanData))
	if err != nil {
		return run.printedFileOf(c)
	}
	defer f.Close()
	p, err := record.ReadPlan(f)
	return p.File, err == nil
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,][-A-Za-z0-9_./:@%+,]*$`)

// quoted is a word as a shell reads it.
func quoted(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// repository is where the program is from.
const repository = "github.com/skewrig/skewrig"

// checkoutOf is what to check out in order to have a version of the program: a tag, or
// a commit. It is empty if the version says neither.
func checkoutOf(version string) string {
	switch {
	case !semver.IsValid(version):
		return ""
	case module.IsPseudoVersion(version):
		commit, _ := module.PseudoVersionRev(strings.TrimSuffix(version, "+dirty"))
		return commit
	}
	return strings.TrimSuffix(version, semver.Build(version))
}
