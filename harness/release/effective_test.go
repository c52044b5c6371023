package release

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAGateOfAnEmulatedVersion: a release that emulates an older one has the gates of that one, as
// they were there.
func TestAGateOfAnEmulatedVersion(t *testing.T) {
	t.Parallel()
	gates, err := ParseGates("New BETA true versions=1.89:ALPHA:false,1.90:BETA:true\n" +
		"Old GA true locked versions=1.80:BETA:true,1.89:GA:true:locked\n" +
		"Same ALPHA false\n" +
		"With BETA false versions=1.90:BETA:false,1.90:BETA:true:min=1.90\n")
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		effective Effective
		want      string // name, stage and default of each gate
	}{
		"itself":            {Effective{}, "New BETA true, Old GA true locked, Same ALPHA false, With BETA false"},
		"its own version":   {Effective{Emulated: "v1.90"}, "New BETA true, Old GA true locked, Same ALPHA false, With BETA false"},
		"nothing older":     {Effective{MinCompatibility: "v1.90"}, "New BETA true, Old GA true locked, Same ALPHA false, With BETA true"},
		"the one before":    {Effective{Emulated: "v1.89"}, "New ALPHA false, Old GA true locked, Same ALPHA false"},
		"the oldest":        {Effective{Emulated: "v1.87"}, "Old BETA true, Same ALPHA false"},
		"older than a gate": {Effective{Emulated: "v1.88", MinCompatibility: "v1.87"}, "Old BETA true, Same ALPHA false"},
	} {
		tc.effective.Version = "v1.90.1"
		var got []Gate
		for _, g := range gates {
			if g, is := g.in(tc.effective); is {
				g.Versions = nil
				got = append(got, g)
			}
		}
		want := strings.ReplaceAll(tc.want, ", ", "\n") + "\n"
		if diff := cmp.Diff(want, FormatGates(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	text := FormatGates(gates)
	if again, err := ParseGates(text); err != nil || cmp.Diff(gates, again) != "" {
		t.Errorf("%v: the table is read as another one than is written:\n%s", err, text)
	}
}

func TestParseGatesRefusesAVersionThatItCantRead(t *testing.T) {
	t.Parallel()
	for _, versions := range []string{"1.90", "1.90:BETA", "1.90:BETA:perhaps", "1.90:BETA:true:unlocked", ":BETA:true", "x:BETA:true"} {
		if gates, err := ParseGates("A BETA true versions=" + versions); err == nil {
			t.Errorf("%s is read as %v", versions, gates)
		}
	}
}

// TestCheckGateOfAnEmulatedVersion: the error says that the release has the gate, and it knows
// what that guards.
func TestCheckGateOfAnEmulatedVersion(t *testing.T) {
	t.Parallel()
	as := func(v Version) Effective { return Effective{Version: "v1.37.1", Emulated: v} }
	if err := CheckGate(as("v1.37"), "GRPCContainerProbeTLS"); err != nil {
		t.Error(err)
	}
	want := "v1.37.1 has feature gate GRPCContainerProbeTLS, but not while it emulates v1.36"
	if err := CheckGate(as("v1.36"), "GRPCContainerProbeTLS"); err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
	tables, err := KnownTables()
	if err != nil {
		t.Fatal(err)
	}
	if g, known := tables.Gate(as("v1.36"), "GRPCContainerProbeTLS"); !known || g.Default {
		t.Errorf("the gate is %v, known %t", g, known)
	}
	if g, _ := tables.Gate(as("v1.36"), "PodsAPI"); g.Default {
		t.Errorf("PodsAPI is %v while v1.36 is emulated, in which it is off", g)
	}
}

func TestEmulatable(t *testing.T) {
	t.Parallel()
	if oldest, newest := Emulatable("v1.90.1"); oldest != "v1.87" || newest != "v1.90" {
		t.Errorf("it emulates %s to %s", oldest, newest)
	}
	if got := (Effective{Version: "v1.90.1", Emulated: "v1.89"}).String(); got != "v1.90.1 emulating v1.89" {
		t.Error(got)
	}
	if got := (Effective{Version: "v1.90.1", Emulated: "v1.90"}).String(); got != "v1.90.1" {
		t.Error(got)
	}
}

// TestSkewOfWhatIsEmulated: what an API server emulates is what others may be no newer than, and
// what it expects beside it is how old they may be (KEP-4330, Skew).
func TestSkewOfWhatIsEmulated(t *testing.T) {
	t.Parallel()
	server := Effective{Version: "v1.91.1", Emulated: "v1.90"}
	for kubelet, want := range map[Version]Skew{"v1.91.1": SkewKubeletNewer, "v1.90.3": SkewSupported, "v1.87.3": SkewSupported, "v1.86.0": SkewTooOld} {
		if got := SkewOf(server, kubelet); got != want {
			t.Errorf("kubelet %s: %q, want %q", kubelet, got, want)
		}
	}
	for controller, want := range map[Effective]Skew{
		{Version: "v1.91.1"}: SkewControllerNewer, {Version: "v1.91.1", Emulated: "v1.90"}: SkewSupported,
		{Version: "v1.89.1"}: SkewSupported, {Version: "v1.88.1"}: SkewControllerTooOld,
	} {
		if got := ControllerSkewOf(server, controller); got != want {
			t.Errorf("controller %s: %q, want %q", controller, got, want)
		}
	}
}
