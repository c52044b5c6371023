package render

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/evidence"
	"github.com/skewrig/skewrig/reports/finding"
)

// formats are all the renderers, under the names of their golden files.
var formats = map[string]func(io.Writer, reports.Report) error{
	"json": JSON[reports.Report],
	"xml":  JUnit,
	"md":   Markdown,
	"txt": func(w io.Writer, r reports.Report) error {
		return Terminal(w, r, TerminalOptions{Report: "out", Page: "index.html"})
	},
	"80.txt":    onTerminal(80),
	"120.txt":   onTerminal(120),
	"color.txt": func(w io.Writer, r reports.Report) error { return Terminal(w, r, TerminalOptions{Color: true}) },
}

// onTerminal writes a report to a terminal of so many columns.
func onTerminal(width int) func(io.Writer, reports.Report) error {
	return func(w io.Writer, r reports.Report) error {
		return Terminal(w, r, TerminalOptions{Width: width, Report: "out", Page: "index.html"})
	}
}

// extracts are renderers of a part of a report.
var extracts = map[string]func(io.Writer, reports.Report) error{"findings.md": findingsOf}

func findingsOf(w io.Writer, r reports.Report) error {
	return Findings(w, r, finding.All(evidence.Run{Report: r}, nil))
}

func render(t *testing.T, format string, r reports.Report) string {
	t.Helper()
	write := formats[format]
	if write == nil {
		write = extracts[format]
	}
	var out bytes.Buffer
	if err := write(&out, r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func assemble(t *testing.T, cells []reports.Cell, requirements ...reports.Requirement) reports.Report {
	t.Helper()
	r, err := reports.Assemble(cells, requirements, reproduce)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var reproduce = reports.Reproduce{
	Command: "skewrig run 'kep-4939/**' --seed 42 --report-dir out",
	Skewrig: "v0.1.0",
	Go:      "go1.26.8",
	Components: []reports.Component{
		{Name: "kubelet", Version: "v1.89.2", Source: "k8s.io/kubernetes@v1.89.2", Digest: "sha256:" + strings.Repeat("36", 32)},
		{Name: "kubelet", Version: "v1.90.1", Source: "k8s.io/kubernetes@v1.90.1", Digest: "sha256:" + strings.Repeat("37", 32), Go: "go1.27.0"},
		{Name: "kube-apiserver", Version: "v1.90.1", Source: "k8s.io/kubernetes@v1.90.1", Digest: "sha256:" + strings.Repeat("a1", 32)},
	},
	Seed: 42,
	Host: reports.Host{OS: "linux", Arch: "amd64", CPUs: 2, MemoryBytes: 23 << 30, Kernel: "6.1.0"},
}

const (
	dialsTLS  = "KEP-4939/kubelet-dials-tls"
	oldIgnore = "KEP-4939/old-kubelet-ignores-mode"
	obeys     = "KEP-4939/kubelet-obeys-spec"
	rollback  = "KEP-4939/rollback-is-bounded"
)

// leased is a cell with simulated nodes.
func leased(c reports.Cell) reports.Cell {
	c.Leases = []reports.ZoneLeases{{Zone: "a", Nodes: 50, Oldest: []float64{0, 4, 12.5, 40, 3}}, {Zone: "b", Nodes: 1, Oldest: []float64{0}}}
	return c
}

// mixed is a report with a cell of every outcome. The nth run of it saw the same
// at another time.
func mixed(t *testing.T, nth int) reports.Report {
	t.Helper()
	started := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(nth) * time.Minute)
	cell := func(id string, checks ...reports.Check) reports.Cell {
		started = started.Add(10 * time.Second)
		return reports.Cell{ID: "kep-4939/" + id, Scenario: strings.Split(id, "/")[1], KEP: "KEP-4939", Checks: checks,
			Started: started, DurationSeconds: 2.345 * float64(nth)}
	}
	withAxes := cell("skew/tls-only/apiserver:1.90/kubelet:1.89",
		reports.Check{ID: "dialed-plaintext", Requirement: oldIgnore, Outcome: reports.Pass, Expected: "the HTTP/2 preface", Observed: "the HTTP/2 preface"},
		reports.Check{ID: "never-restarted", Requirement: dialsTLS, Outcome: reports.Fail,
			Expected: "no restart in 3 periods", Observed: "4 restarts\nfirst bytes: PRI * HTTP/2.0", Reason: "liveness probe failed"})
	withAxes.Axes = map[string]string{"kubelet": "1.89", "apiserver": "1.90"}
	late := cell("skew/tls-only/apiserver:1.90/kubelet:1.90", reports.Check{ID: "never-restarted", Requirement: dialsTLS, Outcome: reports.Fail})
	untestable := cell("rollback/watchdog")
	untestable.Outcome, untestable.Reason = reports.NotTestable, "dependency-watchdog was not built"
	r := assemble(t, []reports.Cell{
		leased(withAxes),
		late.Overruled(reports.Unknown, "timers fired 480 ms late, 100 ms is the most"),
		leased(cell("skew/plaintext", reports.Check{ID: "never-restarted", Outcome: reports.Pass})),
		cell("skew/known", reports.Check{ID: "bounded-growth", Outcome: reports.ExpectedFail,
			Expected: "at most 2 ReplicaSets", Observed: "55 ReplicaSets", Reason: "hot loop (https://github.com/kubernetes/kubernetes/issues/141961)"}),
		cell("skew/ambiguous", reports.Check{ID: "disabled-is-tls", Requirement: obeys, Outcome: reports.Ambiguous,
			Expected: "the kubelet dials with TLS", Observed: "the HTTP/2 preface",
			Reason: "KEP-4939 contradicts itself: no release can do as both KEP-4939/kubelet-obeys-spec and KEP-4939/disabled-falls-back say"}),
		cell("skew/stale", reports.Check{ID: "bounded-growth", Outcome: reports.UnexpectedPass, Reason: "known.yaml:5:3 lists it as failing"}),
		cell("skew/flaky", reports.Check{ID: "up", Outcome: reports.Flaky, Reason: "failed in 2 of 5 runs"}),
		{ID: "kep-4939/skew/without-field", Scenario: "without-field", KEP: "KEP-4939", Outcome: reports.NotApplicable, Reason: "the field is new in v1.90"},
		untestable,
		{ID: "kep-4939/rollback/gate-off", Scenario: "gate-off", KEP: "KEP-4939", Outcome: reports.HarnessError, Reason: "starting etcd: exit status 1",
			Requirements: []string{rollback}},
	},
		reports.Requirement{ID: dialsTLS, KEP: "KEP-4939", Level: "core", Stage: "alpha", Statement: "With mode TLS the kubelet dials with TLS.",
			Source: "https://github.com/kubernetes/enhancements/blob/15fe6a4/keps/sig-node/4939/README.md#design", Beyond: "the code of kubelets"},
		reports.Requirement{ID: oldIgnore, KEP: "KEP-4939", Level: "core", Stage: "alpha", Statement: "An old kubelet ignores the field.", Source: "README.md"},
		reports.Requirement{ID: obeys, KEP: "KEP-4939", Level: "extended", Stage: "alpha", Statement: "A kubelet obeys the spec, whatever its gate."},
		reports.Requirement{ID: rollback, KEP: "KEP-4939", Level: "extended", Stage: "beta", Statement: "Growth after rollback is bounded."},
		reports.Requirement{ID: "KEP-4939/untested", KEP: "KEP-4939", Level: "provisional", Stage: "stable", Statement: "Nobody has looked yet."},
	)
	r.Problems = []string{"known.yaml:9:3: matches no check of cells kep-9999/** that could have failed: remove the entry, or correct it"}
	return r
}

// reportsUnderTest are the reports that have golden files.
func reportsUnderTest(t *testing.T) map[string]reports.Report {
	t.Helper()
	allPass := reports.Check{ID: "up", Outcome: reports.Pass}
	return map[string]reports.Report{
		"mixed":   mixed(t, 1),
		"hostile": hostile(t),
		"green":   assemble(t, []reports.Cell{{ID: "area/group/one", Checks: []reports.Check{allPass}, DurationSeconds: 61.5}}),
		"empty":   assemble(t, nil),
		"shard":   emptyShard(t),
		"repeat":  repeated(t),
		"known":   recorded(t),
	}
}

func emptyShard(t *testing.T) reports.Report {
	r := assemble(t, nil)
	r.Shard = reports.Shard{Index: 3, Of: 4}
	return r
}

// repeated is a partial report of cells that ran several times.
func repeated(t *testing.T) reports.Report {
	t.Helper()
	join := func(id string, outcomes ...reports.Outcome) reports.Cell {
		var runs []reports.Cell
		for i, o := range outcomes {
			check := reports.Check{ID: "up", Outcome: o, Expected: "no restart", Observed: "no restart"}
			if o == reports.Fail {
				check.Observed = fmt.Sprintf("%d restarts", i)
			}
			run := reports.Cell{ID: "area/group/" + id, Checks: []reports.Check{check}, DurationSeconds: float64(i + 1)}
			runs = append(runs, run.Numbered(i+1))
		}
		return reports.Join(runs...)
	}
	flaky := join("flaky", reports.Pass, reports.Pass, reports.Fail, reports.Pass, reports.Fail)
	flaky.Differs = reports.Difference{Step: 7, Action: "restart kubelet/node-a", Bad: "container default/web/app exited with 137"}
	not := reports.Cell{ID: "area/group/late", Outcome: reports.Unknown, Reason: "not run: the run did not get that far", Unfinished: true}
	r := assemble(t, []reports.Cell{flaky, join("steady", reports.Pass, reports.Pass, reports.Pass), join("broken", reports.Fail, reports.Fail), not})
	r.Partial = "the run was broken off: 1 of 4 cells did not run to their end 5 times"
	return r
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, r := range reportsUnderTest(t) {
		for _, format := range slices.Concat(slices.Collect(maps.Keys(formats)), slices.Collect(maps.Keys(extracts))) {
			t.Run(name+"."+format, func(t *testing.T) {
				t.Parallel()
				got := render(t, format, r)
				golden.Check(t, filepath.Join("testdata", name+"."+format), got)
			})
		}
	}
}

// forPrograms are the formats with outcomes as programs know them, and not in words.
var forPrograms = map[string]bool{"json": true, "xml": true}

func TestEveryOutcomeIsRendered(t *testing.T) {
	t.Parallel()
	r := mixed(t, 1)
	for _, o := range reports.Outcomes() {
		if r.Summary.Outcomes[o] == 0 {
			t.Errorf("no cell of the report is %s", o)
		}
		for format := range formats {
			want := string(o)
			if !forPrograms[format] {
				want = o.Word()
			}
			if !strings.Contains(render(t, format, r), want) {
				t.Errorf("%s does not say %s", format, want)
			}
		}
	}
}

func TestTwoRunsThatSawTheSameAreRenderedTheSame(t *testing.T) {
	t.Parallel()
	first, second := mixed(t, 1), mixed(t, 2)
	for format := range formats {
		if render(t, format, first) == render(t, format, second) {
			t.Errorf("%s does not show times at all: this test proves nothing", format)
		}
		if diff := cmp.Diff(render(t, format, withoutVolatile(mixed(t, 1))), render(t, format, withoutVolatile(mixed(t, 2)))); diff != "" {
			t.Errorf("%s (-first +second):\n%s", format, diff)
		}
		if render(t, format, first) != render(t, format, mixed(t, 1)) {
			t.Errorf("%s is not the same for the same report", format)
		}
	}
}

// withoutVolatile blanks what differs between two runs that saw the same.
func withoutVolatile(r reports.Report) reports.Report {
	r.Reproduce.Host = reports.Host{}
	for i := range r.Cells {
		r.Cells[i].Started, r.Cells[i].DurationSeconds = time.Time{}, 0
		for n := range r.Cells[i].Leases {
			r.Cells[i].Leases[n].Oldest = nil
		}
		for n := range r.Cells[i].Runs {
			r.Cells[i].Runs[n].Started, r.Cells[i].Runs[n].DurationSeconds = time.Time{}, 0
		}
	}
	return r
}

func TestJSONReadsBackAsItWas(t *testing.T) {
	t.Parallel()
	for name, r := range reportsUnderTest(t) {
		got, err := reports.Read(strings.NewReader(render(t, "json", r)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(r, got); diff != "" {
			t.Errorf("%s (-written +read):\n%s", name, diff)
		}
	}
}

// full is a disk without space left.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestAFullDiskIsReported(t *testing.T) {
	t.Parallel()
	for name, format := range formats {
		if err := format(full{}, mixed(t, 1)); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s: error %v, want the write error", name, err)
		}
	}
}

func TestWriteDir(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "out")
	r := mixed(t, 1)
	for range 2 { // the second time replaces the files of the first
		if err := WriteDir(dir, r); err != nil {
			t.Fatal(err)
		}
	}
	for file, format := range map[string]string{JSONFile: "json", JUnitFile: "xml"} {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Mode() != 0o644 {
			t.Errorf("%s: mode %v, %v, want it to be readable by all", file, info.Mode(), err)
		}
		if string(data) != render(t, format, r) {
			t.Errorf("%s is not what the renderer writes", file)
		}
	}
	if names := list(t, dir); !cmp.Equal(names, []string{JUnitFile, JSONFile}) {
		t.Errorf("files %v, want the two reports only", names)
	}
}

func list(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestWriteDirSaysWhichFileFailed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// A directory that is not empty cannot be replaced by a file.
	if err := os.MkdirAll(filepath.Join(dir, JUnitFile, "in-the-way"), 0o755); err != nil {
		t.Fatal(err)
	}
	err := WriteDir(dir, mixed(t, 1))
	if err == nil || !strings.Contains(err.Error(), JUnitFile) || strings.Contains(err.Error(), JSONFile) {
		t.Errorf("error %v, want one about %s only", err, JUnitFile)
	}
	if names := list(t, dir); !cmp.Equal(names, []string{JUnitFile, JSONFile}) {
		t.Errorf("files %v, want the others to be written and no temporary file to be left", names)
	}
	if _, err := os.ReadFile(filepath.Join(dir, JSONFile)); err != nil {
		t.Error(err)
	}
}

func TestWriteDirLeavesTheOldFileWhenTheReportCannotBeEncoded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := WriteDir(dir, mixed(t, 1)); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, JSONFile))
	if err != nil {
		t.Fatal(err)
	}
	err = WriteDir(dir, reports.Report{Cells: []reports.Cell{{ID: "a/b/c", Outcome: "passed"}}})
	if !errors.Is(err, reports.ErrOutcome) || !strings.Contains(err.Error(), JSONFile) {
		t.Errorf("error %v, want one about the outcome and %s", err, JSONFile)
	}
	after, err := os.ReadFile(filepath.Join(dir, JSONFile))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the old %s was changed, %v", JSONFile, err)
	}
}

func TestWriteDirReportsADirectoryThatCannotBeMade(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteDir(filepath.Join(file, "out"), mixed(t, 1)); err == nil || !strings.Contains(err.Error(), "making the report directory") {
		t.Errorf("error %v, want one about the directory", err)
	}
}
