package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/reports"
)

// TestDocsPrintWhatIsPrinted runs the blocks of console, those of each page on a copy
// of docs.
func TestDocsPrintWhatIsPrinted(t *testing.T) {
	t.Chdir(root)
	texts := make(map[string]string)
	for _, path := range pages(t) {
		texts[path] = readText(t, path)
	}
	origin, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		text := texts[path]
		if !strings.Contains(text, "```console\n") {
			continue
		}
		copied := t.TempDir() // a page may change what it works on
		if err := os.CopyFS(filepath.Join(copied, "docs"), os.DirFS(filepath.Join(origin, "docs"))); err != nil {
			t.Fatal(err)
		}
		if report := filepath.Join(origin, knownBug); strings.Contains(text, commandOf(t, report)) {
			if err := os.CopyFS(filepath.Join(copied, "known-bug"), os.DirFS(report)); err != nil {
				t.Fatal(err)
			}
		}
		t.Chdir(copied)
		for _, f := range parseMarkdown(text).fences {
			if f.language != "console" {
				continue
			}
			ran++
			printed := session(t, f.text)
			if matches(f.text, printed) {
				continue
			}
			current := printed
			if strings.Contains(f.text, "\n...\n") {
				current = releases.ReplaceAllStringFunc(f.text, ofToday)
			}
			if golden.Update() && matches(current, printed) {
				text = strings.Replace(text, f.text, current, 1)
				continue
			}
			t.Errorf("%s:%d: this is what is printed:\n%s", path, f.line, printed)
		}
		if text != texts[path] {
			golden.Write(t, filepath.Join(origin, path), text)
		}
	}
	if ran == 0 {
		t.Error("no page has a block of console")
	}
}

// commandOf is the command that made a saved report. A page that has its reader run it
// has the report where that leaves it.
func commandOf(t *testing.T, dir string) string {
	t.Helper()
	r, err := reports.Read(strings.NewReader(readText(t, filepath.Join(dir, "report.json"))))
	if err != nil {
		t.Fatal(err)
	}
	return r.Reproduce.Command
}

// session is what a terminal shows after the commands of a block.
func session(t *testing.T, block string) string {
	t.Helper()
	var b bytes.Buffer
	code := 0
	for line := range strings.Lines(typed(block)) {
		fmt.Fprintf(&b, "$ %s", line)
		if strings.TrimSpace(line) == "echo $?" {
			fmt.Fprintln(&b, code)
			continue
		}
		commands, err := commandsIn(line)
		if err != nil || len(commands) != 1 || !strings.HasSuffix(commands[0][0], "skewrig") {
			t.Fatalf("a block of console has commands of skewrig, one a line, and not %s", line)
		}
		code = run(t.Context(), commands[0][1:], &b, &b)
	}
	return b.String()
}

// matches reports whether lines are those of a block, in which ... stands for any.
func matches(block, printed string) bool {
	return matchLines(strings.Split(block, "\n"), strings.Split(printed, "\n"))
}

func matchLines(want, have []string) bool {
	switch {
	case len(want) == 0:
		return len(have) == 0
	case want[0] == "...":
		return matchLines(want[1:], have) || len(have) > 0 && matchLines(want, have[1:])
	default:
		return len(have) > 0 && strings.TrimRight(want[0], " ") == strings.TrimRight(have[0], " ") && matchLines(want[1:], have[1:])
	}
}

func TestDotsStandForLines(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		block string
		want  bool
	}{
		{"a\nb\nc\n", true}, {"a\n...\nc\n", true}, {"...\n", true}, {"a\nb\nc\n...\n", true},
		{"a\nc\n", false}, {"a\n...\nb\n", false}, {"", false}, {"a\nb\nc\nd\n", false},
	} {
		if got := matches(tc.block, "a\nb\nc\n"); got != tc.want {
			t.Errorf("%q matches: %t", tc.block, got)
		}
	}
}
