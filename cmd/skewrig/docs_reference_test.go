package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skewrig/skewrig/harness/golden"
)

//go:generate go test . -count=1 -run=TestTheCommandReferenceIsCurrent -update

// TestTheCommandReferenceIsCurrent: -update writes it.
func TestTheCommandReferenceIsCurrent(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(root, "docs", "commands")
	want := reference(newRoot())
	for name := range textsOf(t, dir) {
		if _, is := want[name]; !is {
			t.Errorf("docs/commands/%s is of no command: remove it", name)
		}
	}
	for name, text := range want {
		golden.Check(t, filepath.Join(dir, name), text)
	}
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

// subcommands are the documented commands of a command. Those that the library adds
// have their own help.
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
		own, shared := splitFlags(flags)
		fmt.Fprintf(b, "\n## %s\n\n```\n%s```\n", title, own.FlagUsages())
		if shared != "" {
			fmt.Fprintf(b, "%s.\n", strings.Replace(shared, "\n  ", " ", 1))
		}
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
