package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skewrig/skewrig/harness/spelling"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
)

// sayUsage has all commands say in our words how a command line is wrong, and wraps their
// help. The root must have all its commands.
func sayUsage(root *cobra.Command) {
	root.SetFlagErrorFunc(flagError)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return errors.Join(lackingFlags(cmd), clashingFlags(cmd)) }
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		w := cmd.OutOrStdout()
		fmt.Fprint(w, help(cmd, columns(w)))
	})
	sayArgs(root)
}

// sayArgs is sayUsage for the arguments of a command, and of those below it.
func sayArgs(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if err == nil || !ofTheLibrary(err) {
				return err
			}
			return argsError(cmd, args)
		}
	}
	for _, child := range cmd.Commands() {
		sayArgs(child)
	}
}

// ofTheLibrary reports whether an error about arguments is one of cobra's.
func ofTheLibrary(err error) bool {
	return slices.ContainsFunc([]string{"accepts ", "requires at ", "unknown command "}, func(begin string) bool { return strings.HasPrefix(err.Error(), begin) })
}

// argsError says that a command does not take these arguments.
func argsError(cmd *cobra.Command, args []string) error {
	call := strings.TrimSuffix(cmd.UseLine(), " [flags]")
	switch {
	case cmd.HasAvailableSubCommands():
		return noCommand(cmd, args)
	case len(args) == 0:
		return fmt.Errorf("%s lacks an argument: it is called as %s%s", called(cmd), call, seeHelp(cmd))
	case call == cmd.CommandPath():
		return fmt.Errorf("%s takes no argument, and %s is one%s", called(cmd), strconv.Quote(args[0]), seeHelp(cmd))
	default:
		return fmt.Errorf("%s is not called with %s, but as %s%s", called(cmd), reports.Counted(len(args), "argument"), call, seeHelp(cmd))
	}
}

// noCommand says that the first argument that is no flag names no command.
func noCommand(parent *cobra.Command, args []string) error {
	i := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
	var names []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	name := args[max(i, 0)]
	return fmt.Errorf("%s has no command %s%s%s", called(parent), strconv.Quote(name), guess(name, names, ""), seeHelp(parent))
}

// flagError says what is wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	if missing, is := errors.AsType[*pflag.NotExistError](err); is {
		name := missing.GetSpecifiedName()
		if missing.GetSpecifiedShortnames() != "" {
			return fmt.Errorf("%s has no flag -%s%s", called(cmd), name, seeHelp(cmd))
		}
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		return fmt.Errorf("%s has no flag --%s%s%s", called(cmd), name, guess(name, names, "--"), seeHelp(cmd))
	}
	if empty, is := errors.AsType[*pflag.ValueRequiredError](err); is {
		f := empty.GetFlag()
		return fmt.Errorf("--%s of %s lacks its value: %s%s", f.Name, called(cmd), f.Usage, seeHelp(cmd))
	}
	if wrong, is := errors.AsType[*pflag.InvalidValueError](err); is {
		f := wrong.GetFlag()
		why := errors.Unwrap(wrong).Error()
		if kind := kindsOfFlags[f.Value.Type()]; kind != "" {
			why = "it must be " + kind
		}
		return fmt.Errorf("--%s can't be %s: %s%s", f.Name, strconv.Quote(wrong.GetValue()), why, seeHelp(cmd))
	}
	return fmt.Errorf("%w%s", err, seeHelp(cmd))
}

// kindsOfFlags are the types of flags whose values the library reads, in words.
var kindsOfFlags = map[string]string{
	"bool": "true or false", "int": "a whole number", "float64": "a number", "duration": "a length of time, such as 30s or 5m",
}

// lackingFlags says which flags a command needs that are not set.
func lackingFlags(cmd *cobra.Command) error {
	var lacking []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Annotations[cobra.BashCompOneRequiredFlag] != nil && !f.Changed {
			lacking = append(lacking, "--"+f.Name+" ("+f.Usage+")")
		}
	})
	if len(lacking) == 0 {
		return nil
	}
	return fmt.Errorf("%s lacks %s%s", called(cmd), strings.Join(lacking, " and "), seeHelp(cmd))
}

// exclusive is the annotation of a flag with the flags that exclude each other, by which
// the library knows them.
const exclusive = "cobra_annotation_mutually_exclusive"

// clashingFlags says which flags are set that exclude each other.
func clashingFlags(cmd *cobra.Command) error {
	set := make(map[string][]string) // by group
	var clash []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		for _, group := range f.Annotations[exclusive] {
			if set[group] = append(set[group], "--"+f.Name); len(set[group]) > 1 {
				clash = set[group]
			}
		}
	})
	if clash == nil {
		return nil
	}
	return fmt.Errorf("%s exclude each other: give one of them%s", strings.Join(clash, " and "), seeHelp(cmd))
}

// called is how a command is called, without the name of the program.
func called(cmd *cobra.Command) string {
	_, below, is := strings.Cut(cmd.CommandPath(), " ")
	if !is {
		return cmd.CommandPath()
	}
	return below
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
	text := strings.TrimRight(cmd.Long, " \n")
	if text == "" {
		text = cmd.Short
	}
	text += "\n\n" + cmd.UsageString()
	if width > 0 {
		for _, flags := range []*pflag.FlagSet{cmd.LocalFlags(), cmd.InheritedFlags()} {
			wide, narrow := strings.TrimRight(flags.FlagUsages(), " \n"), strings.TrimRight(flags.FlagUsagesWrapped(width), " \n")
			text = strings.Replace(text, wide, narrow, 1)
		}
	}
	return render.Fit(text, width)
}
