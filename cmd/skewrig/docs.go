package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/skewrig/skewrig/reports/render"
)

//go:generate go run . docs markdown ../../docs/commands

// newDocs makes documentation of the command tree. It is for those who package
// skewrig, and for this repository: it is not listed.
func newDocs() *cobra.Command {
	cmd := &cobra.Command{
		Use: "docs", Short: "Write the documentation of all commands", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "man DIR", Short: "Write man pages, dated by SOURCE_DATE_EPOCH or today", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				if err := os.MkdirAll(args[0], 0o755); err != nil {
					return err
				}
				root := cmd.Root()
				root.DisableAutoGenTag = true
				return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "skewrig " + root.Version, Manual: "skewrig"}, args[0])
			},
		},
		&cobra.Command{
			Use: "markdown DIR", Short: "Write the command reference, a page for each command", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				if err := os.MkdirAll(args[0], 0o755); err != nil {
					return err
				}
				for name, text := range reference(cmd.Root()) {
					if err := render.WriteFile(args[0], name, []byte(text)); err != nil {
						return err
					}
				}
				return nil
			},
		},
	)
	return cmd
}

// reference is the command reference: the text of each page by the name of its
// file. The page of the root is README.md.
func reference(root *cobra.Command) map[string]string {
	pages := make(map[string]string)
	var write func(*cobra.Command)
	write = func(cmd *cobra.Command) {
		pages[pageName(cmd)] = commandPage(cmd)
		for _, child := range subcommands(cmd) {
			write(child)
		}
	}
	write(root)
	return pages
}

// subcommands are the commands of a command that people are told about. Those that the
// library adds have their own help.
func subcommands(cmd *cobra.Command) (children []*cobra.Command) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Name() != "completion" {
			children = append(children, c)
		}
	}
	return children
}

func pageName(cmd *cobra.Command) string {
	_, path, isChild := strings.Cut(cmd.CommandPath(), " ")
	if !isChild {
		return "README.md"
	}
	return strings.ReplaceAll(path, " ", "_") + ".md"
}

func commandPage(cmd *cobra.Command) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!-- Made by make generate. -->\n\n# %s\n\n%s.\n", cmd.CommandPath(), plain(cmd.Short))
	if cmd.Long != "" {
		fmt.Fprintf(&b, "\n%s\n", plain(cmd.Long))
	}
	if takesArgs := strings.Contains(cmd.Use, " "); cmd.Runnable() && (takesArgs || len(subcommands(cmd)) == 0) {
		fmt.Fprintf(&b, "\n```\n%s\n```\n", cmd.UseLine())
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\n## Examples\n\n```sh\n%s\n```\n", unindented(cmd.Example))
	}
	if children := subcommands(cmd); len(children) > 0 {
		fmt.Fprint(&b, "\n## Commands\n\n")
		for _, c := range children {
			fmt.Fprintf(&b, "- [%s](%s): %s\n", c.CommandPath(), pageName(c), plain(c.Short))
		}
	}
	writeFlags(&b, "Flags", cmd.NonInheritedFlags())
	writeFlags(&b, "Flags of all commands", cmd.InheritedFlags())
	return b.String()
}

func writeFlags(b *bytes.Buffer, title string, flags *pflag.FlagSet) {
	if flags.HasAvailableFlags() {
		fmt.Fprintf(b, "\n## %s\n\n```\n%s```\n", title, flags.FlagUsages())
	}
}

// plain is text in which Markdown sees no markup.
func plain(text string) string {
	return strings.NewReplacer("*", `\*`, "_", `\_`, "<", `\<`, "[", `\[`, "`", "\\`").Replace(text)
}

// unindented is an example without the two spaces that a help text has before it.
func unindented(example string) string {
	lines := strings.Split(example, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "  ")
	}
	return strings.Join(lines, "\n")
}
