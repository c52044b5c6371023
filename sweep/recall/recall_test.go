package recall_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/sweep/recall"
	"github.com/skewrig/skewrig/sweep/story"
	"github.com/skewrig/skewrig/sweep/trial"
)

const columns = "row\tid\tcomponent\twhat_goes_wrong\ttrigger\toracle\toracle_class\tnewest_red_served\tfirst_green_served\tdimensions\n"

func TestRead(t *testing.T) {
	t.Parallel()
	rows, err := recall.Read(columns + "A\tk#1\tkube-scheduler\twaits\tPod\tpending\tpod never scheduled\tv1.90.1\tv1.90.2~\tSCHED OPS\nB\tk#2\tkubelet\t\t\t\tpanic\tv1.90.1\t-\tCONT\r\n")
	if err != nil || len(rows) != 2 || rows[0].Green != "v1.90.2" || rows[1].Green != "" || len(rows[0].Dimensions) != 2 {
		t.Errorf("got %+v, %v", rows, err)
	}
	if diff := cmp.Diff([]release.Version{"v1.90.1", "v1.90.2"}, recall.Releases(rows)); diff != "" {
		t.Error(diff)
	}
	for text, want := range map[string]string{"row\tid\n": `no column "component"`, columns + "A\tB\n": "line 2: 2 columns", columns + strings.Repeat("\t", 9) + "\n": "newest_red_served: required"} {
		if _, err := recall.Read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const red, green = release.Version("v1.90.1"), release.Version("v1.90.2")
	finding := func(class, component, resource string) story.Finding {
		found := story.Found{Story: "a", Alone: &trial.Rate{Red: 3, Runs: 3}}
		return story.Finding{Law: "of " + class, Class: class, Components: []string{component}, Resource: resource, Found: []story.Found{found}}
	}
	lost, stuck := finding("pod never scheduled", "kube-scheduler", "pods"), finding("not gone", "kube-controller-manager", "jobs")
	row := func(name, component, class, text string, fixed release.Version) recall.Row {
		return recall.Row{Name: name, Component: component, Class: class, Trigger: text, Red: red, Green: fixed}
	}
	rows := []recall.Row{
		row("found", "kube-scheduler", "pod never scheduled", "a Pod", ""), row("of both", "kube-controller-manager", "not gone", "a Job", green),
		row("another class", "kube-scheduler", "panic", "a Pod", ""), row("another component", "kubelet", "pod never scheduled", "a Pod", ""),
		row("another kind", "kube-scheduler", "pod never scheduled", "a Node", ""), row("not run", "kubelet", "panic", "a Pod", "v1.91.0"),
	}
	table := recall.Judge(rows, map[release.Version]story.Result{red: {Findings: []story.Finding{lost, stuck}}, green: {Findings: []story.Finding{stuck}}})
	want := []recall.Verdict{recall.Found, recall.Missed, recall.OtherWay, recall.Missed, recall.Missed, recall.NotRun}
	for i, a := range table.Answers {
		if a.Verdict != want[i] {
			t.Errorf("%s: %s, want %s", a.Name, a.Verdict, want[i])
		}
	}
	if diff := cmp.Diff(map[release.Version][]string{red: {stuck.Signature()}, green: {stuck.Signature()}}, table.Others); diff != "" {
		t.Error(diff)
	}
}

// TestCompared: a finding is one of a release with the bug if a release without it does not show it with the same story.
func TestCompared(t *testing.T) {
	t.Parallel()
	finding := func(stories ...string) story.Result {
		f := story.Finding{Law: "lost", Class: "panic", Components: []string{"kubelet"}}
		for _, name := range stories {
			f.Found = append(f.Found, story.Found{Story: name, Alone: &trial.Rate{Red: 3, Runs: 3}})
		}
		return story.Result{Findings: []story.Finding{f}}
	}
	row := recall.Row{Component: "kubelet", Class: "panic", Red: "v1.90.1", Green: "v1.90.3"}
	for name, test := range map[string]struct {
		swept map[release.Version]story.Result
		want  recall.Verdict
	}{
		"not on it":                {map[release.Version]story.Result{"v1.90.3": {}}, recall.Found},
		"on it":                    {map[release.Version]story.Result{"v1.90.3": finding("a", "b")}, recall.Missed},
		"on it, by one of them":    {map[release.Version]story.Result{"v1.90.3": finding("a")}, recall.Found},
		"on it, by another story":  {map[release.Version]story.Result{"v1.90.3": finding("c")}, recall.Found},
		"a later patch release":    {map[release.Version]story.Result{"v1.90.4": finding("a", "b"), "v1.92.0": {}}, recall.Missed},
		"the newest of later ones": {map[release.Version]story.Result{"v1.91.0": finding("a", "b"), "v1.92.0": {}}, recall.Found},
		"an older one only":        {map[release.Version]story.Result{"v1.90.2": {}}, recall.NotRun},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.swept[row.Red] = finding("a", "b")
			if got := recall.Judge([]recall.Row{row}, test.swept).Answers[0].Verdict; got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}
