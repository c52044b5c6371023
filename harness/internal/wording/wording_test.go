// Package wording counts, by directory, the words that make readers stumble: in comments, messages,
// help and pages. The counts are in counts.txt, and may only go down.
package wording

import (
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/internal/texts"
)

// A riddle is a kind of wording, and what to write instead.
type riddle struct {
	name    string
	pattern *regexp.Regexp
	write   string
}

var riddles = []riddle{
	{"pronoun-comment", regexp.MustCompile(`^\s*(?://|#) (?:That|What|Who|Where) [a-z]`), "a subject: the name, then a verb in the present"},
	{"teller", regexp.MustCompile(`\b(?:tells?|told|tellers?|tales?)\b`), "reports, prints, says; event, message, log line"},
	{"nobody", regexp.MustCompile(`\b(?:some|no|any)body\b`), "a client, a user, no client; the passive with an agent"},
	{"blame", regexp.MustCompile(`\bblam(?:e|es|ed|ing)\b`), "at fault, caused by"},
	{"player", regexp.MustCompile(`\bplay(?:s|ed|ers?|ing)?\b`), "mocks, mock; simulates"},
	{"there-is", regexp.MustCompile(`\b(?:that|what) there (?:is|are)\b|\bof yours\b`), "existing; leave it out"},
	{"at-all", regexp.MustCompile(`\bat all\b|\bat the most\b`), "leave it out; at most"},
	{"goes-on", regexp.MustCompile(`\b(?:go|goes|went|going) on\b`), "continues"},
	{"became", regexp.MustCompile(`\bwhat (?:became|becomes) of\b`), "outcome, result"},
	{"implements", regexp.MustCompile(`^// \w+ implements [\w.]+\.$`), "one assertion: var _ I = T{}"},
	{"pronoun-name", regexp.MustCompile(`^func (?:\([^)]*\) )?(?:is|of|told|said|seen|made|kept|there|beside|when|on|by|as|it|that|who|what|whose)\(`), "a verb for an act, a noun for a value"},
}

// excepted are lines that need such a word, by a part of them, with the reason.
var excepted = map[string]string{
	"`run --player-image`":        "an old name of a flag, which docs/changes.md explains",
	"`build player-image`":        "an old name of a command, which docs/changes.md explains",
	"Nobody reported a major bug": "the words of a KEP's criterion in an example",
}

// riddlesIn are the riddles of a text by name, each with the number of the line.
func riddlesIn(name, text string) (found []string) {
	before := ""
	for i, line := range strings.Split(text, "\n") {
		for _, r := range riddles {
			begins := !strings.HasPrefix(strings.TrimSpace(before), "//") && !strings.HasPrefix(strings.TrimSpace(before), "#")
			if !r.pattern.MatchString(line) || r.name == "pronoun-comment" && (!begins || path.Ext(name) == ".md") || isExcepted(line) {
				continue
			}
			found = append(found, fmt.Sprintf("%s:%d: %s: write %s", name, i+1, r.name, r.write))
		}
		before = line
	}
	return found
}

func isExcepted(line string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(excepted)), func(part string) bool { return strings.Contains(line, part) })
}

func TestRiddlesAreFound(t *testing.T) {
	t.Parallel()
	const text = "// What is kept.\n// What follows is one line.\nfunc (c cell) of(x int) {}\n\t// told is Told\nvar a = \"nobody has it\"\n// Cell implements fmt.Stringer.\nfunc office() {}\n"
	var names []string
	for _, found := range riddlesIn("a.go", text) {
		parts := strings.Split(found, ": ")
		names = append(names, strings.TrimPrefix(parts[0], "a.go:")+" "+parts[1])
	}
	if want := []string{"1 pronoun-comment", "3 pronoun-name", "4 teller", "5 nobody", "6 implements"}; !slices.Equal(names, want) {
		t.Errorf("found %q, want %q", names, want)
	}
	if found := riddlesIn("a.md", "# What is real\nNobody reported a major bug, somebody said\n"); len(found) != 0 {
		t.Errorf("found %q", found)
	}
}

// countsFile has a line for each directory below the root: its riddles, and its name.
const countsFile = "counts.txt"

// TestWords: no directory has more riddles than it had, and pages written by hand have none that are
// new. -update writes the present counts, unless there are more in all.
func TestWords(t *testing.T) {
	t.Parallel()
	counts, listed := make(map[string]int), make(map[string][]string)
	extensions := []string{".go", ".md", ".yaml", ".yml", ".html", ".js", ".sh"}
	err := texts.Each(extensions, []string{"testdata", "locks", "commands", "report"}, func(name, text string) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		directory, _, below := strings.Cut(name, "/")
		if !below {
			directory = "."
		}
		found := riddlesIn(name, text)
		counts[directory] += len(found)
		listed[directory] = append(listed[directory], found...)
	})
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]int)
	sum, all := 0, 0
	if text, err := os.ReadFile(countsFile); err == nil {
		for line := range strings.Lines(string(text)) {
			count, directory, _ := strings.Cut(strings.TrimSpace(line), " ")
			n, err := strconv.Atoi(count)
			if err != nil {
				t.Fatalf("%s: %v", countsFile, err)
			}
			known[directory], all = n, all+n
		}
	}
	var text strings.Builder
	for _, directory := range slices.Sorted(maps.Keys(counts)) {
		sum += counts[directory]
		fmt.Fprintf(&text, "%d %s\n", counts[directory], directory)
	}
	if golden.Update() && (sum <= all || all == 0) {
		golden.Write(t, countsFile, text.String())
		return
	}
	for directory, n := range counts {
		if n > known[directory] {
			t.Errorf("%s has %d riddles, and had %d. After a move, go test ./harness/internal/wording -update counts anew. Some of them:\n%s",
				directory, n, known[directory], strings.Join(listed[directory][:min(n, 40)], "\n"))
		}
	}
}
