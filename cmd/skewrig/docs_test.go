package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/own"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// What pages say is checked as follows. Paths are from the root of the repository.
//
//   - Each command in a block of sh, behind a $ in a block without a language, and
//     in backquotes within a line, if it is skewrig, make or go: the command and its
//     flags are there, its arguments are what the usage line calls them, patterns
//     match cells, scenario files can be planned.
//   - The commands of a block of console are run, and what they print is compared
//     with the lines below them. A line of ... stands for any lines. `echo $?` prints
//     the exit code of the command before. -update writes these blocks anew.
//   - A block with file=PATH has the text of that file.
//   - Files that are linked to are there.

// root is the root of the repository.
const root = "../.."

// sampleReport is the directory of a saved run that the pages show, and knownBug that of one
// whose command they have the reader run. Its report has the requirements of its cells only.
var (
	sampleReport = filepath.Join("docs", "examples", "report")
	knownBug     = filepath.Join("cmd", "skewrig", "testdata", "known-bug")
)

// pages are the pages whose commands are checked.
func pages(t *testing.T) (paths []string) {
	t.Helper()
	paths = []string{"README.md", "CONTRIBUTING.md"}
	err := filepath.WalkDir("docs", func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && path == sampleReport {
			return fs.SkipDir // that is a run's own
		}
		if strings.HasSuffix(path, ".md") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func newChecker(t *testing.T) checker {
	t.Helper()
	cells, err := catalog.Cells()
	if err != nil {
		t.Fatal(err)
	}
	cells = append(cells, firstCells(t, nil)...)
	cells = append(cells, firstCells(t, []byte(readText(t, "docs/examples/orders/pod.yaml")))...)
	return checker{cells: cells, targets: makeTargets(readText(t, "Makefile"))}
}

// firstCells are those of the catalog that skewrig init makes for a pod.
func firstCells(t *testing.T, pod []byte) []plan.Cell {
	t.Helper()
	files, err := own.First(pod)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		golden.Write(t, filepath.Join(dir, name), string(text))
	}
	first, err := own.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return first.Cells
}

func TestCommandsInTheDocs(t *testing.T) {
	t.Chdir(root)
	check := newChecker(t)
	for _, path := range pages(t) {
		for _, problem := range check.page(path, readText(t, path)) {
			t.Error(problem)
		}
	}
}

var releases = regexp.MustCompile(`\bv1\.\d+\.\d+\b`)

// ofToday is a release as the catalog has it now: another patch release of the same
// minor version.
func ofToday(old string) string {
	now, err := release.Resolve(release.Version(old).MajorMinor())
	if err != nil {
		return old
	}
	return string(now)
}

// page is what is wrong with the commands and links of a page.
func (c checker) page(path, text string) (problems []string) {
	theirs := usersOwn(path, text)
	page := parseMarkdown(text)
	report := func(line int, err error) {
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s:%d: %s", path, line, err))
		}
	}
	for _, f := range page.fences {
		c.anyFile = theirs(f.line)
		switch f.language {
		case "sh":
			report(f.line, c.checkScript(f.text))
		case "", "console":
			report(f.line, c.checkScript(typed(f.text)))
		}
		if f.file != "" {
			report(f.line, same(f.file, f.text))
		}
	}
	for _, s := range page.spans {
		c.anyFile = theirs(s.line)
		report(s.line, c.span(s.text))
	}
	for _, l := range page.links {
		report(l.line, checkLink(path, l.text))
	}
	return problems
}

// usersOwn reports of a line of a page whether its commands have files of the user's: those of the
// command reference, and of the session in an empty directory.
func usersOwn(path, text string) func(line int) bool {
	if strings.HasPrefix(path, filepath.Join("docs", "commands")) {
		return func(int) bool { return true }
	}
	if path != firstMinutes {
		return func(int) bool { return false }
	}
	session, before := sessionIn(text)
	return func(line int) bool { return line > before && line <= before+strings.Count(session, "\n") }
}

// span checks what stands in backquotes within a line, if it is a command of ours.
// One without arguments may only be mentioned, and need not be complete.
func (c checker) span(text string) error {
	words := strings.Fields(strings.TrimPrefix(text, "time "))
	if len(words) == 0 || !slices.Contains([]string{"skewrig", "bin/skewrig", "make", "go"}, words[0]) {
		return nil
	}
	root := newRoot()
	named, _ := renamed(root, words[1:])
	if cmd, rest, err := root.Find(named); strings.HasSuffix(words[0], "skewrig") && err == nil && cmd.HasParent() && len(rest) == 0 {
		return nil
	}
	return c.checkScript(text)
}

// typed are the lines of a block that a user types.
func typed(text string) (script string) {
	for line := range strings.Lines(text) {
		if command, is := strings.CutPrefix(line, "$ "); is {
			script += command
		}
	}
	return script
}

// same reports whether a file has a text.
func same(path, text string) error {
	content, err := os.ReadFile(path)
	if err == nil && string(content) != text {
		err = fmt.Errorf("this is not what %s has", path)
	}
	return err
}

// TestWrongCommandsInDocsAreFound: each of these is an error, and says so.
func TestWrongCommandsInDocsAreFound(t *testing.T) {
	t.Chdir(root)
	check := newChecker(t)
	const examples = "docs/examples/payments/"
	for script, want := range map[string]string{
		"skewrig run --fast":                                  "unknown flag: --fast",
		"skewrig rum":                                         `unknown command "rum"`,
		"skewrig podsapi lisp":                                `unknown command "lisp" for skewrig podsapi`,
		"skewrig run 'kep-4940/**'":                           "matches no cell",
		"skewrig run kep-4939/**":                             "not quoted",
		"skewrig list && skewrig plan nowhere.yaml":           "nowhere.yaml",
		"skewrig plan " + examples + "pod.yaml":               "pod.yaml",
		"skewrig judge report nowhere.yaml":                   "nowhere.yaml",
		"skewrig report merge --report-dir both":              "got 0 arguments",
		"skewrig report report -o pdf":                        `"pdf"`,
		"skewrig build kube-proxy@v1.90.1":                    "kube-proxy",
		"skewrig up nowhere.yaml":                             "nowhere.yaml",
		"skewrig podsapi serve --socket s --scenario no.yaml": "no.yaml",
		"skewrig podsapi serve --socket s":                    "scenario",
		"skewrig list -q -v":                                  "quiet verbose",
		"X=1 sudo bin/skewrig list --fast | head":             "--fast",
		"make coffee":                                         "coffee",
		"go test ./nowhere":                                   "nowhere",
		"skewrig run 'kep":                                    "quote",
	} {
		if err := check.checkScript(script); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", script, err, want)
		}
	}
	page := "See [x](nowhere.md) and `skewrig run --fast`.\n```yaml file=" + examples + "pod.yaml\nkind: Pod\n```\n" +
		"```sh\nskewrig lost\n```\n```\n$ skewrig lost\nunknown\n```\n"
	problems := check.page("docs/page.md", page)
	for i, want := range []string{"docs/page.md:3: this is not what", "docs/page.md:6: skewrig lost", "docs/page.md:9: skewrig lost", "docs/page.md:1: skewrig run --fast", "docs/page.md:1: stat docs/nowhere.md"} {
		if i >= len(problems) || !strings.Contains(problems[i], want) {
			t.Errorf("problem %d is not %q: %q", i, want, problems)
		}
	}
}

func textsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	texts := make(map[string]string)
	for _, f := range files {
		texts[f.Name()] = readText(t, filepath.Join(dir, f.Name()))
	}
	return texts
}

func TestManPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if code, _, stderr := skewrig(t, "docs", "man", dir); code != 0 {
		t.Fatal(stderr)
	}
	if page := textsOf(t, dir)["skewrig-podsapi-check.1"]; !strings.Contains(page, `.TH "SKEWRIG-PODSAPI-CHECK" "1"`) || !strings.Contains(page, "known-deviations") {
		t.Errorf("the page of podsapi check is\n%s", page)
	}
}
