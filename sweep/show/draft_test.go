package show_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/sweep/show"
	"github.com/skewrig/skewrig/sweep/trial"
)

func TestDraft(t *testing.T) {
	t.Parallel()
	s := swept(t)
	for _, l := range s.All() {
		d := show.Draft{Finding: l.Finding, Version: s.Version, Again: s.Again()}
		for _, found := range l.Smallest() {
			if found.HasItem() {
				d.Cases = append(d.Cases, caseOf(found, s.Transitions[0]))
			}
		}
		golden.Check(t, "testdata/"+l.ID()+".md", draftOf(t, d))
	}
}

// TestDraftOfMutations: each mutation is a command, but nothing.
func TestDraftOfMutations(t *testing.T) {
	t.Parallel()
	s := swept(t)
	found := s.Findings[1].Items[0]
	found.Mutations = trial.Mutations{trial.Nothing, trial.Label, trial.Apply, trial.Put, trial.OldClient, trial.Status, trial.Template, trial.Scale, trial.Delete, trial.Bare}
	c := caseOf(found, trial.Transition{At: []string{"kubelet/node-a", "kube-apiserver"}, To: "v1.89.3"})
	c.Alone.Killed = "kube-controller-manager"
	golden.Check(t, "testdata/touches.md", draftOf(t, show.Draft{Finding: s.Findings[1], Version: s.Version, Cases: []show.Case{c}}))
}

// TestDraftNotConfirmed: a draft says so if an object did not show it again.
func TestDraftNotConfirmed(t *testing.T) {
	t.Parallel()
	s := swept(t)
	for _, l := range s.All() {
		want := l.ID() != "finding-2"
		if got := strings.Contains(draftOf(t, show.Draft{Finding: l.Finding}), "Not confirmed"); got != want {
			t.Errorf("the draft of %s says that it is not confirmed: %t, want %t", l, got, want)
		}
	}
}

// TestDraftNamesTheGatesOnByDefault: an owner wants to know whether a cluster with default gates is affected.
func TestDraftNamesTheGatesOnByDefault(t *testing.T) {
	t.Parallel()
	on := func(gate string) trial.Found {
		return trial.Found{Item: trial.Item{Use: trial.Use{Kind: "Pod", Used: trial.Used{Field: "core/v1.PodSpec.f", Gates: []string{gate}}}}}
	}
	d := show.Draft{Version: release.Newest, Finding: trial.Finding{Items: []trial.Found{on("EnvFiles"), on("GRPCContainerProbeTLS")}}}
	if got, want := draftOf(t, d), "On by default in "+string(release.Newest)+": EnvFiles.\n"; !strings.Contains(got, want) {
		t.Errorf("the draft lacks %q:\n%s", want, got)
	}
}

func caseOf(found trial.Found, transition trial.Transition) show.Case {
	on, off := make(release.Gates), make(release.Gates)
	for _, gate := range found.AllGates() {
		on[gate], off[gate] = true, false
	}
	file := "scenarios/" + strings.ToLower(found.Kind)
	return show.Case{Found: found, Alone: trial.Setting{Version: "v1.90.1", Transition: transition, On: on, To: off}, Scenario: file + ".yaml", Control: file + "-control.yaml"}
}

func draftOf(t *testing.T, d show.Draft) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
