package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skewrig/skewrig/harness/spelling"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
)

// installUsage adds to the errors of all commands what may have been meant and where to read on, and wraps their help. The
// root must have all its commands.
func installUsage(root *cobra.Command) {
	root.SetFlagErrorFunc(flagError)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		return withHelp(cmd, errors.Join(cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups()))
	}
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		w := cmd.OutOrStdout()
		fmt.Fprint(w, help(cmd, columns(w)))
	})
	wrapArgs(root)
}

// wrapArgs has errors about the arguments of a command, and of those below it, say how it is called.
func wrapArgs(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return argsError(cmd, args)
			}
			return nil
		}
	}
	for _, child := range cmd.Commands() {
		wrapArgs(child)
	}
}

// argsError says that a command does not take these arguments.
func argsError(cmd *cobra.Command, args []string) error {
	if cmd.HasAvailableSubCommands() {
		return noCommand(cmd, args)
	}
	return fmt.Errorf("%s: got %s\nUsage: %s%s", called(cmd), reports.Counted(len(args), "argument"), strings.TrimSuffix(cmd.UseLine(), " [flags]"), seeHelp(cmd))
}

// noCommand says that the first argument that is no flag names no command.
func noCommand(parent *cobra.Command, args []string) error {
	words := reports.Only(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
	name := args[0]
	if len(words) > 0 {
		name = words[0]
	}
	if commands := habitOf(called(parent), words); commands != nil {
		return fmt.Errorf("unknown command %q for %s%s%s", name, parent.CommandPath(), doInstead(commands), seeHelp(parent))
	}
	var names []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return fmt.Errorf("unknown command %q for %s%s%s", name, parent.CommandPath(), guess(name, names, ""), seeHelp(parent))
}

// flagError adds to an error about a flag which may have been meant, and what the flag is for.
func flagError(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); cmd.HasAvailableSubCommands() && len(args) > 0 {
		return noCommand(cmd, args) // the flag is one of the command that does not exist
	}
	hint := ""
	if missing, is := errors.AsType[*pflag.NotExistError](err); is {
		short := missing.GetSpecifiedShortnames()
		name, _, _ := strings.Cut(cmp.Or(short, missing.GetSpecifiedName()), "=")
		hint = flagHint(cmd, name, short != "")
	}
	if empty, is := errors.AsType[*pflag.ValueRequiredError](err); is {
		hint = " (" + empty.GetFlag().Usage + ")"
	}
	if wrong, is := errors.AsType[*pflag.InvalidValueError](err); is {
		hint = valueHint(cmd, wrong)
	}
	return withHelp(cmd, fmt.Errorf("%w%s", err, hint))
}

// valueHint ends an error about the value of a flag that takes none, or of one that names no directory.
func valueHint(cmd *cobra.Command, wrong *pflag.InvalidValueError) string {
	flag := wrong.GetFlag()
	switch {
	case flag.Value.Type() == "bool":
		return ": --" + flag.Name + " takes no value"
	case flag.Name == "output" && strings.ContainsAny(wrong.GetValue(), "./") && cmd.Flags().Lookup("report-dir") != nil:
		return ": --report-dir is the directory"
	}
	return ""
}

// flagNames are the flags of a command that its help lists.
func flagNames(cmd *cobra.Command) (names []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

// withHelp adds to an error where to read on.
func withHelp(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w%s", err, seeHelp(cmd))
}

// called is how a command is called, without the name of the program.
func called(cmd *cobra.Command) string {
	return strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()), " ")
}

// guess is the name that may have been meant, if there is one.
func guess(name string, names []string, dashes string) string {
	near := spelling.Closest(name, names)
	if len(near) == 0 {
		return ""
	}
	return ": did you mean " + dashes + near[0] + "?"
}

// seeHelp ends an error with where to read on.
func seeHelp(cmd *cobra.Command) string { return "\nSee " + cmd.CommandPath() + " --help" }

// help is the help of a command for a terminal of so many columns; 0 is none.
func help(cmd *cobra.Command, width int) string {
	if !cmd.HasParent() {
		return render.Fit(rootHelp(cmd), width)
	}
	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}
	text = strings.TrimRight(text, " \n") + "\n\n" + cmd.UsageString()
	if all := cmd.LocalFlags(); all.HasAvailableFlags() {
		own, shared := splitFlags(all)
		text = strings.Replace(text, strings.TrimRight(all.FlagUsages(), " \n"), strings.TrimRight(own.FlagUsagesWrapped(width), " \n")+shared, 1)
	}
	if width > 0 {
		inherited := cmd.InheritedFlags()
		text = strings.Replace(text, strings.TrimRight(inherited.FlagUsages(), " \n"), strings.TrimRight(inherited.FlagUsagesWrapped(width), " \n"), 1)
	}
	return render.Fit(text, width)
}

// ofBuild is the annotation of flags that many commands share, and of which the help of skewrig build components tells.
const ofBuild = "skewrig_flag_of_build"

func isShared(f *pflag.Flag) bool {
	_, is := f.Annotations[ofBuild]
	return is
}

// splitFlags returns the flags that are a command's own, and a sentence that names those that it shares.
func splitFlags(all *pflag.FlagSet) (own *pflag.FlagSet, shared string) {
	own = pflag.NewFlagSet("", pflag.ContinueOnError)
	var names []string
	all.VisitAll(func(f *pflag.Flag) {
		if !isShared(f) {
			own.AddFlag(f)
		} else {
			names = append(names, "--"+f.Name)
		}
	})
	if len(names) > 0 {
		shared = "\n\nFlags of the build, as skewrig build components --help describes them:\n  " + strings.Join(names, ", ")
	}
	return own, shared
}
