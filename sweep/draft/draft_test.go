package draft_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/sweep/draft"
	"github.com/skewrig/skewrig/sweep/sweeptest"
	"github.com/skewrig/skewrig/sweep/trial"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	s := sweeptest.Swept()
	for _, l := range s.All() {
		d := draft.Draft{Finding: l.Finding, Version: s.Version, Again: s.Again()}
		for _, found := range l.Smallest() {
			if found.HasItem() {
				d.Cases = append(d.Cases, shown(found, s.Turns[0]))
			}
		}
		golden.Check(t, "testdata/"+l.ID()+".md", written(t, d))
	}
}

// TestTouches: each touch is a command, but nothing.
func TestTouches(t *testing.T) {
	t.Parallel()
	s := sweeptest.Swept()
	found := s.Findings[1].Items[0]
	found.Touches = trial.Touches{trial.Nothing, trial.Label, trial.Apply, trial.Put, trial.OldClient, trial.Status, trial.Template, trial.Scale, trial.Delete, trial.Bare}
	c := shown(found, trial.Turn{At: []string{"kubelet/node-a", "kube-apiserver"}, To: "v1.89.3"})
	c.Alone.Killed = "kube-controller-manager"
	golden.Check(t, "testdata/touches.md", written(t, draft.Draft{Finding: s.Findings[1], Version: s.Version, Cases: []draft.Case{c}}))
}

// TestNotConfirmed: a draft says so if an object did not show it again.
func TestNotConfirmed(t *testing.T) {
	t.Parallel()
	s := sweeptest.Swept()
	for _, l := range s.All() {
		want := l.ID() != "finding-2"
		if got := strings.Contains(written(t, draft.Draft{Finding: l.Finding}), "Not confirmed"); got != want {
			t.Errorf("the draft of %s says that it is not confirmed: %t, want %t", l, got, want)
		}
	}
}

func shown(found trial.Found, turn trial.Turn) draft.Case {
	on, off := make(release.Gates), make(release.Gates)
	for _, gate := range found.AllGates() {
		on[gate], off[gate] = true, false
	}
	file := "scenarios/" + strings.ToLower(found.Kind)
	return draft.Case{Found: found, Alone: trial.Alone{Version: "v1.90.1", Turn: turn, On: on, To: off}, Scenario: file + ".yaml", Control: file + "-control.yaml"}
}

func written(t *testing.T, d draft.Draft) string {
	t.Helper()
	var b bytes.Buffer
	if err := draft.Write(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
