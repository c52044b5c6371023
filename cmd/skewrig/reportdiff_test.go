package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/diff"
	"github.com/skewrig/skewrig/reports/render"
)

func TestDiff(t *testing.T) {
	t.Chdir(t.TempDir())
	save := func(dir string, outcomes map[string]reports.Outcome) {
		var cells []reports.Cell
		for id, o := range outcomes {
			cells = append(cells, reports.Cell{ID: id, Checks: []reports.Check{{ID: "a", Outcome: o}}})
		}
		r, err := reports.Assemble(cells, nil, reports.Reproduce{})
		if err == nil {
			err = render.WriteDir(dir, r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	save("green", map[string]reports.Outcome{"a/b/c": reports.Pass})
	save("red", map[string]reports.Outcome{"a/b/c": reports.Fail})
	save("more", map[string]reports.Outcome{"a/b/c": reports.Pass, "a/b/d": reports.Fail})
	save("skew", map[string]reports.Outcome{"a/b/c/kubelet:v1.90.1": reports.Pass, "a/b/c/kubelet:v1.89.3": reports.Fail})
	golden.Write(t, "broken.json", "{}")
	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"the same":          {[]string{"green", "green", "--exit-on", "any"}, 0, "Nothing changed"},
		"a file":            {[]string{"green", "green/report.json", "--exit-on", "any"}, 0, "Nothing changed"},
		"a regression":      {[]string{"green", "red"}, 1, "1 regression"},
		"a fix":             {[]string{"red", "green"}, 0, "1 fix"},
		"a fix that counts": {[]string{"red", "green", "--exit-on", "regressions,fixes"}, 1, "1 fix"},
		"a new cell":        {[]string{"green", "more"}, 0, "1 new cell"},
		"any":               {[]string{"green", "more", "--exit-on", "any"}, 1, "1 new cell"},
		"markdown":          {[]string{"green", "red", "-o", "markdown"}, 1, "#### Regressions"},
		"no such section":   {[]string{"green", "red", "--exit-on", "red"}, 3, `"red"`},
		"no such format":    {[]string{"green", "red", "-o", "html"}, 3, "html"},
		"no such factor":    {[]string{"green", "red", "--slower-factor", "0.5"}, 3, "--slower-factor"},
		"no such report":    {[]string{"green", "nowhere"}, 3, "nowhere"},
		"no report":         {[]string{"green", "broken.json"}, 3, "broken.json"},
		"one report":        {[]string{"green"}, 3, "--across"},
		"across an axis":    {[]string{"skew", "--across", "kubelet=v1.90.1,v1.89.3"}, 1, "From skew kubelet:v1.90.1 to skew kubelet:v1.89.3"},
		"and back":          {[]string{"skew", "skew", "--across", "kubelet=v1.89.3,v1.90.1"}, 0, "1 fix"},
		"no such value":     {[]string{"skew", "--across", "kubelet=v1.90.1,previous"}, 3, "--across: after: no cell has kubelet:previous"},
		"no two values":     {[]string{"skew", "--across", "kubelet"}, 3, "AXIS=BEFORE,AFTER"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := skewrig(t, append([]string{"report", "diff"}, tc.args...)...)
			if code != tc.code || !strings.Contains(stdout+stderr, tc.want) {
				t.Errorf("exit code %d, want %d, and to say %q:\n%s%s", code, tc.code, tc.want, stdout, stderr)
			}
		})
	}
	_, stdout, _ := skewrig(t, "report", "diff", "green", "red", "-o", "json")
	var d diff.Diff
	if err := json.Unmarshal([]byte(stdout), &d); err != nil || len(d.Regressions) != 1 || d.From != "green" {
		t.Errorf("%+v, %v", d, err)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 5 {
		t.Errorf("something was written: %v %v", left, err)
	}
}
