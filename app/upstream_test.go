package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
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
	over, end := context.WithCancelCause(t.Context())
	end(errors.New("the run is over"))
	if a, err := runSpec(over, program(t, "exit 0"), "kubeconfig", upstream.Spec{}, t.TempDir()); err != nil || !a.BrokenOff || a.Ended != "the run is over" {
		t.Errorf("when the run is over: %+v, error %v", a, err)
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
	u := Upstream{Release: release.Newest, Kubelets: []release.Version{release.Newest}}.rigs()[0]
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
	u := Upstream{Release: "v1.90.1", Kubelets: []release.Version{"v1.90.1", "v1.91.0"}}
	if err := u.Check(); err == nil || !strings.Contains(err.Error(), "--kubelet") {
		t.Errorf("a kubelet that is newer than its API server: error %v", err)
	}
	u.Kubelets[1] = "v1.89.3"
	if err := u.Check(); err != nil {
		t.Error(err)
	}
	for _, want := range []build.Target{
		{Component: build.NodeE2E, Version: "v1.90.1"}, {Component: build.Kubelet, Version: "v1.89.3"}, {Component: build.Kubelet, Version: "v1.90.1"},
		{Component: build.APIServer, Version: "v1.90.1"}, {Component: build.Etcd, Version: release.Etcd},
	} {
		if !slices.ContainsFunc(u.Targets(), func(t build.Target) bool { return t.String() == want.String() }) {
			t.Errorf("%s is not among the targets %v", want, u.Targets())
		}
	}
}

// run is a run of two specs with two kubelets, of which nothing has ended.
func run(t *testing.T, tell func(c reports.Cell, done, of int)) *specsRun {
	u := Upstream{
		Release: "v1.90.1", Kubelets: []release.Version{"v1.90.1", "v1.89.3"}, Runtime: record.Containerd, Place: Place{Dir: t.TempDir()},
		Args: []string{"upstream", "v1.90.1"}, Tell: tell,
	}
	specs := []upstream.Spec{{Name: "Pods [Slow] run", ID: "pods/run"}, {Name: "Pods stop", ID: "pods/stop"}}
	return newSpecsRun(u, "", upstream.Expectations{}, specs)
}

func TestASpecSaysHowItIsRunAgain(t *testing.T) {
	t.Parallel()
	var reported []string
	r := run(t, func(c reports.Cell, done, of int) {
		reported = append(reported, fmt.Sprint(done, " of ", of, ": ", c.Again))
	})
	for _, s := range r.todo {
		if s.Name == "Pods [Slow] run" {
			r.add(s, upstream.Judge(s.Spec, s.rig.name(), nil, &upstream.Expectation{NotRun: true, Reason: "it needs a cgroup"}))
		}
	}
	if diff := cmp.Diff([]string{
		`1 of 4: skewrig upstream v1.90.1 --runtime containerd --focus '^Pods \[Slow\] run$'`,
		`2 of 4: skewrig upstream v1.90.1 --kubelet v1.89.3 --runtime containerd --focus '^Pods \[Slow\] run$'`,
	}, reported); diff != "" {
		t.Error(diff)
	}
}

// TestARunOfSpecsThatIsBrokenOff: its report has what was seen.
func TestARunOfSpecsThatIsBrokenOff(t *testing.T) {
	t.Parallel()
	r := run(t, func(reports.Cell, int, int) {})
	attempt := upstream.Attempt{Report: upstream.Report{{Name: "Pods stop", State: upstream.Passed}}}
	for _, s := range r.todo[1:] {
		r.add(s, upstream.Judge(s.Spec, s.rig.name(), &attempt, nil))
	}
	if err := r.draft(); err != nil {
		t.Fatal(err)
	}
	part, err := ReadReport(r.Place.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := "the run was not over when this was written: 1 of 4 specs did not run to their end"; part.Partial != want || reports.ExitCode(part) != reports.ExitNotJudged {
		t.Errorf("partial: %q, exit code %d", part.Partial, reports.ExitCode(part))
	}
	outcomes := make(map[string]reports.Outcome)
	for _, c := range part.Cells {
		outcomes[strings.TrimPrefix(c.ID, "upstream/pods/")] = c.Outcome
	}
	if diff := cmp.Diff(map[string]reports.Outcome{
		"run/apiserver:v1.90.1/kubelet:v1.89.3/runtime:containerd":  reports.Unknown,
		"run/apiserver:v1.90.1/kubelet:v1.90.1/runtime:containerd":  reports.Unknown,
		"stop/apiserver:v1.90.1/kubelet:v1.89.3/runtime:containerd": reports.Pass,
		"stop/apiserver:v1.90.1/kubelet:v1.90.1/runtime:containerd": reports.Pass,
	}, outcomes); diff != "" {
		t.Error(diff)
	}
}

// TestARigOfSpecsThatFails: the specs of the other one are run and reported all the same.
func TestARigOfSpecsThatFails(t *testing.T) {
	t.Parallel()
	r := run(t, func(reports.Cell, int, int) {})
	passed := upstream.Attempt{Report: upstream.Report{{Name: "Pods [Slow] run", State: upstream.Passed}, {Name: "Pods stop", State: upstream.Passed}}}
	failed := make(chan struct{})
	_, err := r.run(t.Context(), func(on specsRig) error {
		if on.kubelet == "v1.90.1" {
			close(failed)
			return errors.New("a cgroup can't be removed")
		}
		<-failed
		for _, s := range r.todo {
			if s.rig.kubelet == on.kubelet {
				r.add(s, upstream.Judge(s.Spec, on.name(), &passed, nil))
			}
		}
		return nil
	})
	if err == nil || err.Error() != "a cgroup can't be removed" {
		t.Errorf("the error is %v", err)
	}
	report, err := ReadReport(r.Place.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := "a cgroup can't be removed: 2 of 4 specs did not run to their end"; report.Partial != want {
		t.Errorf("partial: %q, and not %q", report.Partial, want)
	}
	outcomes := make(map[reports.Outcome]int)
	for _, c := range report.Cells {
		outcomes[c.Outcome]++
	}
	if diff := cmp.Diff(map[reports.Outcome]int{reports.Pass: 2, reports.Unknown: 2}, outcomes); diff != "" {
		t.Error(diff)
	}
}

func TestSlowSpecsComeFirst(t *testing.T) {
	t.Parallel()
	var specs []specOn
	for _, s := range []upstream.Spec{{Name: "a"}, {Name: "b", Slow: true}, {Name: "c"}, {Name: "d", Slow: true}} {
		specs = append(specs, specOn{Spec: s})
	}
	slices.SortStableFunc(specs, slowFirst)
	var order string
	for _, s := range specs {
		order += s.Name
	}
	if order != "bdac" {
		t.Errorf("the order is %s", order)
	}
}
