package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// TestColor: what is no terminal is in color only if that is asked for, and never
// where it is not wanted.
func TestColor(t *testing.T) {
	for _, tc := range []struct {
		noColor, force string
		want           bool
	}{
		{"", "", false}, {"", "0", false}, {"", "1", true}, {"1", "1", false},
	} {
		t.Setenv("NO_COLOR", tc.noColor)
		t.Setenv("CLICOLOR_FORCE", tc.force)
		if got := colorful(new(bytes.Buffer)); got != tc.want {
			t.Errorf("NO_COLOR=%q CLICOLOR_FORCE=%q: color is %t", tc.noColor, tc.force, got)
		}
		_, stdout, _ := skewrig(t, "report", "show", "../../docs/examples/report")
		if got := strings.Contains(stdout, "\x1b["); got != tc.want {
			t.Errorf("NO_COLOR=%q CLICOLOR_FORCE=%q: the report is in color: %t", tc.noColor, tc.force, got)
		}
	}
}

// progressOf returns the progress messages of a cell, with flags.
func progressOf(t *testing.T, flags ...string) string {
	t.Helper()
	var text bytes.Buffer
	cell := plan.Cell{ID: "mine/pods/web", Steps: []plan.Step{
		{Number: 2, Action: action.Stop{Component: "kubelet/node-a"}},
		{Number: 3, Action: action.Stop{Component: "kube-scheduler"}},
	}}
	root := &cobra.Command{Use: "root"}
	registerLevel(root)
	root.AddCommand(&cobra.Command{Use: "run", Run: func(cmd *cobra.Command, _ []string) {
		p := newProgress(news(cmd))
		tell := tellCells(cmd, p, app.NewForecast([]plan.Cell{cell}, app.Options{Dir: t.TempDir()}))
		tell(engine.Progress{Cell: cell})
		tell(engine.Progress{Cell: cell, Step: &cell.Steps[0]})
		tell(engine.Progress{Cell: cell, Result: &reports.Cell{ID: cell.ID, Outcome: reports.Pass, DurationSeconds: 12.34}})
		p.close()
	}})
	root.SetErr(&text)
	root.SetArgs(append([]string{"run"}, flags...))
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// TestProgressWithoutATerminal checks that progress is a line for each cell, as in the log of CI.
func TestProgressWithoutATerminal(t *testing.T) {
	t.Parallel()
	const line = "[1/1] pass              12.3s  mine/pods/web\n"
	if got := progressOf(t); got != line {
		t.Errorf("progress %q", got)
	}
	if got := progressOf(t, "-q"); got != "" {
		t.Errorf("quiet progress %q", got)
	}
	want := "mine/pods/web: starting its cluster\nmine/pods/web: step 2 of 3: stop kubelet/node-a\n" + line
	if got := progressOf(t, "--verbose"); got != want {
		t.Errorf("verbose progress:\n%swant:\n%s", got, want)
	}
}

func TestQuietAndVerboseExcludeEachOther(t *testing.T) {
	t.Parallel()
	code, _, stderr := skewrig(t, "list", "-q", "-v")
	if code != exitUsage || !strings.Contains(stderr, "[quiet verbose] were all set") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// openTerminal opens a terminal of 24 lines: what a program writes to, and where its
// reader sees it.
func openTerminal(t *testing.T) (program, reader *os.File) {
	t.Helper()
	reader, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reader.Close() })
	fd := int(reader.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	err = errors.Join(err, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0), unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 120}))
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return program, reader
}

func TestADumbTerminalIsNone(t *testing.T) {
	program, _ := openTerminal(t)
	t.Setenv("NO_COLOR", "")
	t.Setenv("CLICOLOR_FORCE", "")
	for _, tc := range []struct {
		term, noColor   string
		terminal, color bool
	}{
		{"xterm", "", true, true}, {"xterm", "1", true, false}, {"dumb", "", false, false},
	} {
		t.Setenv("TERM", tc.term)
		t.Setenv("NO_COLOR", tc.noColor)
		if isTerminal(program) != tc.terminal || colorful(program) != tc.color {
			t.Errorf("TERM=%s NO_COLOR=%s: a terminal is %t, color %t", tc.term, tc.noColor, isTerminal(program), colorful(program))
		}
	}
}

// TestProgressOnATerminal: what is at work with its step, and below it how far the
// run has come. Lines of what is done go above.
func TestProgressOnATerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	program, reader := openTerminal(t)
	cell := plan.Cell{ID: "mine/pods/web", Steps: []plan.Step{{Number: 1, Action: action.Stop{Component: "kubelet/node-a"}}}}
	cmd := &cobra.Command{}
	cmd.SetErr(program)
	elsewhere := &cobra.Command{}
	elsewhere.SetErr(io.Discard)
	if tellsEachCell(cmd) || !tellsEachCell(elsewhere) {
		t.Error("each cell has its line on a terminal, or none elsewhere")
	}
	p := newProgress(news(cmd))
	tell := tellCells(cmd, p, app.NewForecast([]plan.Cell{cell, {ID: "mine/pods/db"}}, app.Options{Dir: t.TempDir()}))
	tell(engine.Progress{Cell: cell})
	tell(engine.Progress{Cell: cell, Step: &cell.Steps[0]})
	seen := ""
	await := func(texts ...string) {
		t.Helper()
		buffer := make([]byte, 1<<12)
		for slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(seen, text) }) {
			n, err := reader.Read(buffer)
			if err != nil {
				t.Fatalf("%v; not all of %q is in %q", err, texts, seen)
			}
			seen += string(buffer[:n])
		}
	}
	await("mine/pods/web  step 1 of 1: stop kubelet/node-a", "0 of 2 cells, 1 running")
	tell(engine.Progress{Cell: cell, Result: &reports.Cell{ID: cell.ID, Outcome: reports.Fail}})
	await("1 of 2 cells, 1 failed, a few seconds left")
	if strings.Contains(seen, "[1/2]") {
		t.Errorf("the report lists each cell, and so did the progress: %q", seen)
	}
	p.close()
}

// TestUpPrints: the table for people, and the same for programs.
func TestUpPrints(t *testing.T) {
	t.Parallel()
	is := started{Kubeconfig: "/k", Components: []startedComponent{{record.Component{Name: "kubelet/node-a", Version: "v1.89.3", Gates: map[string]bool{"A": true}}, 7}}}
	var text, object bytes.Buffer
	if printStarted(&text, is); !strings.Contains(text.String(), "kubelet/node-a  v1.89.3  A=true") || !strings.Contains(text.String(), "KUBECONFIG=/k") {
		t.Errorf("text:\n%s", &text)
	}
	if err := printJSON(&object, is); err != nil || !strings.Contains(object.String(), `"pid": 7`) || strings.Contains(object.String(), "seedKubeconfig") {
		t.Errorf("error %v, JSON:\n%s", err, &object)
	}
}

// readTerminal returns what a program writes to a terminal until it closes it.
func readTerminal(t *testing.T, write func(*os.File)) string {
	t.Helper()
	program, reader := openTerminal(t)
	var seen bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(&seen, reader) // the end of a terminal is an error
	}()
	write(program)
	if err := program.Close(); err != nil {
		t.Fatal(err)
	}
	<-done
	return strings.ReplaceAll(seen.String(), "\r\n", "\n")
}

// TestColumns: what a command prints fits the terminal that it is on, and is as it is
// elsewhere.
func TestColumns(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "1")
	for _, args := range [][]string{
		{"list", "kep-4939"}, {"report", "../../docs/examples/report"}, {"report", "../../docs/examples/report", "mine"}, {"plan", "kep-4939/skew"},
		{"diff", "../../docs/examples/report", "testdata/known-bug"},
	} {
		text := readTerminal(t, func(terminal *os.File) {
			var stderr bytes.Buffer
			if code := run(t.Context(), args, terminal, &stderr); code == exitUsage {
				t.Errorf("%v: %s", args, &stderr)
			}
		})
		lines := 0
		for line := range strings.Lines(text) {
			lines++
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 120 {
				t.Errorf("%v: a line has %d characters on a terminal of 120: %s", args, n, line)
			}
		}
		if _, piped, _ := skewrig(t, args...); lines == 0 || strings.Join(strings.Fields(text), "") != strings.Join(strings.Fields(piped), "") {
			t.Errorf("%v prints something else to a pipe:\n%s\nthan to a terminal:\n%s", args, piped, text)
		}
	}
	if columns(new(bytes.Buffer)) != 0 {
		t.Error("a buffer has columns")
	}
}

// TestReportPrintsCells that patterns select.
func TestReportPrintsCells(t *testing.T) {
	t.Parallel()
	const dir = "../../docs/examples/report"
	for _, tc := range []struct {
		args   []string
		code   int
		want   string // on standard output, or on standard error
		absent string
	}{
		{[]string{"mine/payments/older-kubelet"}, 0, "check stays-up: new", "mine/payments/upgrade"},
		{[]string{"mine"}, 0, "  mine/payments/upgrade\n    check stays-up: pass\n", "REPRODUCED"},
		{[]string{"yours"}, exitUsage, "the areas are mine", "check"},
		{[]string{"mine", "-o", "json"}, exitUsage, "leave out the patterns mine", "check"},
	} {
		code, stdout, stderr := skewrig(t, append([]string{"report", "show", "-f", dir}, tc.args...)...)
		if all := stdout + stderr; code != tc.code || !strings.Contains(all, tc.want) || strings.Contains(all, tc.absent) {
			t.Errorf("%v: exit code %d, want %d and %q but not %q in\n%s", tc.args, code, tc.code, tc.want, tc.absent, all)
		}
	}
}

// TestFindingsSayWhatWasObserved in words, in each format that has room for it.
func TestFindingsSayWhatWasObserved(t *testing.T) {
	t.Parallel()
	const dir = "../../docs/examples/report"
	said := regexp.MustCompile(`Restarts of container payments/app was 1 at [\d.]+ s; expected: 0, for 20 s from [\d.]+ s\.`)
	for _, args := range [][]string{
		{"report", "findings", "--report", dir, "-o", "json"}, {"report", "findings", "-f", dir, "-o", "markdown"}, {"report", "issue", "-f", dir},
	} {
		if code, stdout, stderr := skewrig(t, args...); code != 0 || !said.MatchString(stdout) {
			t.Errorf("%v: exit code %d, %s is not in\n%s%s", args, code, said, stdout, stderr)
		}
	}
}

// TestFindingPrintsItsEvidence when it is named.
func TestFindingPrintsItsEvidence(t *testing.T) {
	t.Parallel()
	_, all, err := app.Findings("../../docs/examples/report", "")
	if err != nil || len(all) == 0 {
		t.Fatalf("%d findings, %v", len(all), err)
	}
	f := all[0]
	code, stdout, stderr := skewrig(t, "report", "findings", f.ID, "--report", "../../docs/examples/report")
	for _, want := range []string{f.ID, f.Headline, f.Observed[0].Cell, f.Observed[0].Observed, "  observed     Restarts of container payments/app was 1 at ", "  again        skewrig run"} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("exit code %d: %q is not in\n%s%s", code, want, stdout, stderr)
		}
	}
}
