package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/upstream"
)

// program writes a program of specs that does what a shell script says with the file for its
// report.
func program(t *testing.T, script string) string {
	path := filepath.Join(t.TempDir(), "specs")
	text := "#!/bin/sh\nfor a; do case $a in --ginkgo.json-report=*) report=${a#*=};; esac; done\n" + script
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

const oneSpec = `cat >$report <<X
[{"SpecReports": [{"LeafNodeType": "It", "LeafNodeText": "Pods run", "State": "%"}]}]
X
`

func TestSpecsAreListed(t *testing.T) {
	t.Parallel()
	specs, err := listSpecs(t.Context(), program(t, strings.Replace(oneSpec, "%", "passed", 1)))
	if err != nil || len(specs) != 1 || specs[0].Name != "Pods run" {
		t.Errorf("listed %v, error %v", specs, err)
	}
	if _, err := listSpecs(t.Context(), program(t, "echo no such flag; exit 2")); err == nil || !strings.Contains(err.Error(), "no such flag") {
		t.Errorf("error %v, want one with what the program says", err)
	}
}

func TestASpecIsRun(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script string
		want   reports.Outcome
	}{
		"passes":           {strings.Replace(oneSpec, "%", "passed", 1), reports.Pass},
		"fails":            {strings.Replace(oneSpec, "%", "failed", 1) + "exit 1", reports.Fail},
		"ends early":       {"exit 1", reports.Unknown},
		"reports no specs": {"echo '[]' >$report", reports.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, dir := upstream.Spec{Name: "Pods run", ID: "pods/run"}, t.TempDir()
			a, err := runSpec(t.Context(), program(t, "echo it runs\n"+test.script), "kubeconfig", s, dir)
			if err != nil {
				t.Fatal(err)
			}
			if cell := upstream.Judge(s, upstream.Rig{}, &a, nil); cell.Checks[0].Outcome != test.want {
				t.Errorf("it is %s, want %s", cell.Checks[0].Outcome, test.want)
			}
			if out, err := os.ReadFile(filepath.Join(dir, specOutput)); err != nil || string(out) != "it runs\n" {
				t.Errorf("its output is %q, error %v", out, err)
			}
		})
	}
	if _, err := runSpec(t.Context(), program(t, "echo no >$report"), "kubeconfig", upstream.Spec{}, t.TempDir()); err == nil {
		t.Error("a broken report is none of an error")
	}
}

func TestTheRigHasTheGatesOfTheSpecs(t *testing.T) {
	t.Parallel()
	table, known, err := release.Table(release.Effective{Version: release.Newest})
	if err != nil || !known {
		t.Fatal(known, err)
	}
	find := func(is func(release.Gate) bool) string { return table[slices.IndexFunc(table, is)].Name }
	off := find(func(g release.Gate) bool { return !g.Default && !g.Locked && len(g.Needs) == 0 })
	on := find(func(g release.Gate) bool { return g.Default })
	of := func(name string) release.Gate {
		return table[slices.IndexFunc(table, func(g release.Gate) bool { return g.Name == name })]
	}
	for _, g := range table {
		for _, need := range g.Needs {
			if !g.Default && !g.Locked && !of(need).Default && !settable([]string{g.Name}, release.Newest)[need] {
				t.Errorf("%s is on without %s", g.Name, need)
			}
		}
	}
	u := Upstream{Release: release.Newest, Kubelet: release.Newest}
	rig := u.topology([]string{off, on, "NoSuchGate"})
	if got, want := rig.Gates.String(), off+"=true"; got != want || rig.Nodes[0].Gates.String() != want {
		t.Errorf("gates %s, and %s of the node; want %s", got, rig.Nodes[0].Gates, want)
	}
	e := u.expectation(upstream.Spec{Name: "Pods run", Gates: []string{"NoSuchGate"}}, nil)
	if e == nil || !e.NotRun || !strings.Contains(e.Reason, "NoSuchGate") {
		t.Errorf("of a spec whose gate the kubelet does not have, %v is expected", e)
	}
	if e := u.expectation(upstream.Spec{Name: "Pods run", Gates: []string{off}}, nil); e != nil {
		t.Errorf("of a spec whose gate the kubelet has, %v is expected", e)
	}
}

func TestARigOfSpecs(t *testing.T) {
	t.Parallel()
	u := Upstream{Release: "v1.90.1", Kubelet: "v1.91.0"}
	if err := u.Check(); err == nil || !strings.Contains(err.Error(), "--kubelet") {
		t.Errorf("a kubelet that is newer than its API server: error %v", err)
	}
	u.Kubelet = "v1.89.3"
	if err := u.Check(); err != nil {
		t.Error(err)
	}
	for _, want := range []build.Target{
		{Component: build.NodeE2E, Version: "v1.90.1"}, {Component: build.Kubelet, Version: "v1.89.3"},
		{Component: build.APIServer, Version: "v1.90.1"}, {Component: build.Etcd, Version: release.Etcd},
	} {
		if !slices.ContainsFunc(u.Targets(), func(t build.Target) bool { return t.String() == want.String() }) {
			t.Errorf("%s is not among the targets %v", want, u.Targets())
		}
	}
}

func TestASpecSaysHowItIsRunAgain(t *testing.T) {
	t.Parallel()
	var told []reports.Cell
	r := specsRun{Upstream: Upstream{
		Args: []string{"upstream", "v1.90.1"},
		Tell: func(c reports.Cell, _, _ int) { told = append(told, c) },
	}}
	s := upstream.Spec{Name: "Pods [Slow] run", ID: "pods/run"}
	r.add(s, upstream.Judge(s, r.rig(), nil, &upstream.Expectation{NotRun: true, Reason: "it needs a cgroup"}))
	if want := `skewrig upstream v1.90.1 --focus '^Pods \[Slow\] run$'`; len(told) != 1 || told[0].Again != want {
		t.Errorf("told %+v, want %s", told, want)
	}
	if len(r.cells) != 1 || r.done != 1 {
		t.Errorf("%d cells of %d", len(r.cells), r.done)
	}
}

func TestSlowSpecsComeFirst(t *testing.T) {
	t.Parallel()
	specs := []upstream.Spec{{Name: "a"}, {Name: "b", Slow: true}, {Name: "c"}, {Name: "d", Slow: true}}
	slices.SortStableFunc(specs, slowFirst)
	var order string
	for _, s := range specs {
		order += s.Name
	}
	if order != "bdac" {
		t.Errorf("the order is %s", order)
	}
}
