package upstream

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSpecs(t *testing.T) {
	r := Report{
		{Name: "[sig-node] Pods run [Slow]", Container: "[sig-node] Pods", Labels: []string{"sig-node", "Serial", "Slow", "FeatureGate:B", "FeatureGate:A"}},
		{Name: "[sig-node] Pods run", Container: "[sig-node] Pods"},
		{Name: "[sig-node] Pods are \"*not*\" run", Container: "[sig-node] Pods", Labels: []string{"FeatureGate:A"}},
		{Name: "[sig-node] Pods run", Container: "[sig-node] Pods"},
	}
	got := Specs(r)
	want := []Spec{
		{Name: "[sig-node] Pods are \"*not*\" run", ID: "pods/are-not-run", Gates: []string{"A"}},
		{Name: "[sig-node] Pods run", ID: "pods/run"},
		{Name: "[sig-node] Pods run [Slow]", ID: "pods/run-2", Gates: []string{"A", "B"}, Serial: true, Slow: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("specs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"A", "B"}, GatesOf(got)); diff != "" {
		t.Errorf("gates (-want +got):\n%s", diff)
	}
}

func TestSlugFitsAName(t *testing.T) {
	if got := slug(strings.Repeat("very long ", 50)); len(got) > maxSlug || strings.HasSuffix(got, "-") {
		t.Errorf("a slug of %d bytes: %s", len(got), got)
	}
	for text, want := range map[string]string{"[sig-node] [Slow]": "sig-node-slow", "*": "spec", "[Slow] \"*not*\" run": "not-run"} {
		if got := slug(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestChoice(t *testing.T) {
	specs := []Spec{{Name: "Probing a"}, {Name: "Probing b"}, {Name: "Resizing c"}}
	for name, test := range map[string]struct {
		focus, skip string
		want        int
		err         string
	}{
		"a focus":            {focus: "^Probing", want: 2},
		"a focus and a skip": {focus: "^Probing", skip: "b$", want: 1},
		"nothing is left":    {focus: "^Probing", skip: ".", err: "none of the 3 specs is selected"},
	} {
		t.Run(name, func(t *testing.T) {
			c := Choice{Focus: regexp.MustCompile(test.focus)}
			if test.skip != "" {
				c.Skip = regexp.MustCompile(test.skip)
			}
			got, err := c.Of(specs)
			if len(got) != test.want || (test.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("chosen %v, error %v", got, err)
			}
		})
	}
	if _, err := (Choice{}).Of(nil); err == nil {
		t.Error("a release without specs is no error")
	}
}
