package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// commandsIn are the commands of a shell script, each as its words. A pattern that
// the shell would take for its own is an error.
func commandsIn(script string) (commands [][]string, err error) {
	file, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, err
	}
	var problems []error
	syntax.Walk(file, func(node syntax.Node) bool {
		call, is := node.(*syntax.CallExpr)
		if !is {
			return true
		}
		var words []string
		for _, arg := range call.Args {
			words = append(words, wordOf(arg))
			if lit := arg.Lit(); strings.HasSuffix(words[0], "skewrig") && strings.ContainsAny(lit, "*?[") {
				problems = append(problems, fmt.Errorf("%s is not quoted: a shell may replace it", lit))
			}
		}
		if len(words) > 0 && words[0] == "sudo" {
			words = words[1:]
		}
		commands = append(commands, words)
		return true
	})
	return commands, errors.Join(problems...)
}

// wordOf is a word without its quotes. What a shell would put in stays as it is
// written.
func wordOf(word *syntax.Word) string {
	var b strings.Builder
	var add func([]syntax.WordPart)
	add = func(parts []syntax.WordPart) {
		for _, part := range parts {
			switch part := part.(type) {
			case *syntax.Lit:
				b.WriteString(part.Value)
			case *syntax.SglQuoted:
				b.WriteString(part.Value)
			case *syntax.DblQuoted:
				add(part.Parts)
			default:
				_ = syntax.NewPrinter().Print(&b, part) // to memory
			}
		}
	}
	add(word.Parts)
	return b.String()
}

// checker knows what the commands in our pages can name.
type checker struct {
	cells   []plan.Cell
	targets []string // of the Makefile
	// anyFile is set where files are a user's own, and need not be there.
	anyFile bool
}

// checkScript checks the commands of a script, as far as they are ours.
func (c checker) checkScript(script string) error {
	commands, err := commandsIn(script)
	problems := []error{err}
	for _, words := range commands {
		if len(words) == 0 {
			continue
		}
		if err := c.check(words); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", strings.Join(words, " "), err))
		}
	}
	return errors.Join(problems...)
}

func (c checker) check(words []string) error {
	switch words[0] {
	case "skewrig", "bin/skewrig":
		return c.skewrig(words[1:])
	case "make":
		return c.make(words[1:])
	case "go":
		return c.packages(words[1:])
	default:
		return nil // not ours
	}
}

// skewrig checks a command line against the command tree, without running it.
func (c checker) skewrig(args []string) error {
	root := newRoot()
	args, _ = renamed(root, args)
	root.InitDefaultCompletionCmd(args...)
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	args = cmd.Flags().Args()
	if err := errors.Join(cmd.ValidateArgs(args), cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups()); err != nil {
		return err
	}
	for _, flag := range []string{"scenario", "known-deviations"} {
		if f := cmd.Flags().Lookup(flag); f != nil && f.Changed {
			err = errors.Join(err, c.file(f.Value.String()))
		}
	}
	positions := parseUsage(cmd.Use)
	if slices.Contains(namesAt(positions, 0), "PATTERN") && slices.ContainsFunc(args, app.IsFile) {
		return errors.Join(err, c.ofFiles(args))
	}
	for i, arg := range args {
		err = errors.Join(err, c.argument(namesAt(positions, i), arg))
	}
	return err
}

// ofFiles checks files and the patterns that choose of their cells.
func (c checker) ofFiles(args []string) error {
	if c.anyFile {
		return nil
	}
	_, err := app.Select(args)
	return err
}

// argument checks an argument by what the usage line calls it.
func (c checker) argument(names []string, arg string) error {
	is := func(name string) bool { return slices.Contains(names, name) }
	switch {
	case is("COMPONENT@RELEASE"):
		_, err := build.ParseTargets(arg, release.Releases{})
		return err
	case app.IsFile(arg) && is("CELL") && !c.anyFile:
		_, err := (app.Catalog{}).UpCell(io.Discard, []string{arg}) // the file may be kind's
		return err
	case app.IsFile(arg):
		return c.file(arg)
	case is("PATTERN") || is("CELL"):
		_, err := plan.Match(c.cells, []string{arg})
		return err
	default:
		return nil
	}
}

func (c checker) file(path string) error {
	if c.anyFile {
		return nil
	}
	_, err := os.Stat(path)
	return err
}

func (c checker) make(args []string) error {
	for _, arg := range args {
		if !strings.Contains(arg, "=") && !slices.Contains(c.targets, arg) {
			return fmt.Errorf("the Makefile has no target %s", arg)
		}
	}
	return nil
}

// packages checks that directories that a go command names are there.
func (c checker) packages(args []string) error {
	for _, arg := range args {
		if dir := strings.TrimSuffix(arg, "/..."); strings.HasPrefix(arg, "./") && dir != "./that/package" {
			if _, err := os.Stat(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// makeTargets are the targets of a Makefile.
func makeTargets(text string) (targets []string) {
	for _, found := range regexp.MustCompile(`(?m)^([a-z]+):`).FindAllStringSubmatch(text, -1) {
		targets = append(targets, found[1])
	}
	return targets
}

// checkLink checks that a file that a page links to is there.
func checkLink(page, target string) error {
	if strings.Contains(target, "://") {
		return nil
	}
	path, anchor, _ := strings.Cut(target, "#")
	if path = filepath.Join(filepath.Dir(page), path); strings.HasPrefix(target, "#") {
		path = page
	}
	if anchor == "" || filepath.Ext(path) != ".md" {
		_, err := os.Stat(path)
		return err
	}
	text, err := os.ReadFile(path)
	if err == nil && !hasAnchor(string(text), anchor) {
		err = fmt.Errorf("%s has no heading for #%s", path, anchor)
	}
	return err
}

// notInAnchors is what GitHub leaves out of the anchor of a heading.
var notInAnchors = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)

// hasAnchor reports whether a page has a heading, or a mark, of an anchor.
func hasAnchor(text, anchor string) bool {
	if strings.Contains(text, `<a id="`+anchor+`">`) {
		return true
	}
	for line := range strings.Lines(text) {
		if heading := strings.TrimLeft(line, "#"); heading != line &&
			strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), ""), " ", "-") == anchor {
			return true
		}
	}
	return false
}

// TestLinksToHeadings: a link leads to a heading that there is.
func TestLinksToHeadings(t *testing.T) {
	t.Chdir(root)
	if err := checkLink("docs/README.md", "start.md#install"); err != nil {
		t.Error(err)
	}
	if err := checkLink("docs/reproduce.md", "../README.md#what-is-real-and-what-is-fake"); err == nil {
		t.Error("a heading that is gone is found")
	}
}
