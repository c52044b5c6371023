package spec_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestLimits: what a small file may stand for is bounded, before it is decoded.
func TestLimits(t *testing.T) {
	t.Parallel()
	list := func(n int, format string) string {
		items := make([]string, n)
		for i := range items {
			items[i] = fmt.Sprintf(format, i)
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	const head = "apiVersion: skewrig.dev/v1alpha1\nkind: Scenario\nid: a/b/c\ntitle: x\n"
	const checks = "- checks: [{id: a, observe: size(pods), is: 0}]\n"
	rig := "topology: {nodes: [{name: a}]}\n"
	axes := "axes: {a: " + list(16, "x%d") + ", b: " + list(15, "y%d") + "}\n"
	for name, tc := range map[string]struct{ text, want string }{
		"axes":       {"axes: {a: " + list(17, "x%d") + ", b: " + list(16, "y%d") + "}\n" + rig + "steps:\n- wait: {for: 1s}\n  name: ${a}${b}\n", "too many cells: the axes must give at most 256; use fewer values"},
		"steps":      {rig + "steps: " + list(501, "{name: s%d, wait: {for: 1s}}") + "\n", "too many steps, with those of sequences: must be at most 500; make several scenarios"},
		"sequences":  {rig + "sequences: {s: " + list(1000, "{name: s%d, wait: {for: 1s}}") + "}\nsteps: " + list(20_000, "{use: s}#%d\n") + "\n", "too many steps, with those of sequences: must be at most 500"},
		"a long one": {rig + "sequences: {s: " + list(100, "{name: s%d, kill: '"+strings.Repeat("${n}", 1000)+"'}") + "}\nsteps: [{use: s, with: {n: " + strings.Repeat("x", 10_000) + "}}]\n", "too long: what steps give to sequences must be at most 1572864 bytes together"},
		"checks":     {rig + "steps: [{checks: " + list(100, "{id: a%d, observe: size(pods), is: 0}") + "}, {checks: " + list(51, "{id: b%d, observe: size(pods), is: 0}") + "}]\n", "too many checks, of all steps: must be at most 150; make several scenarios"},
		"nodes":      {"topology: {nodes: " + list(101, "{name: n%d}") + "}\nsteps:\n" + checks, "too many nodes: must be at most 100; use leaseNodes"},
		"values":     {"axes: {a: " + list(100_000, "x%d") + "}\n" + rig + "steps: [{name: '${a}', wait: {for: 1s}}]\n", "too many values: the axes must give at most 256 cells"},
		"leases":     {"topology: {leaseNodes: {count: 2000000000}}\nsteps:\n" + checks, "2000000000 nodes: must be at most 100000"},
		"zones":      {"topology: {leaseNodes: {zones: {a: 9000000000000000000, b: 9000000000000000000}}}\nsteps:\n" + checks, "too many nodes: all zones must have at most 100000"},
		"members":    {"topology: {controlPlane: {servers: " + list(101, "{name: n%d}") + "}}\nsteps:\n" + checks, "too many components: a control plane must have at most 9 of a kind"},
		"states":     {axes + rig + "steps: " + list(100, "{name: '%d${a}${b}', wait: {for: 1s}}") + "\n", "too many cells: 240 of 100 steps on 5 components; the product must be at most 100000; use fewer values"},
		"judged":     {axes + rig + "steps: [{name: '${a}${b}', checks: " + list(5, "{id: a%d, observe: size(pods), is: 0}") + "}]\n", "too many cells: 240 of 5 checks; the product must be at most 1000; use fewer values"},
		"text":       {axes + rig + "# " + strings.Repeat("x", 8000) + "\nsteps:\n- {name: '${a}${b}', wait: {for: 1s}}\n" + checks, "too many cells: 240 of a file of"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := decode("test.yaml", head+tc.text); err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "test.yaml:") {
				t.Errorf("error %.400v, want one with %q", err, tc.want)
			}
		})
	}
}
