package release

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseWantsOneRelease(t *testing.T) {
	for in, ok := range map[string]bool{
		"v1.90.1": true, "v1.91.0-alpha.0": true,
		"v1.90": false, "1.90.1": false, "newest": false, "": false, "v1.90.1 ": false,
	} {
		if _, err := Parse(in); (err == nil) != ok {
			t.Errorf("Parse(%q): %v", in, err)
		}
	}
}

func TestVersionsCompareAsReleases(t *testing.T) {
	if Version("v1.90.1").Compare("v1.90.0") != 1 || Version("v1.91.0-alpha.0").Compare("v1.91.0") != -1 {
		t.Error("a pre-release is older than its release, a patch newer than what it patches")
	}
	if v := Version("v1.91.0-alpha.0"); v.Minor() != 91 || v.MajorMinor() != "v1.91" {
		t.Errorf("%s: minor %d, %s", v, v.Minor(), v.MajorMinor())
	}
}

func TestSkewOf(t *testing.T) {
	for _, tc := range []struct {
		apiserver, kubelet Version
		want               Skew
	}{
		{"v1.90.1", "v1.90.1", SkewSupported},
		{"v1.90.1", "v1.87.4", SkewSupported},
		{"v1.91.0-alpha.0", "v1.87.4", SkewTooOld},
		{"v1.89.3", "v1.90.1", SkewKubeletNewer},
	} {
		if got := SkewOf(Effective{Version: tc.apiserver}, tc.kubelet); got != tc.want {
			t.Errorf("SkewOf(%s, %s) = %q, want %q", tc.apiserver, tc.kubelet, got, tc.want)
		}
	}
}

func TestControllerSkewOf(t *testing.T) {
	for controller, want := range map[Version]Skew{
		"v1.91.0-alpha.0": SkewControllerNewer, "v1.90.0": SkewSupported, "v1.89.3": SkewSupported, "v1.88.0": SkewControllerTooOld,
	} {
		if got := ControllerSkewOf(Effective{Version: "v1.90.1"}, Effective{Version: controller}); got != want {
			t.Errorf("ControllerSkewOf(v1.90.1, %s) = %q, want %q", controller, got, want)
		}
	}
}

func TestWordsStandForReleases(t *testing.T) {
	for word, want := range map[string]Version{
		"newest": Newest, "previous": Previous, "v1.90.1": "v1.90.1",
		Newest.MajorMinor(): Newest, Previous.MajorMinor(): Previous,
	} {
		if got, err := Resolve(word); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", word, got, err, want)
		}
	}
	minor := Previous.MajorMinor()
	for word, meant := range map[string]string{
		"": "", "v1.90": "", "1.90": "", "reference": "", "oldest one": "",
		"latest": "newest", "nevest": "newest", "prevous": "previous", "1.90.1": "v1.90.1", minor[1:]: minor,
	} {
		got, err := Resolve(word)
		if err == nil {
			t.Errorf("%q: %s", word, got)
		} else if said := strings.HasSuffix(err.Error(), "did you mean "+meant+"?"); said != (meant != "") {
			t.Errorf("%q: %v, want a guess %q", word, err, meant)
		}
	}
}

func TestCheckGate(t *testing.T) {
	if err := CheckGate(Effective{Version: "v1.37.0"}, "GRPCContainerProbeTLS"); err != nil {
		t.Error(err)
	}
	err := CheckGate(Effective{Version: "v1.36.0"}, "GRPCContainerProbeTLS")
	if err == nil || !strings.Contains(err.Error(), "v1.37") {
		t.Errorf("error %v, want one that names the releases that have the gate", err)
	}
	err = CheckGate(Effective{Version: "v1.37.0"}, "GRPCContainerProbeTls")
	if err == nil || !strings.Contains(err.Error(), "no known release") {
		t.Errorf("error %v, want that no release has it", err)
	}
	if err := CheckGate(Effective{Version: "v1.90.1"}, "SomethingNew"); err != nil {
		t.Errorf("a release without a table: %v, want that its components decide", err)
	}
}

func TestEverySupportedReleaseHasItsGates(t *testing.T) {
	for _, v := range Supported() {
		gates, known, err := Table(Effective{Version: v})
		if err != nil || !known || len(gates) < 100 {
			t.Errorf("%s: %d gates, known %t, %v", v, len(gates), known, err)
		}
		again, err := ParseGates(FormatGates(gates))
		if diff := cmp.Diff(gates, again); err != nil || diff != "" {
			t.Errorf("%s: the table does not survive formatting: %v\n%s", v, err, diff)
		}
	}
}

func TestParseGatesRefusesDisorder(t *testing.T) {
	for name, text := range map[string]string{
		"unsorted": "B ALPHA false\nA ALPHA false\n",
		"short":    "A ALPHA\n",
		"no bool":  "A ALPHA maybe\n",
		"no needs": "A ALPHA false B\n",
		"too much": "A GA true locked needs=B more\n",
	} {
		if _, err := ParseGates(text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestAGateOfARelease(t *testing.T) {
	t.Parallel()
	tables := Tables{
		"v1.90": {{Name: "Gone", Stage: GA, Default: true}, {Name: "New", Stage: Alpha}, {Name: "Wrong", Stage: Alpha}},
		"v1.91": {{Name: "New", Stage: Beta, Default: true}},
	}
	for _, tc := range []struct {
		release   Version
		gate      string
		on, known bool
	}{
		{"v1.90.3", "New", false, true},
		{"v1.91.0", "New", true, true},
		{"v1.93.0-alpha.1", "New", true, true},
		{"v1.89.7", "New", false, false},
		{"v1.91.0", "Gone", true, true},
		{"v1.91.0", "Wrong", false, false},
		{"v1.91.0", "Other", false, false},
		{Reference, "New", false, false},
	} {
		if got, known := tables.Gate(Effective{Version: tc.release}, tc.gate); known != tc.known || known && got.Default != tc.on {
			t.Errorf("%s of %s: %+v, known: %t", tc.gate, tc.release, got, known)
		}
	}
}
