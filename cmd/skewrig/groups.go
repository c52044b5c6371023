package main

import (
	"slices"

	"github.com/spf13/cobra"
)

// groups are the commands by what they are for, in the order of the help.
var groups = []struct {
	title    string
	commands []string
}{
	{"Run scenarios:", []string{"init", "scaffold", "list", "plan", "run", "dev", "judge", "simulate", "sweep", "upstream", "release"}},
	{"Read reports:", []string{"report", "diff", "trace", "trend", "finding"}},
	{"Decide about an enhancement:", []string{"graduate", "prr"}},
	{"Use a cluster:", []string{"up", "ps", "logs", "podsapi"}},
	{"Build, and look up:", []string{"build", "gates", "version", "docs", "schema", "help", "completion"}},
}

// group puts the commands of the root into their groups.
func group(root *cobra.Command) {
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, cmd := range root.Commands() {
			if slices.Contains(g.commands, cmd.Name()) {
				cmd.GroupID = g.title
			}
		}
	}
	last := groups[len(groups)-1].title
	root.SetHelpCommandGroupID(last)
	root.SetCompletionCommandGroupID(last)
}
