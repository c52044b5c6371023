package script

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/harness/fuzzing"
	"github.com/skewrig/skewrig/harness/golden"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/skewrig/skewrig/harness/strict"
)

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func plan(text string) ([]Move, error) {
	s, err := Parse("life.yaml", []byte(text))
	if err != nil {
		return nil, err
	}
	return s.Plan(began)
}

// printed is a plan as the golden file has it.
func printed(moves []Move) string {
	var b strings.Builder
	for _, m := range moves {
		fmt.Fprintf(&b, "%6s  %s\n", m.At, m.Text)
		switch a := m.Action.(type) {
		case Set:
			pods(&b, a.Pods)
		case Start:
			pods(&b, a.Pods)
		case nil:
		default:
			fmt.Fprintf(&b, "        %T%+v\n", a, a)
		}
	}
	return b.String()
}

func pods(b *strings.Builder, pods []*corev1.Pod) {
	for _, p := range pods {
		fmt.Fprintf(b, "        %s/%s %s %v %s%s", p.Namespace, p.Name, p.UID[:7], p.Labels, p.Status.Phase, p.Status.Reason)
		for _, c := range p.Status.ContainerStatuses {
			fmt.Fprintf(b, " %s:%t,%d", c.Name, c.Ready, c.RestartCount)
		}
		fmt.Fprintln(b)
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/life.yaml")
	if err != nil {
		t.Fatal(err)
	}
	moves, err := plan(string(text))
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/life.txt", printed(moves))
	again, _ := plan(string(text))
	if diff := cmp.Diff(moves, again); diff != "" {
		t.Errorf("planned twice, it differs:\n%s", diff)
	}
}

const head = "apiVersion: skewrig.dev/v1alpha1\nkind: PodsAPIScript\nsteps:\n"

func TestMistakes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want []string // all of them, in order
	}{
		"empty":             {"", []string{"life.yaml:1:1: the file is empty"}},
		"no YAML":           {head + "- add: {name: web\n", []string{"this is not YAML: did not find"}},
		"another kind":      {strings.Replace(head, Kind, "Scenario", 1) + "- ready: true\n", []string{"life.yaml:2:7: kind must be PodsAPIScript, not"}},
		"no steps":          {strings.TrimSuffix(head, "steps:\n"), []string{"life.yaml:1:1: the field steps is missing"}},
		"two documents":     {head + "- ready: true\n---\n{}\n", []string{"one document"}},
		"unknown fields":    {head + "- redy: true\n- add: {nam: web}\n", []string{"life.yaml:4:3: unknown field \"redy\": did you mean ready?", "life.yaml:5:9: unknown field \"nam\": did you mean name?"}},
		"wrong types":       {head + "- ready: maybe\n- wait: 2\n- wait: -2s\n", []string{"life.yaml:4:10: this must be true or false", `life.yaml:5:9: "2" is not a duration`, `life.yaml:6:9: "-2s"`}},
		"two actions":       {head + "- ready: true\n  wait: 2s\n- {}\n", []string{"life.yaml:4:3: a step has one action, and this one has 2", "life.yaml:6:3: a step has one action, and this one has 0"}},
		"no such pods":      {head + "- add: {name: web, count: 2}\n- change: {name: web-2, ready: false}\n- remove: {name: job}\n- remove: {}\n", []string{`life.yaml:5:3: no pod "web-2" exists at that time: did you mean web-0?`, `life.yaml:6:3: no pod "job" exists at that time, among 2`, "life.yaml:7:3: name is missing"}},
		"there already":     {head + "- add: {name: web}\n- add: {name: web}\n", []string{"life.yaml:5:3: pod web is there already"}},
		"nothing to add":    {head + "- add: {}\n- add: {name: a, pod: {metadata: {name: b}}}\n", []string{"life.yaml:4:3: add needs either", "life.yaml:5:3: add needs either"}},
		"count of a pod":    {head + "- add: {count: 2, pod: {metadata: {name: b}}}\n- add: {name: a, count: -1}\n", []string{"life.yaml:4:3: count and namespace", "life.yaml:5:3: count is -1"}},
		"too many":          {head + "- add: {name: a, count: 10000}\n- add: {name: b}\n", []string{"life.yaml:5:3: the script would have more than 10000"}},
		"a bad manifest":    {head + "- add: {pod: {metadata: {name: b}, spek: {}}}\n", []string{`life.yaml:4:3: unknown field "spek"`}},
		"a bad template":    {strings.Replace(head, "steps:", "template: {spec: {containers: 1}}\nsteps:", 1) + "- ready: true\n", []string{"life.yaml:3:11: the template:"}},
		"a bad name":        {head + "- add: {name: Web_1}\n", []string{`life.yaml:4:3: "Web_1" is not the name`}},
		"a bad phase":       {head + "- add: {name: web, phase: Sleeping}\n", []string{`life.yaml:4:3: "Sleeping" is not a phase`}},
		"ready and ended":   {head + "- add: {name: web}\n- change: {name: web, phase: Failed, ready: true}\n", []string{"life.yaml:5:3: pod web is Failed: only a running pod"}},
		"less than nothing": {head + "- add: {name: web}\n- change: {name: web, restarts: -1}\n- disturb: {breakAfter: -1}\n", []string{"life.yaml:5:3: -1 is not a number of restarts", "life.yaml:6:3: breakAfter is -1"}},
		"no change":         {head + "- add: {name: web}\n- change: {name: web}\n", []string{"life.yaml:5:3: nothing changes"}},
		"churn of nothing":  {head + "- churn: {rate: 1, for: 1s}\n- churn: {rate: 1}\n- churn: {rate: 1000, for: 1h}\n", []string{"life.yaml:4:3: no pod runs at that time", "life.yaml:5:3: churn needs a rate", "life.yaml:6:3: that is more than"}},
	} {
		_, err := plan(tc.text)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if _, ok := errors.AsType[*strict.Errors](err); !ok {
			t.Errorf("%s: the error is a %T", name, err)
		}
		lines := strings.Split(err.Error(), "\n")
		if len(lines) != len(tc.want) || slices.ContainsFunc(tc.want, func(want string) bool { return !strings.Contains(lines[slices.Index(tc.want, want)], want) }) {
			t.Errorf("%s: the errors are\n%s\nwant\n%s", name, err, strings.Join(tc.want, "\n"))
		}
	}
}

func TestAPodThatComesBackIsAnother(t *testing.T) {
	t.Parallel()
	moves, err := plan(head + "- add: {name: web}\n- remove: {name: web}\n- add: {name: web}\n")
	if err != nil {
		t.Fatal(err)
	}
	first, second := moves[0].Action.(Set).Pods[0], moves[2].Action.(Set).Pods[0]
	if first.UID == second.UID || len(first.UID) != 36 {
		t.Errorf("the UIDs are %s and %s", first.UID, second.UID)
	}
}

func FuzzPlan(f *testing.F) {
	text, err := os.ReadFile("testdata/life.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Fuzz(func(t *testing.T, text string) {
		var moves []Move
		var err error
		fuzzing.Limited(t, func() { moves, err = plan(text) })
		if err == nil && !slices.IsSortedFunc(moves, func(a, b Move) int { return int(a.At - b.At) }) {
			t.Error("the moves are not in order")
		}
	})
}
