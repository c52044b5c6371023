package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// run returns what a run with every kind of outcome hands to Assemble, in no
// order. Durations and host differ from one call to the next.
func run(nth int) ([]Cell, []Requirement, Reproduce) {
	started := time.Date(2026, 1, 2, 3, 4, 5, 678_912_345, time.FixedZone("", 3600)).Add(time.Duration(nth) * time.Hour)
	cell := func(id string, checks ...Check) Cell {
		return Cell{ID: id, Scenario: "tls-only", KEP: "KEP-4939", Checks: checks, Started: started, DurationSeconds: 1.23456 * float64(nth)}
	}
	late := cell("kep-4939/skew/late", Check{ID: "up", Requirement: "R-1", Outcome: Pass})
	late.Outcome, late.Reason = Unknown, "80 ms late"
	old := Cell{ID: "kep-4939/skew/old", Outcome: NotApplicable, Reason: "needs v1.90", Requirements: []string{"R-2"}}
	broken := cell("kep-4939/skew/broken")
	broken.Outcome, broken.Reason, broken.Requirements = HarnessError, "etcd died", []string{"R-2"}
	cells := []Cell{
		cell("kep-4939/skew/z", Check{ID: "up", Requirement: "R-1", Outcome: Pass}, Check{ID: "down", Requirement: "R-2", Outcome: Fail, Expected: "0", Observed: "7"}),
		late, old, broken,
		cell("kep-4939/skew/a", Check{ID: "up", Outcome: ExpectedFail, Reason: "known (https://example.com)"}),
		cell("kep-4939/skew/nothing"),
	}
	cells[0].Axes = map[string]string{"kubelet": "1.89", "apiserver": "1.90"}
	requirements := []Requirement{{ID: "R-3", KEP: "KEP-4939"}, {ID: "R-1", KEP: "KEP-4939"}, {ID: "R-2", KEP: "KEP-4939"}}
	reproduce := Reproduce{
		Command:    "skewrig run",
		Components: []Component{{Name: "kubelet", Version: "v1.90.1"}, {Name: "etcd", Version: "3.6.5"}, {Name: "kubelet", Version: "v1.89.2"}},
		Seed:       42,
		Host:       Host{OS: "linux", CPUs: nth},
	}
	return cells, requirements, reproduce
}

func assemble(t *testing.T, nth int) Report {
	t.Helper()
	r, err := Assemble(run(nth))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAssembleComputesAndSorts(t *testing.T) {
	t.Parallel()
	r := assemble(t, 1)

	type line struct {
		ID      string
		Outcome Outcome
		Reason  string
	}
	var got []line
	for _, c := range r.Cells {
		got = append(got, line{c.ID, c.Outcome, c.Reason})
	}
	want := []line{
		{"kep-4939/skew/a", ExpectedFail, "up: known (https://example.com)"},
		{"kep-4939/skew/broken", HarnessError, "etcd died"},
		{"kep-4939/skew/late", Unknown, "80 ms late"},
		{"kep-4939/skew/nothing", Unknown, "no check was judged"},
		{"kep-4939/skew/old", NotApplicable, "needs v1.90"},
		{"kep-4939/skew/z", Fail, "down: expected 0, observed 7"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
	wantRequirements := []Requirement{
		{ID: "R-1", KEP: "KEP-4939", Outcome: Unknown, Cells: []string{"kep-4939/skew/late", "kep-4939/skew/z"}},
		{ID: "R-2", KEP: "KEP-4939", Outcome: Fail, Cells: []string{"kep-4939/skew/broken", "kep-4939/skew/old", "kep-4939/skew/z"}},
		{ID: "R-3", KEP: "KEP-4939", Outcome: Unknown, Cells: []string{}},
	}
	if diff := cmp.Diff(wantRequirements, r.Requirements); diff != "" {
		t.Errorf("requirements (-want +got):\n%s", diff)
	}
	wantSummary := Summary{Cells: 6, Outcomes: map[Outcome]int{
		Pass: 0, Fail: 1, Ambiguous: 0, ExpectedFail: 1, UnexpectedPass: 0, Flaky: 0, NotApplicable: 1, NotTestable: 0, HarnessError: 1, Unknown: 2,
	}}
	if diff := cmp.Diff(wantSummary, r.Summary); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	wantComponents := []Component{{Name: "etcd", Version: "3.6.5"}, {Name: "kubelet", Version: "v1.89.2"}, {Name: "kubelet", Version: "v1.90.1"}}
	if diff := cmp.Diff(wantComponents, r.Reproduce.Components); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
	z := r.Cells[5]
	if got := z.Started.Format(time.RFC3339Nano); got != "2026-01-02T03:04:05.679Z" || z.DurationSeconds != 1.235 {
		t.Errorf("started %s, took %v s, want both to the millisecond and UTC", got, z.DurationSeconds)
	}
}

func TestAssembleChangesNoArgument(t *testing.T) {
	t.Parallel()
	cells, requirements, reproduce := run(1)
	if _, err := Assemble(cells, requirements, reproduce); err != nil {
		t.Fatal(err)
	}
	wantCells, wantRequirements, wantReproduce := run(1)
	if diff := cmp.Diff([]any{wantCells, wantRequirements, wantReproduce}, []any{cells, requirements, reproduce}); diff != "" {
		t.Errorf("arguments (-before +after):\n%s", diff)
	}
}

func TestAssembleNamesEverythingThatIsWrong(t *testing.T) {
	t.Parallel()
	good := "kep-4939/skew/a"
	_, err := Assemble(
		[]Cell{
			{ID: good, Requirements: []string{"R-8"}, Checks: []Check{
				{ID: "up", Requirement: "R-9", Outcome: Pass}, {ID: "up", Outcome: Fail}, {ID: "a b", Outcome: "passed"}}},
			{ID: good, DurationSeconds: -1},
			{ID: "../../etc", Outcome: "skipped", DurationSeconds: math.NaN()},
		},
		[]Requirement{{ID: "R-1"}, {ID: "R-1"}, {KEP: "KEP-1"}},
		Reproduce{})
	for _, sentinel := range []error{ErrDuplicate, ErrUnknownRequirement, ErrOutcome} {
		if !errors.Is(err, sentinel) {
			t.Errorf("the error does not wrap %q", sentinel)
		}
	}
	want := `requirement R-1: used twice
a requirement of KEP-1 has no id: ""
cell kep-4939/skew/a: requirement "R-8": not in the ledger
cell kep-4939/skew/a: check up: requirement "R-9": not in the ledger
cell kep-4939/skew/a: check up: used twice
cell kep-4939/skew/a: check: malformed id "a b": ' ' is not allowed in it
cell kep-4939/skew/a: check a b: "passed": not an outcome
cell kep-4939/skew/a: used twice
cell kep-4939/skew/a: -1 s is not a duration
cell: malformed id "../../etc": a segment begins with '.'
cell ../../etc: "skipped": not an outcome
cell ../../etc: NaN s is not a duration`
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(err.Error(), "\n")); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

func TestTwoRunsThatSawTheSameDifferOnlyInVolatileFields(t *testing.T) {
	t.Parallel()
	first, second := assemble(t, 1), assemble(t, 2)
	if cmp.Equal(first, second) {
		t.Fatal("the two runs do not differ at all: this test proves nothing")
	}
	if diff := cmp.Diff(first.withoutVolatile(), second.withoutVolatile()); diff != "" {
		t.Errorf("stable fields (-first +second):\n%s", diff)
	}
	stable := first.withoutVolatile()
	stable.Cells[5].Checks[0].Outcome, stable.Cells[5].Axes["kubelet"] = Flaky, "1.87"
	stable.Requirements[0].Cells[0], stable.Summary.Outcomes[Pass] = "elsewhere", 7
	if diff := cmp.Diff(assemble(t, 1), first); diff != "" {
		t.Errorf("changing the copy changed the report (-before +after):\n%s", diff)
	}
	if first.Cells[5].DurationSeconds == 0 || first.Reproduce.Host.CPUs == 0 {
		t.Error("withoutVolatile changed its receiver")
	}
}

// TestOnlyVolatileFieldsAreBlanked changes one leaf of a report at a time, and
// expects withoutVolatile to hide the change exactly where it should.
func TestOnlyVolatileFieldsAreBlanked(t *testing.T) {
	t.Parallel()
	volatile := []string{"Reproduce.Host.OS", "Reproduce.Host.Arch", "Reproduce.Host.CPUs", "Reproduce.Host.MemoryBytes",
		"Reproduce.Host.Kernel", "Cells.Started", "Cells.Compared.Distinctions.At", "Cells.Leases.Oldest", "Cells.DurationSeconds", "Cells.Runs.Started", "Cells.Runs.DurationSeconds"}
	full := func() Report {
		return Report{
			Reproduce: Reproduce{Files: []string{""}, Components: []Component{{}}, Sources: []Source{{}}}, Problems: []string{""}, MissingShards: []Shard{{}}, Requirements: []Requirement{{Cells: []string{""}, Contradicts: []string{"KEP-1/other"}, Lines: []int{1}}}, Findings: []Finding{{At: []string{""}}},
			Cells: []Cell{{StandIns: []string{""}, Requirements: []string{""}, Checks: []Check{{}}, Observed: []Observation{{}}, Compared: Compared{Distinctions: []Distinction{{}}}, Pictures: []string{""}, Leases: []ZoneLeases{{Oldest: []float64{0}}},
				Runs: []Run{{Checks: []Check{{}}}}}},
		}
	}
	base := full()
	var paths []string
	eachLeaf(reflect.ValueOf(&base).Elem(), "", func(path string, _ reflect.Value) { paths = append(paths, path) })
	for i, path := range paths {
		r, n := full(), 0
		eachLeaf(reflect.ValueOf(&r).Elem(), "", func(_ string, v reflect.Value) {
			if n == i {
				change(t, v)
			}
			n++
		})
		hidden := cmp.Equal(full().withoutVolatile(), r.withoutVolatile())
		if hidden != slices.Contains(volatile, path) {
			t.Errorf("%s: hidden %t, want %t", path, hidden, !hidden)
		}
		volatile = slices.DeleteFunc(volatile, func(v string) bool { return v == path })
	}
	if len(volatile) > 0 {
		t.Errorf("there are no fields %v", volatile)
	}
}

func eachLeaf(v reflect.Value, path string, visit func(string, reflect.Value)) {
	switch {
	case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]():
		for i := range v.NumField() {
			eachLeaf(v.Field(i), strings.TrimPrefix(path+"."+v.Type().Field(i).Name, "."), visit)
		}
	case v.Kind() == reflect.Slice:
		eachLeaf(v.Index(0), path, visit)
	default:
		visit(path, v)
	}
}

func change(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString("changed")
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(7)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Map:
		m := reflect.MakeMap(v.Type())
		m.SetMapIndex(reflect.ValueOf("changed").Convert(v.Type().Key()), reflect.Zero(v.Type().Elem()))
		v.Set(m)
	case reflect.Struct:
		v.Set(reflect.ValueOf(time.Unix(7, 0)))
	default:
		t.Fatalf("no way to change a %s", v.Type())
	}
}

func TestAssemblingAgainGivesTheSame(t *testing.T) {
	t.Parallel()
	r := assemble(t, 1)
	again, err := Assemble(r.Cells, r.Requirements, r.Reproduce)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, again); diff != "" {
		t.Errorf("(-once +twice):\n%s", diff)
	}
}

func encode(t *testing.T, r Report) string {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestReadReadsBackWhatWasWritten(t *testing.T) {
	t.Parallel()
	r := assemble(t, 1)
	r.Problems = []string{"known.yaml:3:3: matches nothing"}
	// What a program under test said may be anything.
	r.Cells[5].Checks[0].Observed = "\x1b[2J\u2028</script>\x00"
	got, err := Read(strings.NewReader(encode(t, r)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, got); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}

// TestReadCountsWhatWasNotKnown: a report is older than an outcome.
func TestReadCountsWhatWasNotKnown(t *testing.T) {
	t.Parallel()
	r := assemble(t, 1)
	delete(r.Summary.Outcomes, Ambiguous)
	got, err := Read(strings.NewReader(encode(t, r)))
	if err != nil {
		t.Fatal(err)
	}
	if _, counted := got.Summary.Outcomes[Ambiguous]; !counted || got.Summary.Cells != len(r.Cells) {
		t.Errorf("read %+v", got.Summary)
	}
}

func TestReadAcceptsTextsThatAreNotUTF8(t *testing.T) {
	t.Parallel()
	r, err := Assemble([]Cell{{ID: "a/b/c", Checks: []Check{{ID: "d", Outcome: Fail, Observed: "\xff\xfe"}}}}, nil, Reproduce{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(strings.NewReader(encode(t, r)))
	if err != nil {
		t.Fatal(err)
	}
	if got.Cells[0].Checks[0].Observed != "\ufffd\ufffd" {
		t.Errorf("read back %q", got.Cells[0].Checks[0].Observed)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	good := encode(t, assemble(t, 1))
	for name, tc := range map[string]struct{ old, replacement, want string }{
		"an unknown field":        {`"seed":42`, `"seed":42,"sede":1`, `unknown field "reproduce.sede"`},
		"a field given twice":     {`"seed":42`, `"seed":42,"seed":42`, `duplicate field "reproduce.seed"`},
		"a field in another case": {`"seed":42`, `"Seed":42`, `unknown field "reproduce.Seed"`},
		"a strange outcome":       {`"outcome":"fail"`, `"outcome":"failed"`, `"failed": not an outcome`},
		"no outcome":              {`"outcome":"fail"`, `"outcome":null`, `outcome "", where the checks give "fail"`},
		"a strange kind":          {`"ConformanceReport"`, `"Deployment"`, `kind "Deployment"`},
		"a strange version":       {`"skewrig.dev/v1alpha1"`, `"v1"`, `apiVersion "v1"`},
		"a truncated file":        {`}]}`, ``, `unexpected`},
		"something after it":      {`"kind":"ConformanceReport"`, `"kind":"ConformanceReport"}{"a":1`, `invalid character`},
		"a count typed by hand":   {`"expected-fail":1`, `"expected-fail":2`, `summary`},
		"a verdict typed by hand": {`"outcome":"fail","reason":"down: `, `"outcome":"pass","reason":"down: `, `outcome "pass", where the checks give "fail"`},
		"a reason left out":       {`"reason":"down: expected 0, observed 7"`, `"reason":""`, `reason "", where the checks give "down: expected 0, observed 7"`},
		"a requirement by hand":   {`"outcome":"fail","cells":[`, `"outcome":"pass","cells":[`, `requirement R-2: "pass"`},
		"a serving cell by hand":  {`"cells":["kep-4939/skew/late",`, `"cells":[`, `requirement R-1: its cells are not those of the checks: kep-4939/skew/late`},
		"an unsorted list":        {`"id":"kep-4939/skew/a"`, `"id":"kep-4939/skew/zz"`, `not sorted`},
		"a duplicate":             {`"id":"kep-4939/skew/a"`, `"id":"kep-4939/skew/z"`, `cell kep-4939/skew/z: used twice`},
		"a malformed id":          {`"id":"kep-4939/skew/a"`, `"id":"/kep-4939"`, `empty segment`},
		"a check overruled by hand": {`{"id":"up","requirement":"R-1","outcome":"unknown"`, `{"id":"up","requirement":"R-1","outcome":"pass"`,
			`check up is "pass", where the cell gives "unknown"`},
		"a cell's requirements by hand": {`"requirements":["R-1","R-2"]`, `"requirements":["R-1","R-2","R-3"]`, `requirement R-3`},
		"a requirement taken away":      {`"requirements":["R-1","R-2"]`, `"requirements":["R-1"]`, `where the checks give ["R-1" "R-2"]`},
		"a rate by hand":                {`"axes":{}`, `"axes":{},"rate":{"failed":0,"runs":9,"low":0,"high":0.3}`, `rate 0 of 9 runs`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad := strings.Replace(good, tc.old, tc.replacement, 1)
			if bad == good {
				t.Fatalf("%s is not in the report:\n%s", tc.old, good)
			}
			_, err := Read(strings.NewReader(bad))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one containing %q", err, tc.want)
			}
		})
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("input/output error") }

func TestReadReportsAReadError(t *testing.T) {
	t.Parallel()
	if _, err := Read(brokenReader{}); err == nil || !strings.Contains(err.Error(), "input/output error") {
		t.Errorf("error %v, want the read error", err)
	}
}

func TestAnInvalidOutcomeIsNotWritten(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := json.NewEncoder(&out).Encode(Report{Cells: []Cell{{Outcome: "passed"}}})
	if !errors.Is(err, ErrOutcome) {
		t.Errorf("error %v, want %v", err, ErrOutcome)
	}
}

// withoutVolatile returns a deep copy with the volatile fields zeroed: the
// host, the ages of leases, and when each cell, and each run of one, started and how
// long it took. Two runs that saw the same are equal in what is left.
func (r Report) withoutVolatile() Report {
	r = r.clone()
	r.Reproduce.Host = Host{}
	for i := range r.Cells {
		r.Cells[i].Started = time.Time{}
		for n := range r.Cells[i].Leases {
			r.Cells[i].Leases[n].Oldest = nil
		}
		for n := range r.Cells[i].Compared.Distinctions {
			r.Cells[i].Compared.Distinctions[n].At = 0
		}
		r.Cells[i].DurationSeconds = 0
		for n := range r.Cells[i].Runs {
			r.Cells[i].Runs[n].Started = time.Time{}
			r.Cells[i].Runs[n].DurationSeconds = 0
		}
	}
	return r
}

func (r Report) clone() Report {
	r.Reproduce.Files = slices.Clone(r.Reproduce.Files)
	r.Reproduce.Components = slices.Clone(r.Reproduce.Components)
	r.Summary.Outcomes = maps.Clone(r.Summary.Outcomes)
	r.Problems = slices.Clone(r.Problems)
	r.Cells = slices.Clone(r.Cells)
	for i, c := range r.Cells {
		r.Cells[i] = c.clone()
	}
	r.Requirements = slices.Clone(r.Requirements)
	for i, q := range r.Requirements {
		r.Requirements[i].Cells = slices.Clone(q.Cells)
	}
	return r
}
