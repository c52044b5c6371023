package release

import "testing"

func TestWhatStandsInForARelease(t *testing.T) {
	t.Parallel()
	sources := Sources{{Component: "kubelet", Instead: "v1.90.1", Version: "v1.91.0+1"}, {Instead: "v1.90.1", Version: "v1.92.0+2"}, {Component: "kubelet", Instead: "v1.89.3", Version: "v1.93.0+3"}}
	for _, tc := range []struct {
		program string
		asked   Version
		want    Version
	}{
		{"kubelet", "v1.90.1", "v1.91.0+1"},
		{"kube-apiserver", "v1.90.1", "v1.92.0+2"},
		{"kubelet", "v1.89.3", "v1.93.0+3"},
		{"kube-apiserver", "v1.89.3", "v1.89.3"},
		{"kubelet", Reference, Reference},
	} {
		if got := sources.Of(tc.program, tc.asked); got != tc.want {
			t.Errorf("%s %s is %s, want %s", tc.program, tc.asked, got, tc.want)
		}
	}
	if got := (Sources)(nil).Of("kubelet", "v1.90.1"); got != "v1.90.1" {
		t.Errorf("without sources: %s", got)
	}
	for v, want := range map[Version]Version{"v1.91.0+1": "v1.90.1", "v1.93.0+3": "v1.89.3", "v1.90.1": "v1.90.1"} {
		if got := sources.Instead(v); got != want {
			t.Errorf("%s stands in for %s, want %s", v, got, want)
		}
	}
}

func TestASourceHasGatesOfItsOwn(t *testing.T) {
	t.Parallel()
	const source Version = "v1.37.1-5+0123456789abcd.01234567"
	if _, known, err := Table(Effective{Version: source}); known || err != nil {
		t.Errorf("the gates of an unread source are known: %v", err)
	}
	if err := CheckGate(Effective{Version: source}, "Unheard"); err != nil {
		t.Errorf("a gate of an unread source is refused: %v", err)
	}
	Learn(source, []Gate{{Name: "Mine", Stage: Alpha}, {Name: "Theirs", Stage: Beta, Default: true, Locked: true}})
	if err := CheckGate(Effective{Version: source}, "Mine"); err != nil {
		t.Error(err)
	}
	if err := CheckGate(Effective{Version: source}, "GRPCContainerProbeTLS"); err == nil {
		t.Error("a gate that only a release has is one of the source")
	}
	if all := GateConflicts(Effective{Version: source}, Gates{"Theirs": false}); len(all) != 1 {
		t.Errorf("conflicts %v", all)
	}
	tables, err := KnownTables()
	if err != nil {
		t.Fatal(err)
	}
	if g, known := tables.Gate(Effective{Version: source}, "Mine"); !known || g.Stage != Alpha {
		t.Errorf("%+v, %t", g, known)
	}
	if _, known := tables.Gate(Effective{Version: "v1.37.1"}, "Mine"); known {
		t.Error("a release has the gate of a source")
	}
}

func TestASourceIsInRanges(t *testing.T) {
	t.Parallel()
	r, err := ParseRange(">= 1.90, < 1.92")
	if err != nil {
		t.Fatal(err)
	}
	for v, want := range map[Version]bool{"v1.91.0-alpha.1.12+0123456789abcd-dirty.01234567": true, "v1.90.1+01234567": true, "v1.92.0-alpha.0+01234567": false} {
		if r.Has(v) != want || !v.IsSource() {
			t.Errorf("%s: %t", v, !want)
		}
	}
}
