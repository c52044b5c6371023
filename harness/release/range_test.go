package release

import "testing"

func TestARangeHasReleases(t *testing.T) {
	for _, tc := range []struct {
		text    string
		has     []Version
		hasNone []Version
		open    bool
	}{
		{">= 1.89", []Version{"v1.89.0", "v1.90.1", "v1.89.0-alpha.0"}, []Version{"v1.88.9", "reference", "", "v1.89"}, true},
		{">= 1.89, < 1.91", []Version{"v1.89.0", "v1.90.7"}, []Version{"v1.91.0", "v1.91.0-alpha.0", "v1.88.0"}, false},
		{">= v1.90.1, <= 1.90", []Version{"v1.90.1", "v1.90.7"}, []Version{"v1.90.0", "v1.91.0"}, false},
		{"< v1.90.3", []Version{"v1.90.2", "v1.90.3-rc.1"}, []Version{"v1.90.3"}, false},
		{"== 1.90", []Version{"v1.90.0", "v1.90.7"}, []Version{"v1.91.0"}, false},
		{"!= 1.90", []Version{"v1.91.0"}, []Version{"v1.90.7"}, true},
		{"> v1.90.1, != v1.91.0", []Version{"v1.90.2"}, []Version{"v1.90.1", "v1.91.0"}, true},
	} {
		r, err := ParseRange(tc.text)
		if err != nil || r.String() != tc.text || r.Open() != tc.open {
			t.Errorf("%s: %v, read as %s, open %t", tc.text, err, r, r.Open())
		}
		for _, v := range tc.has {
			if !r.Has(v) {
				t.Errorf("%s: %s is not in it", tc.text, v)
			}
		}
		for _, v := range tc.hasNone {
			if r.Has(v) {
				t.Errorf("%s: %s is in it", tc.text, v)
			}
		}
	}
	if !(Range{}).Has("v1.90.1") || !(Range{}).Has(Reference) {
		t.Error("the zero range leaves something out")
	}
}

func TestParseRangeRefuses(t *testing.T) {
	for _, text := range []string{"", "1.90", "v1.90, and before", ">= 1", ">= newest", "> = 1.90", ">= 1.90,", "=> 1.90", "< 1.90 < 1.91"} {
		if r, err := ParseRange(text); err == nil {
			t.Errorf("%q: read as %s", text, r)
		}
	}
}

func TestOnlyReleasesHaveAnOrder(t *testing.T) {
	if _, err := (Comparison{"<", "1.90"}).Holds("reference"); err == nil {
		t.Error("reference is older than v1.90, and is no release")
	}
	if holds, err := (Comparison{"!=", "1.90"}).Holds("reference"); !holds || err != nil {
		t.Errorf("reference is not v1.90: %t, %v", holds, err)
	}
}
