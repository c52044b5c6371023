package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/sweep/trial"
)

func TestDiffOfSweeps(t *testing.T) {
	with, err := app.ReadSweep("../../sweep/show/testdata/swept")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	save := func(dir string, s trial.Result) {
		text, err := json.Marshal(s)
		if err == nil {
			err = os.Mkdir(dir, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
		golden.Write(t, filepath.Join(dir, "sweep.json"), string(text))
	}
	without := with
	without.Findings = nil
	save("with", with)
	save("without", without)
	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"the same":             {[]string{"with", "with", "--exit-on", "any"}, 0, "Nothing changed"},
		"new findings":         {[]string{"without", "with"}, 1, "2 new findings"},
		"findings gone":        {[]string{"with", "without"}, 0, "2 findings gone"},
		"JSON":                 {[]string{"with", "without", "-o", "json"}, 0, `"kind": "SweepDiff"`},
		"no such format":       {[]string{"with", "without", "-o", "markdown"}, 3, "--output"},
		"a sweep and a report": {[]string{"with", "nowhere"}, 3, "with"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := skewrig(t, append([]string{"report", "diff"}, tc.args...)...)
			if code != tc.code || !strings.Contains(stdout+stderr, tc.want) {
				t.Errorf("exit code %d, want %d, and to say %q:\n%s%s", code, tc.code, tc.want, stdout, stderr)
			}
		})
	}
}
