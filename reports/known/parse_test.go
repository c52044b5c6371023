package known

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/reports/cellid"
)

func TestLoadReadsEveryField(t *testing.T) {
	t.Parallel()
	list, err := Load("testdata/valid.yaml")
	if err != nil {
		t.Fatal(err)
	}
	pattern := func(text string) cellid.Pattern {
		p, err := cellid.Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	want := List{Deviations: []Deviation{{
		Cells:       pattern("kep-4939/skew/**"),
		Checks:      Patterns{pattern("never-restarted"), pattern("dialed-*")},
		Requirement: "KEP-4939/old-kubelet-ignores-mode",
		Releases:    Releases{Axis: "kubelet", Range: release.Range{{Operator: "<", Value: "1.37"}}},
		Reason:      "kubelets before v1.37 do not know the field",
		Link:        "https://github.com/kubernetes/kubernetes/issues/1",
		At:          strict.Position{File: "testdata/valid.yaml", Line: 5, Column: 3},
	}, {
		Cells:  pattern("kep-4939/rollback/**"),
		Checks: Patterns{pattern("bounded-growth")},
		Reason: "the controller and the apiserver disagree about the template",
		Link:   "https://github.com/kubernetes/kubernetes/issues/141961",
		At:     strict.Position{File: "testdata/valid.yaml", Line: 11, Column: 3},
	}}}
	if diff := cmp.Diff(want, list, cmp.Comparer(func(a, b cellid.Pattern) bool { return a.String() == b.String() })); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

func TestLoadNamesEverythingThatIsWrong(t *testing.T) {
	t.Parallel()
	_, err := Load("testdata/invalid.yaml")
	if err == nil {
		t.Fatal("no error")
	}
	if _, ok := errors.AsType[*strict.Errors](err); !ok {
		t.Errorf("the error is a %T", err)
	}
	golden.Check(t, "testdata/invalid.errors", err.Error()+"\n")
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: skewrig.dev/v1alpha1\nkind: KnownDeviations\n"
	for name, tc := range map[string]struct{ in, want string }{
		"nothing":             {"", "k.yaml:1:1: the file is empty"},
		"only a comment":      {"# later\n", "k.yaml:1:1: the file is empty"},
		"null":                {"---\n", "k.yaml:1:1: the file is empty"},
		"a list":              {"- a\n", "k.yaml:1:1: this must be a mapping"},
		"not YAML":            {"a: [b\nc: d\n", "k.yaml:"},
		"a tab":               {head + "deviations:\n\t- a\n", "k.yaml:4:1: this is not YAML: found character that cannot start any token"},
		"a second document":   {head + "deviations: []\n---\na: b\n", "k.yaml:5:1: the file has one document"},
		"a broken second one": {head + "deviations: []\n---\na: [\n", "k.yaml:"},
		"no deviations":       {head, "k.yaml:1:1: the field deviations is missing"},
		"null deviations":     {head + "deviations:\n", "k.yaml:3:12: there is no value"},
		"a merge":             {head + "deviations:\n- &a {cells: a}\n- {<<: *a}\n", "k.yaml:5:4: merge keys are not supported"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, err := Parse("k.yaml", []byte(tc.in))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one containing %q", err, tc.want)
			}
			if len(list.Deviations) > 0 {
				t.Errorf("a list came with the error: %+v", list)
			}
		})
	}
}

func TestLoadRefusesAFileThatIsTooLargeOrMissing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "large.yaml")
	if err := os.WriteFile(path, []byte("#"+strings.Repeat("x", strict.MaxText)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("error %v, want one about the size", err)
	}
	if _, err := Load(path + ".missing"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want %v", err, os.ErrNotExist)
	}
}

func FuzzParse(f *testing.F) {
	for _, file := range []string{"testdata/valid.yaml", "testdata/invalid.yaml"} {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := Parse("fuzz.yaml", data)
		if err != nil {
			return
		}
		for _, d := range list.Deviations {
			if d.Cells.String() == "" || d.Reason == "" || d.Link == "" || len(d.Checks) == 0 && d.Requirement == "" {
				t.Errorf("accepted an entry that excuses without saying what or why: %+v", d)
			}
		}
	})
}
