package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/docs"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// completions are what a shell completes an argument to, by its name in the usage line. Others are files.
var completions = map[string]cobra.CompletionFunc{
	"PATTERN":           completeCells,
	"CELL":              completeCells,
	"RIG":               completeLogs,
	"COMPONENT":         completeLogs,
	"COMPONENT@RELEASE": completeTargets,
	"PAGE":              completePages,
	"KEP":               completeKEPs,
	"DIR":               completeDirs,
	"A":                 completeDirs,
	"B":                 completeDirs,
}

// flagCompletions say it for flags, by their names.
var flagCompletions = map[string]cobra.CompletionFunc{
	"kep":        completeLedgers,
	"as":         completeWatchdogs,
	"binary":     completeBinaries,
	"report-dir": completeDirs,
	"report":     completeDirs,
	"cache-dir":  completeDirs,
	"baseline":   completeDirs,
}

// registerCompletions gives the commands of a tree their completions.
func registerCompletions(cmd *cobra.Command) {
	if positions := parseUsage(cmd.Use); len(positions) > 0 && cmd.ValidArgs == nil {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			for _, name := range namesAt(positions, len(args)) {
				if complete, has := completions[name]; has {
					return complete(cmd, args, toComplete)
				}
			}
			return nil, cobra.ShellCompDirectiveDefault
		}
	}
	for name, complete := range flagCompletions {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, complete) // the flag exists, and it has none
		}
	}
	for _, child := range cmd.Commands() {
		registerCompletions(child)
	}
}

// position is an argument of a usage line: what it can be, and whether more of the
// same may follow.
type position struct {
	names    []string
	repeated bool
}

// parseUsage reads the arguments of a usage line such as "judge [DIR] [FILE ...]".
func parseUsage(line string) (positions []position) {
	words := strings.Fields(strings.NewReplacer("[", " ", "]", " ").Replace(line))
	alternative := false
	for _, word := range words[1:] {
		last := len(positions) - 1
		switch {
		case strings.HasPrefix(word, "-"):
			return positions
		case word == "|":
			alternative = true
		case word == "..." && last >= 0:
			positions[last].repeated = true
		case alternative && last >= 0:
			positions[last].names, alternative = append(positions[last].names, word), false
		default:
			positions = append(positions, position{names: []string{word}})
		}
	}
	return positions
}

// namesAt returns what the argument at a place can be.
func namesAt(positions []position, place int) []string {
	if place >= len(positions) && len(positions) > 0 && positions[len(positions)-1].repeated {
		place = len(positions) - 1
	}
	if place >= len(positions) {
		return nil
	}
	return positions[place].names
}

// completeCells completes a pattern over cell ids, a segment at a time. Where no
// cell begins so, the shell completes to files.
func completeCells(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	here, err := app.Here()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var found []string
	if parent, complete := strings.CutSuffix(toComplete, "/"); complete && parent != "" {
		found = append(found, cobra.CompletionWithDesc(toComplete+"**", "all of them"))
	}
	for _, c := range here.Cells() {
		rest, begins := strings.CutPrefix(c.ID, toComplete)
		if !begins {
			continue
		}
		if segment, _, more := strings.Cut(rest, "/"); more {
			found = append(found, toComplete+segment+"/")
		} else {
			found = append(found, cobra.CompletionWithDesc(c.ID, c.Title))
		}
	}
	return slices.Compact(found), cobra.ShellCompDirectiveNoSpace
}

// completeTargets completes to what the cells of the catalog run.
func completeTargets(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	here, err := app.Here()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var found []string
	for _, t := range plan.Targets(here.Cells()) {
		found = append(found, fmt.Sprintf("%s@%s", t.Component, t.Version), string(t.Version), t.Component)
	}
	slices.Sort(found)
	return slices.Compact(found), cobra.ShellCompDirectiveNoFileComp
}

// completeKEPs completes to KEPs as the ids of cells begin with them: kep-4939.
func completeKEPs(cmd *cobra.Command, args []string, toComplete string) (found []string, _ cobra.ShellCompDirective) {
	names, directive := completeLedgers(cmd, args, toComplete)
	for _, name := range names {
		if number, isKEP := strings.CutPrefix(name, "KEP-"); isKEP {
			found = append(found, "kep-"+number)
		}
	}
	return found, directive
}

// completeLedgers completes to the names of ledgers: KEP-4939.
func completeLedgers(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	here, err := app.Here()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var found []string
	for _, r := range here.Requirements {
		found = append(found, r.KEP)
	}
	slices.Sort(found)
	return slices.Compact(found), cobra.ShellCompDirectiveNoFileComp
}

// completeLogs completes to rigs, or to the cells of a report that is named, and then
// to components.
func completeLogs(cmd *cobra.Command, args []string, _ string) (found []string, _ cobra.ShellCompDirective) {
	var f logsFlags
	f.report, _ = cmd.Flags().GetString("report") // there are the flags
	f.number, _ = cmd.Flags().GetInt("run")
	switch len(args) {
	case 0:
		return completeLogged(f.report), cobra.ShellCompDirectiveNoFileComp
	case 1:
		logs, err := f.of(args[0])
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		all, err := logs.List()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		for _, l := range all {
			found = append(found, l.Component)
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// completeLogged are the cells of a report, or the rigs if none is named.
func completeLogged(dir string) (found []string) {
	if dir == "" {
		all, _ := app.Rigs() // what can be read
		for _, r := range all {
			found = append(found, cobra.CompletionWithDesc(r.Name, r.For))
		}
		return found
	}
	report, _ := app.ReadReport(dir) // of one that can't be read there are none
	for _, c := range report.Cells {
		found = append(found, c.ID)
	}
	return found
}

// completeWatchdogs completes to the ways in which a watchdog can behave.
func completeWatchdogs(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	found := []string{"text"}
	for _, v := range release.DependencyWatchdog() {
		found = append(found, string(v))
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// completeBinaries completes to components, and after the = to files.
func completeBinaries(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	if strings.Contains(toComplete, "=") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var found []string
	for _, c := range build.Components() {
		found = append(found, string(c)+"=")
	}
	return found, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

// completePages completes to the pages of the manual.
func completePages(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	pages, err := docs.Pages()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var found []string
	for _, p := range pages {
		found = append(found, cobra.CompletionWithDesc(p.Name, p.Title))
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

func completeDirs(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}
