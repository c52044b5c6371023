package page

import (
	"bufio"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// This file reads what reports of format 1 say as text only: the scenario files of a
// run in its command line, and that of a cell in its printed plan. Newer ones have both
// as data.

var (
	deviations = regexp.MustCompile(`--known-deviations[= ]('[^']*'|\S+)`)
	words      = regexp.MustCompile(`'[^']*'|[^\s']+`)
)

// filesIn are the scenarios that a command names, other than by patterns.
func filesIn(command string) (files []string) {
	for _, word := range words.FindAllString(deviations.ReplaceAllString(command, ""), -1) {
		word = path.Clean(strings.Trim(word, "'"))
		if extension := path.Ext(word); extension == ".yaml" || extension == ".yml" {
			files = append(files, word)
		}
	}
	return files
}

// printedFileOf is the scenario file that a cell is from, as its printed plan says.
func (run Run) printedFileOf(c reports.Cell) (file string, found bool) {
	plan, err := run.Dir.Open(path.Join(worst(c).Dir, reports.PlanFile))
	if err != nil {
		return "", false
	}
	defer plan.Close()
	return plannedFrom(plan)
}

func plannedFrom(plan fs.File) (file string, found bool) {
	lines := bufio.NewScanner(plan)
	for range 3 { // the id, the title, the file
		lines.Scan()
		file, found = strings.CutPrefix(lines.Text(), "from ")
	}
	return file, found
}
