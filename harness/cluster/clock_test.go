package cluster

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/clock"
	"github.com/skewrig/skewrig/record"
)

// twoNodes is a rig of which nothing runs: node-a has a clock, node-b has none.
func twoNodes(t *testing.T, h *record.History) (c *Cluster, a, b *component) {
	t.Helper()
	c = &Cluster{cfg: Config{Recorder: h}}
	a, b = &component{name: "kubelet/node-a", node: "node-a", kind: build.Kubelet}, &component{name: "kubelet/node-b", kind: build.Kubelet}
	c.add(a)
	c.add(b)
	if err := errors.Join(c.addClock(a, t.TempDir()), c.SetClock("node-a", clock.Clock{Offset: -35 * time.Second})); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.clock.Close(); err != nil {
			t.Error(err)
		}
	})
	return c, a, b
}

func TestOnlyANodeWithAClockHasABinaryForIt(t *testing.T) {
	_, a, b := twoNodes(t, new(record.History))
	if !a.target().Clock || b.target().Clock {
		t.Errorf("built are %s for node-a and %s for node-b", a.target(), b.target())
	}
	if env := a.clockEnvironment(); len(env) != 1 || !filepath.IsAbs(strings.TrimPrefix(env[0], "SKEWRIG_CLOCK=")) {
		t.Errorf("the environment of node-a is %q", env)
	}
	if env := b.clockEnvironment(); env != nil {
		t.Errorf("the environment of node-b is %q", env)
	}
}

// TestAClockWithoutEvidenceIsNotSet: a process that was started and
// does not read the page shows the machine's time.
func TestAClockWithoutEvidenceIsNotSet(t *testing.T) {
	_, a, b := twoNodes(t, new(record.History))
	if err := a.checkClock(a.clock.Readers()); err == nil || !strings.Contains(err.Error(), "kubelet/node-a shows the machine's time") {
		t.Errorf("no process reads the clock of node-a: %v", err)
	}
	if err := b.checkClock(b.clock.Readers()); err != nil {
		t.Errorf("node-b has no clock to show: %v", err)
	}
}

func TestChangesOfAClockAreRecorded(t *testing.T) {
	var h record.History
	c, _, _ := twoNodes(t, &h)
	since := time.Unix(1_000_000, 0).UTC()
	if err := c.SetClock("node-a", clock.Clock{Frozen: true, Since: since}); err != nil {
		t.Fatal(err)
	}
	for node, want := range map[string]string{
		"node-a": "setting the clock of kubelet/node-a: a clock that is frozen needs to know since when",
		"node-b": "kubelet/node-b shows the machine's time: its node has no clock of its own in the rig's Config",
		"node-c": `this rig has no component "kubelet/node-c"; it has ["kubelet/node-a" "kubelet/node-b"]`,
	} {
		if err := c.SetClock(node, clock.Clock{Frozen: true}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", node, err, want)
		}
	}
	var got []string
	for e, set := range record.All[record.ClockSet](h.Events()) {
		text, err := json.Marshal(set)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Kind+" "+e.Subject+" "+string(text))
	}
	want := []string{
		`clock.set kubelet/node-a {"clock":{}}`,
		`clock.set kubelet/node-a {"clock":{"offset":-35000000000}}`,
		`clock.set kubelet/node-a {"clock":{"frozen":true,"since":"1970-01-12T13:46:40Z"}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}
