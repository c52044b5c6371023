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

// completions say what a shell completes the arguments of commands to, by the paths
// of the commands below the root. Those of the others are completed to files.
var completions = map[string]cobra.CompletionFunc{
	"run":          completeCells,
	"list":         completeCells,
	"plan":         completeCells,
	"simulate":     completeCells,
	"up":           first(completeCells),
	"logs":         completeLogs,
	"build":        completeTargets,
	"docs":         first(completePages),
	"graduate":     first(completeKEPs),
	"prr":          first(completeKEPs),
	"judge":        first(completeDirs),
	"report":       first(completeDirs),
	"docs man":     first(completeDirs),
	"report merge": completeDirs,
	"trace":        completeDirs,
	"trend":        completeDirs,
}

// flagCompletions say it for flags, by their names.
var flagCompletions = map[string]cobra.CompletionFunc{
	"kep":        completeLedgers,
	"as":         completeWatchdogs,
	"binary":     completeBinaries,
	"report-dir": completeDirs,
	"report":     completeDirs,
	"against":    completeDirs,
	"cache-dir":  completeDirs,
}

// registerCompletions gives the commands of a tree their completions.
func registerCompletions(cmd *cobra.Command) {
	if complete, has := completions[strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")]; has {
		cmd.ValidArgsFunction = complete
	}
	for name, complete := range flagCompletions {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, complete) // there is the flag, and it has none
		}
	}
	for _, child := range cmd.Commands() {
		registerCompletions(child)
	}
}

// first completes the first argument, and those after it to files.
func first(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return complete(cmd, args, toComplete)
	}
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
