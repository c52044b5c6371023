package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/ledger"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// completions say what a shell completes an argument to, by what usage lines call
// it. What is not listed is completed to files.
var completions = map[string]cobra.CompletionFunc{
	"PATTERN":           completeCells,
	"CELL":              completeCells,
	"COMPONENT@RELEASE": completeTargets,
	"KEP":               completeKEPs,
	"DIR":               completeDirs,
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

// registerCompletions gives the commands of a tree their completions, but for those
// that they have already.
func registerCompletions(cmd *cobra.Command) {
	positions := usage(cmd.Use)
	if cmd.ValidArgsFunction == nil && len(positions) > 0 {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			for _, name := range namesAt(positions, len(args)) {
				if complete := completions[name]; complete != nil {
					return complete(cmd, args, toComplete)
				}
			}
			return nil, cobra.ShellCompDirectiveDefault
		}
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		_, has := cmd.GetFlagCompletionFunc(f.Name)
		if complete := flagCompletions[f.Name]; complete != nil && !has {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // there is the flag, and it has none
		}
	})
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

// usage reads the arguments of a usage line such as "judge DIR [FILE ...]".
func usage(line string) (positions []position) {
	words := strings.Fields(strings.NewReplacer("[", " ", "]", " ").Replace(line))
	alternative := false
	for _, word := range words[1:] {
		last := len(positions) - 1
		switch {
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

// namesAt is what the argument at a place can be.
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
	cells, err := catalog.Cells()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var found []string
	if parent, complete := strings.CutSuffix(toComplete, "/"); complete && parent != "" {
		found = append(found, cobra.CompletionWithDesc(toComplete+"**", "all of them"))
	}
	for _, c := range cells {
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
	cells, err := catalog.Cells()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var found []string
	for _, t := range plan.Targets(cells) {
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
	requirements, err := ledger.Requirements()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var found []string
	for _, r := range requirements {
		found = append(found, r.KEP)
	}
	slices.Sort(found)
	return slices.Compact(found), cobra.ShellCompDirectiveNoFileComp
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

func completeDirs(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}
