package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// rename is a name that the command line of the release before had. It works for one release, with a notice.
type rename struct {
	// command is the path of the command below the root. If bare, it is a command still, and the rename is only about
	// arguments that name none of its subcommands.
	command string
	bare    bool
	// flag is the flag that has another name. If unset, the command has.
	flag string
	// now is what stands in the place of both. If it ends with a flag, that gets the value; otherwise the value of the
	// old flag is the first argument.
	now string
	// setting is the field of a --provider-config that the flag is now. Then the flag itself works as it did.
	setting string
}

// renames are all of them. They are applied in this order, each once.
var renames = []rename{
	{command: "plan", now: "run --dry-run"},
	{command: "dev", now: "run --watch"},
	{command: "run", flag: "--kubeconfig", setting: "cluster.kubeconfig"},
	{command: "run", flag: "--context", setting: "cluster.context"},
	{command: "run", flag: "--nodes", setting: "cluster.nodes"},
	{command: "run", flag: "--real-image", setting: "cluster.images"},
	{command: "run", flag: "--player-image", setting: "cluster.mockImage"},
	{command: "run", flag: "--node-image", setting: "kindClusters.nodeImages"},
	{command: "run", flag: "--image", setting: "jobs.image"},
	{command: "run", flag: "--namespace", setting: "jobs.namespace"},
	{command: "run", flag: "--job-patch", setting: "jobs.patch"},
	{command: "run", flag: "--isolate", setting: "rig.isolate"},
	{command: "sweep", flag: "--kubeconfig", setting: "cluster.kubeconfig"},
	{command: "sweep", flag: "--context", setting: "cluster.context"},
	{command: "sweep", flag: "--image", setting: "jobs.image"},
	{command: "sweep", flag: "--namespace", setting: "jobs.namespace"},
	{command: "sweep", flag: "--job-patch", setting: "jobs.patch"},
	{command: "sweep", flag: "--known", now: "sweep --baseline"},
	{command: "upstream", flag: "--from", now: "upstream --specs"},

	{command: "judge", now: "report judge"},
	{command: "diff", now: "report diff"},
	{command: "trend", now: "report trend"},
	{command: "finding", now: "report findings"},
	{command: "report", bare: true, now: "report show"},

	{command: "trace", now: "kep status"},
	{command: "graduate", now: "kep graduate"},
	{command: "prr", now: "kep prr"},
	{command: "scaffold", now: "kep ledger"},
	{command: "simulate", flag: "--against", now: "simulate --report"},

	{command: "up", now: "cluster up"},
	{command: "ps", now: "cluster list"},
	{command: "logs", now: "cluster logs"},

	{command: "build player-image", now: "build mock-image"},
	{command: "build", flag: "--export", now: "build save"},
	{command: "build", flag: "--import", now: "build load"},
	{command: "build", bare: true, now: "build components"},
	{command: "init", bare: true, now: "init --pod"},
}

// renamed returns the arguments of the program in today's names, and a notice for each old name.
func renamed(root *cobra.Command, args []string) (now, notices []string) {
	before := 0 // arguments that come before the command
	for before < len(args) && (strings.HasPrefix(args[before], "-") || strings.HasPrefix(args[before], cobra.ShellCompRequestCmd) || args[before] == "help") {
		before++
	}
	now = args
	for _, r := range renames {
		if rest, is := r.apply(root, now[before:]); is {
			now = slices.Concat(args[:before], rest)
			notices = append(notices, r.notice())
		}
	}
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		notices = nil // a shell reads them
	}
	return now, notices
}

// notice is the line for a user who typed the old name.
func (r rename) notice() string {
	was, now := strings.TrimSpace("skewrig "+r.command+" "+r.flag), "skewrig "+r.now
	if r.setting != "" {
		now = r.setting + " of --provider-config"
	}
	if r.bare {
		was += " ARGUMENT"
	}
	return fmt.Sprintf("%s is now %s; the old name goes with the next release", was, now)
}

// apply replaces the old name in arguments that begin with the command. It returns false if they don't have it.
func (r rename) apply(root *cobra.Command, args []string) (now []string, applied bool) {
	path, words := strings.Fields(r.command), strings.Fields(r.now)
	if len(args) < len(path) || !slices.Equal(args[:len(path)], path) {
		return args, false
	}
	rest := args[len(path):]
	if r.flag == "" {
		if r.bare && (len(rest) == 0 || isKnownBelow(root, path, rest[0]) || isHabit(path, rest[0])) {
			return args, false
		}
		return slices.Concat(words, rest), true
	}
	at := slices.IndexFunc(rest, func(arg string) bool { return arg == r.flag || strings.HasPrefix(arg, r.flag+"=") })
	if end := slices.Index(rest, "--"); at < 0 || end >= 0 && end < at {
		return args, false
	}
	value := []string{strings.TrimPrefix(rest[at], r.flag+"=")}
	before, after := rest[:at], rest[at+1:]
	if rest[at] == r.flag { // the value, if there is one, is the next argument
		value = after[:min(1, len(after))]
		after = after[len(value):]
	}
	switch last := len(words) - 1; {
	case r.setting != "":
		return args, true
	case strings.HasPrefix(words[last], "--"):
		return slices.Concat(words[:last], before, words[last:], value, after), true
	default:
		return slices.Concat(words, value, before, after), true
	}
}

// isKnownBelow reports whether an argument names a subcommand of the command at a path, or asks for its help. Of a command
// without subcommands, all flags are known.
func isKnownBelow(root *cobra.Command, path []string, arg string) bool {
	cmd, _, err := root.Find(path)
	if err != nil || arg == "-h" || arg == "--help" {
		return true
	}
	if !cmd.HasSubCommands() {
		return strings.HasPrefix(arg, "-")
	}
	return slices.ContainsFunc(cmd.Commands(), func(c *cobra.Command) bool { return c.Name() == arg })
}

// hideReplaced hides the flags that are settings of a provider now.
func hideReplaced(root *cobra.Command) {
	for _, r := range renames {
		if cmd, _, err := root.Find([]string{r.command}); err == nil && r.setting != "" {
			cmd.Flags().Lookup(strings.TrimPrefix(r.flag, "--")).Hidden = true
		}
	}
}
