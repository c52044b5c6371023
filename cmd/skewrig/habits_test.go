package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestHabits: each names a command that exists, with flags that it has, and is typed as no command is.
func TestHabits(t *testing.T) {
	t.Parallel()
	for _, h := range habits {
		for _, typed := range h.typed {
			words := strings.Fields(h.below + " " + typed)
			if cmd, rest, err := newRoot().Find(words); err == nil && len(rest) < len(strings.Fields(typed)) {
				t.Errorf("%s is a command: %s", typed, cmd.CommandPath())
			}
			if now, notices := renamed(newRoot(), words); len(notices) > 0 {
				t.Errorf("%s %s is read as %v", h.below, typed, now)
			}
			if found := habitOf(h.below, strings.Fields(typed)); !slices.Equal(found, h.commands) {
				t.Errorf("%s %s: an earlier one says %v", h.below, typed, found)
			}
		}
		for _, c := range h.commands {
			cmd, rest, err := newRoot().Find(strings.Fields(c.command))
			if err != nil || !cmd.HasParent() {
				t.Errorf("skewrig %s: %v", c.command, err)
			} else if err := cmd.ParseFlags(rest); err != nil {
				t.Errorf("skewrig %s: %v", c.command, err)
			}
		}
	}
}

// TestFlagHabits: a command answers each, and has no such flag.
func TestFlagHabits(t *testing.T) {
	t.Parallel()
	for _, h := range flagHabits {
		for _, name := range h.typed {
			answered := false
			for _, cmd := range allBelow(newRoot()) {
				shown := cmd.Flags().Lookup(name)
				if len(name) == 1 {
					shown = cmd.Flags().ShorthandLookup(name)
				}
				answered = answered || h.hint(cmd, name) != "" && (shown == nil || shown.Hidden)
			}
			if !answered {
				t.Errorf("no command answers %s, which needs %s", name, h.needs)
			}
		}
	}
}

// TestExamplesHaveNoOldNames: what help shows works in the next release, too.
func TestExamplesHaveNoOldNames(t *testing.T) {
	t.Parallel()
	for _, cmd := range allBelow(newRoot()) {
		for line := range strings.Lines(cmd.Example) {
			line, _, _ = strings.Cut(line, "#")
			for _, part := range strings.Split(line, "skewrig ")[1:] {
				if _, notices := renamed(newRoot(), strings.Fields(part)); len(notices) > 0 {
					t.Errorf("%s: %q: %v", cmd.CommandPath(), line, notices)
				}
			}
		}
	}
}

func allBelow(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, child := range cmd.Commands() {
		all = append(all, allBelow(child)...)
	}
	return all
}

// TestADirectoryIsNoFinding: who names a report where the id of a finding belongs sees the flag in the error.
func TestADirectoryIsNoFinding(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(root, "docs", "examples", "report")
	if _, err := os.Stat(filepath.Join(dir, "report.json")); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := skewrig(t, "report", "findings", dir)
	if want := "skewrig: " + dir + " is a report, and no finding: did you mean -f " + dir + "?\n"; code != exitUsage || stderr != want {
		t.Errorf("exit code %d, said\n%s\nwant\n%s", code, stderr, want)
	}
}

// TestAGateOfAnotherRelease: for a gate of another release, the error names the releases that have the gate.
func TestAGateOfAnotherRelease(t *testing.T) {
	t.Parallel()
	code, _, stderr := skewrig(t, "gates", "newest", "SidecarContainers")
	if code != exitUsage || !strings.Contains(stderr, "has no feature gate SidecarContainers\nknown releases that have SidecarContainers: v1.") {
		t.Errorf("exit code %d, said\n%s", code, stderr)
	}
}
