package main

import (
	"strings"
	"testing"
)

// TestNothingToAnswer: what is asked for is checked before anything starts.
func TestNothingToAnswer(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "name a KEP, a gate, or a milestone (--milestone)"},
		{[]string{"KEP-1", "--milestone", "v1.37"}, "either name a KEP or a gate, or a milestone (--milestone)"},
		{[]string{"--milestone", "v1.37"}, "add --text DIR"},
		{[]string{"NoSuchGate"}, "has no feature gate NoSuchGate"},
		{[]string{"KEP-1", "--text", "."}, ". has no kep.yaml (--text)"},
	} {
		code, stdout, stderr := skewrig(t, append([]string{"kep", "answer"}, test.args...)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, test.want) {
			t.Errorf("%v: exit code %d, printed %q, said %s", test.args, code, stdout, stderr)
		}
	}
}
