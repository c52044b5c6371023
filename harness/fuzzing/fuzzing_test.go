package fuzzing

import (
	"strings"
	"testing"
	"time"
)

func TestTheLimits(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	before := costs{cpu: time.Minute, heap: 1 << 30, at: begun}
	for name, c := range map[string]struct {
		after costs
		want  string
	}{
		"nothing":          {before, ""},
		"all but":          {costs{time.Minute + MaxCPU, 1<<30 + MaxHeap, begun.Add(MaxWait)}, ""},
		"less memory":      {costs{time.Minute, 0, begun}, ""},
		"processor time":   {costs{time.Minute + MaxCPU + 1, 1 << 30, begun}, "2.000000001s of processor time"},
		"memory":           {costs{time.Minute, 1<<30 + 600<<20, begun}, "600 MiB of memory"},
		"time that passes": {costs{time.Minute, 1 << 30, begun.Add(MaxWait + 1)}, "have passed"},
	} {
		got := c.after.exceeding(before)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestCostsAreMeasured(t *testing.T) {
	t.Parallel()
	if c := used(); c.cpu <= 0 || c.heap == 0 || c.at.IsZero() {
		t.Errorf("%+v", c)
	}
}
