package main

import (
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// habit is what users of kubectl, kind and go type out of habit, and the commands that do what they want. Nothing runs for
// it: the error names the commands.
type habit struct {
	// below is the path of the command below the root after which it is typed; empty for the root.
	below string
	// typed are the words, each one or two arguments.
	typed []string
	// commands do it. Each begins with the path of a command.
	commands []instead
}

// instead is a command, with its arguments, and what it does.
type instead struct{ command, does string }

// habits are all of them. The first that fits is printed, so those of two words come before those of one.
var habits = []habit{
	{"", []string{"get clusters", "get cluster"}, []instead{{"cluster list", "lists the clusters that run"}}},
	{"", []string{"get nodes", "get pods", "kubectl"}, []instead{{"cluster up", "starts a cluster, and prints the kubeconfig for kubectl"}}},
	{"", []string{"get report", "get reports", "describe report"}, []instead{{"report show DIR", "prints a report"}, {"report findings -f DIR", "what it found"}}},
	{"", []string{"get gates", "describe gate"}, []instead{{"gates", "shows the feature gates"}}},
	{"", []string{"get", "api-resources"}, []instead{{"list", "shows what can be run"}, {"report show DIR", "what a run found"}, {"cluster list", "the clusters that run"}}},
	{"", []string{"describe", "explain"}, []instead{{"run CELL --dry-run", "prints the plan of a cell"}, {"report show DIR CELL", "what a cell did"}, {"gates GATE", "what a feature gate guards"}}},
	{"", []string{"create cluster", "start"}, []instead{{"cluster up", "starts a cluster"}}},
	{"", []string{"create", "new"}, []instead{{"init --pod FILE", "writes a first scenario for a pod or a Deployment"}, {"cluster up", "starts a cluster"}}},
	{"", []string{"delete", "stop", "down"}, []instead{{"cluster list", "lists the clusters that run: Ctrl-C ends and removes one"}}},
	{"", []string{"apply", "test"}, []instead{{"run FILE", "runs a scenario"}, {"run PATTERN", "cells of the catalog"}}},
	{"", []string{"rerun", "retry"}, []instead{{"run --rerun-failed DIR", "runs the cells of a report that were not as expected"}}},
	{"", []string{"compare"}, []instead{{"report diff A B", "compares two reports"}}},
	{"", []string{"merge"}, []instead{{"report merge DIR DIR --report-dir OUT", "joins reports"}}},
	{"", []string{"check", "verify"}, []instead{{"report judge DIR", "judges a saved run again"}, {"run FILE --dry-run", "checks a scenario"}}},
	{"", []string{"validate", "lint", "vet"}, []instead{{"run FILE --dry-run", "checks a scenario, and starts nothing"}}},
	{"", []string{"export logs"}, []instead{{"cluster logs --report DIR CELL", "lists the logs of a cell"}}},
	{"", []string{"export", "convert"}, []instead{{"report show DIR -o junit", "prints a report as JUnit, markdown, html or JSON"}}},
	{"", []string{"load"}, []instead{{"cluster up --image IMAGE=PROTOCOL:PORT", "puts a server in the place of an image"}, {"build load FILE", "loads an archive of components"}}},
	{"", []string{"show"}, []instead{{"report show DIR", "prints a report"}, {"run CELL --dry-run", "the plan of a cell"}}},
	{"report", []string{"compare"}, []instead{{"report diff A B", "compares two reports"}}},
	{"report", []string{"logs", "log"}, []instead{{"cluster logs --report DIR CELL", "lists the logs of a cell"}}},
	{"report", []string{"junit", "markdown", "html", "json", "export", "convert"}, []instead{{"report show DIR -o junit", "prints a report as JUnit, markdown, html or JSON"}}},
	{"report", []string{"failed", "failures"}, []instead{{"report findings -f DIR", "lists what a run found"}}},
	{"report", []string{"list", "get", "describe"}, []instead{{"report show DIR", "prints a report"}}},
	{"report", []string{"check", "rejudge"}, []instead{{"report judge DIR", "judges a saved run again"}}},
	{"report", []string{"rerun"}, []instead{{"run --rerun-failed DIR", "runs the cells of a report that were not as expected"}}},
	{"cluster", []string{"create", "start"}, []instead{{"cluster up", "starts a cluster"}}},
	{"cluster", []string{"delete", "stop", "down"}, []instead{{"cluster list", "lists the clusters that run: Ctrl-C ends and removes one"}}},
	{"cluster", []string{"get", "ps"}, []instead{{"cluster list", "lists the clusters that run"}}},
	{"cluster", []string{"kubectl", "kubeconfig"}, []instead{{"cluster up", "prints the kubeconfig for kubectl"}}},
}

// aKEP matches how users call a KEP.
var aKEP = regexp.MustCompile(`^(?i:kep-?)?([0-9]{2,5})$`)

// habitOf returns the commands that do what arguments after a command, without their flags, are meant to do.
func habitOf(below string, words []string) []instead {
	for _, h := range habits {
		if h.below != below {
			continue
		}
		for _, typed := range h.typed {
			if want := strings.Fields(typed); len(words) >= len(want) && slices.Equal(words[:len(want)], want) {
				return h.commands
			}
		}
	}
	if below == "kep" && len(words) > 0 {
		if kep := aKEP.FindStringSubmatch(words[0]); kep != nil {
			return []instead{
				{"kep status --kep KEP-" + kep[1], "shows which of its requirements runs prove"},
				{"kep graduate kep-" + kep[1], "what its next stage lacks"},
			}
		}
	}
	return nil
}

// isHabit reports whether an argument after a command is such a word, and names no file.
func isHabit(path []string, arg string) bool {
	return !exists(arg) && habitOf(strings.Join(path, " "), []string{arg}) != nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// doInstead ends an error with commands.
func doInstead(commands []instead) string {
	var all []string
	for _, c := range commands {
		all = append(all, "skewrig "+c.command+" "+c.does)
	}
	return ": " + strings.Join(all, ", ")
}

// flagHabit is a flag of kubectl, kind or go, and what a command has in its place.
type flagHabit struct {
	// typed are its names, without dashes.
	typed []string
	// needs is what the command must have: a flag, with its dashes, or words of its usage line.
	needs string
	// say is the hint. If empty, it asks whether the flag that the command has was meant.
	say string
}

// flagHabits are all of them. The first that fits a command is printed.
var flagHabits = []flagHabit{
	{[]string{"from", "to"}, "FROM..TO", "two releases are an argument, such as previous..newest"},
	{[]string{"n"}, "--dry-run", ""},
	{[]string{"count"}, "--repeat", ""},
	{[]string{"p"}, "--parallel", ""},
	{[]string{"retain"}, "--keep", ""},
	{[]string{"w"}, "--watch", ""},
	{[]string{"failed", "failures"}, "--rerun-failed", ""},
	{[]string{"failed", "failures"}, "[DIR] [PATTERN", "skewrig report findings -f DIR lists what a run found"},
	{[]string{"known", "known-failures", "expected-failures"}, "--known-deviations", ""},
	{[]string{"kubeconfig", "context"}, "--provider-config", "it is a setting of --provider-config, as in --provider cluster; see skewrig docs clusters"},
	{[]string{"from", "f", "file", "filename"}, "--pod", ""},
	{[]string{"f", "file", "filename", "config"}, "FILE", "a file is an argument, such as ./mine.yaml"},
	{[]string{"l", "selector", "kep", "run", "filter", "focus"}, "PATTERN", "arguments select cells, such as kep-4939 or '**/skew/**'"},
	{[]string{"c", "container"}, "[COMPONENT]", "the component is the second argument"},
	{[]string{"from", "to", "release", "releases", "image"}, "--newest", "--newest and --previous are the releases"},
	{[]string{"out", "output-dir"}, "--report-dir", ""},
	{[]string{"json"}, "--output", "did you mean -o json?"},
	{[]string{"format"}, "--output", ""},
}

// hint says what a command has in place of the flag. It is empty if the command has nothing.
func (h flagHabit) hint(cmd *cobra.Command, name string) string {
	has := strings.Contains(cmd.Use, h.needs)
	if flag, is := strings.CutPrefix(h.needs, "--"); is {
		has = cmd.Flags().Lookup(flag) != nil
	}
	switch {
	case !has || !slices.Contains(h.typed, name):
		return ""
	case h.say == "":
		return ": did you mean " + h.needs + "?"
	}
	return ": " + h.say
}

// flagHint ends an error about a flag that a command does not have: what it has in its place, or a flag with a name like it.
// With one dash, as Go's flags are written, a name reads as several short flags.
func flagHint(cmd *cobra.Command, name string, oneDash bool) string {
	for _, h := range flagHabits {
		if hint := h.hint(cmd, name); hint != "" {
			return hint
		}
	}
	if oneDash && len(name) == 1 {
		return ""
	}
	return guess(name, flagNames(cmd), "--")
}
