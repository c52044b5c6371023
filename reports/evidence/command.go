package evidence

import "github.com/skewrig/skewrig/reports"

// Sources are what a command is printed from: the directories of reports, and the
// commands that made them. What it writes overwrites none of these.
type Sources struct {
	// Taken are those directories and commands, and Flags what a command has at its end, after a space.
	Taken []string
	Flags string
}

// SourcesOf are those of runs.
func SourcesOf(runs ...Run) (s Sources) {
	for _, r := range runs {
		s.Taken = append(s.Taken, r.Dir, r.Report.Reproduce.Command)
		if s.Flags == "" {
			s.Flags = r.Report.Reproduce.PairFlags()
		}
	}
	return s
}

// Command returns the command that runs cells, given as ids or patterns, with a report
// directory of their own.
func (s Sources) Command(cells ...string) string {
	return s.CommandInto(reports.DirFor(s.Taken, cells...), cells...)
}

// CommandInto is Command with the name of the directory, unless that is a source's.
func (s Sources) CommandInto(dir string, cells ...string) string {
	return reports.RunCommand(reports.Fresh(dir, s.Taken...), cells...) + s.Flags
}
