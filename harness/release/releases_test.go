package release

import (
	"slices"
	"strings"
	"testing"
)

// TestChoose: a pair that a user names, and what is wrong with one.
func TestChoose(t *testing.T) {
	later := Version("v1.90.0-beta.0")
	next := Version(Newest.older(-1) + ".0-beta.0")
	for _, tc := range []struct {
		newest, previous string
		want             Releases
		err              string
	}{
		{"", "", Releases{}, ""},
		{string(next), "", Releases{Newest: next, Previous: Newest}, ""},
		{string(later), "v1.89.5", Releases{Newest: later, Previous: "v1.89.5"}, ""},
		{"", string(Previous), Releases{Newest: Newest, Previous: Previous}, ""},
		{"previous", "", Releases{Newest: Previous, Previous: supported[2]}, ""},
		{string(later), "", Releases{}, "--previous: no release of v1.89 is known, the minor version before v1.90.0-beta.0: name one"},
		{"1.90", "v1.90.0", Releases{}, `--newest: "1.90" is not a release`},
		{"v1.90.0", "v1.90.0", Releases{}, "--previous: v1.90.0 is not older than the newest release, v1.90.0"},
	} {
		got, err := Choose(tc.newest, tc.previous)
		switch {
		case tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)):
			t.Errorf("%s, %s: %v, want %q", tc.newest, tc.previous, err, tc.err)
		case tc.err == "" && (err != nil || got.Newest != tc.want.Newest || got.Previous != tc.want.Previous):
			t.Errorf("%s, %s: %+v, %v", tc.newest, tc.previous, got, err)
		}
	}
}

// TestWordsOfAPair: what words stand for follows the pair.
func TestWordsOfAPair(t *testing.T) {
	r := Releases{Newest: "v1.91.0-beta.0", Previous: "v1.90.2"}
	for word, want := range map[string]Version{
		"newest": r.Newest, "previous": r.Previous, "v1.91": r.Newest, "v1.90": r.Previous, "n-0": r.Newest, "n-1": r.Previous, Newest.MajorMinor(): Newest,
	} {
		if got, err := r.Resolve(word); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", word, got, err, want)
		}
	}
	for word, want := range map[string]string{
		"n-2":  "n-2 stands for v1.89 here, since the newest release is v1.91.0-beta.0, and no release of it is known: write one in full",
		"n--2": "is not a release", "n-": "is not a release",
		"before-AllAlpha": "all known releases before v1.91.0-beta.0 have feature gate AllAlpha",
		"next":            "no release of a minor version after v1.91.0-beta.0 is known",
	} {
		if got, err := r.Resolve(word); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v, want %q", word, got, err, want)
		}
	}
	if all := r.Supported(); !slices.IsSortedFunc(all, func(v, w Version) int { return w.Compare(v) }) || !slices.Equal(all[:3], []Version{r.Newest, r.Previous, Newest}) {
		t.Errorf("supported are %v", all)
	}
	for word, want := range map[string]Version{"n-2": supported[2], "n-3": supported[3], "next": Next, "before-GRPCContainerProbeTLS": Previous, "before-PodsAPI": supported[2]} {
		if got, err := Resolve(word); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", word, got, err, want)
		}
	}
	if got := r.Chosen(); !got || (Releases{}).Chosen() || (Releases{Newest: Newest, Previous: Previous}).Chosen() {
		t.Error("Chosen is true for the default pair, or false for another one")
	}
}
