package oracle

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// watched is the story of a watchdog and two dependents: a is scaled down first
// and up last.
func watched(v release.Version, replicas int) *story {
	scaling := func(level int) *record.Scaling { return &record.Scaling{Level: level} }
	of := func(name string, up, down int) record.DependentResource {
		return record.DependentResource{
			Ref:     record.ResourceRef{APIVersion: "apps/v1", Kind: "Deployment", Name: name},
			ScaleUp: scaling(up), ScaleDown: scaling(down),
		}
	}
	s := &story{cell: plan.Cell{Topology: record.Topology{Garden: &record.Garden{
		Watchdog: v, Prober: record.Prober{DependentResourceInfos: []record.DependentResource{of("a", 1, 0), of("b", 0, 1)}},
	}}}}
	s.add("dependency-watchdog", record.ComponentStarted{Version: v})
	for i := range 5 {
		s.node(fmt.Sprintf("node-%d", i), "{}")
	}
	for _, name := range []string{"a", "b"} {
		s.deployment(name, replicas)
	}
	return s
}

func (s *story) node(name, annotations string) {
	body := fmt.Sprintf(`{"metadata": {"name": %q, "annotations": %s}}`, name, annotations)
	s.add("nodes/"+name, record.ObjectObserved{Change: "modified", Resource: "nodes", Name: name, Object: json.RawMessage(body)})
}

func (s *story) deployment(name string, replicas int) {
	body := fmt.Sprintf(`{"metadata": {"name": %q}, "spec": {"replicas": %d}}`, name, replicas)
	s.add("seed/deployments/shoot/"+name, record.ObjectObserved{
		Cluster: "seed", Change: "modified", Resource: "deployments", Namespace: "shoot", Name: name, Object: json.RawMessage(body),
	})
}

// probe is the requests of a probe that finds that some of the nodes renewed
// their leases just now, and the others so long ago.
func (s *story) probe(nodes, old int, ago time.Duration) {
	s.add(spec.WatchdogToShoot, record.LinkRequest{Method: "GET", Path: "/version", Code: 200})
	renewed := make(map[string]time.Time)
	for i := range nodes {
		renewed[fmt.Sprintf("node-%d", i)] = s.now()
		if i < old {
			renewed[fmt.Sprintf("node-%d", i)] = s.now().Add(-ago)
		}
	}
	s.add(spec.WatchdogToShoot, record.LinkRequest{Method: "GET", Path: "/leases", Code: 200, Renewed: renewed})
}

func (s *story) scale(name string, code int) {
	s.add(spec.WatchdogToSeed, record.LinkRequest{Method: "PUT", Path: "/apis/apps/v1/namespaces/shoot/deployments/" + name + "/scale", Code: code})
}

func TestWatchdogDecisions(t *testing.T) {
	t.Parallel()
	const minute = time.Minute
	for name, tc := range map[string]struct {
		release  release.Version
		replicas int
		tell     func(*story)
		want     string // in what is observed; empty if it is well
	}{
		"scales down":                {"v1.8.0", 1, func(s *story) { s.probe(5, 3, minute); s.scale("a", 200); s.scale("b", 200); s.probe(5, 0, 0) }, ""},
		"does not scale down":        {"v1.8.0", 1, func(s *story) { s.probe(5, 3, minute); s.probe(5, 0, 0) }, "a was not scaled, although the probe should scale down"},
		"can't scale down":           {"v1.8.0", 1, func(s *story) { s.probe(5, 3, minute); s.scale("a", 409); s.probe(5, 0, 0) }, "a was not scaled"},
		"does not reach a later one": {"v1.8.0", 1, func(s *story) { s.probe(5, 3, minute); s.scale("a", 200); s.probe(5, 0, 0) }, ""},
		"scales down too early":      {"v1.8.0", 1, func(s *story) { s.probe(5, 2, minute); s.scale("a", 200) }, "a was scaled by a probe that should not scale it (fewer leases"},
		"scales up":                  {"v1.8.0", 0, func(s *story) { s.probe(5, 2, minute); s.scale("b", 200); s.scale("a", 200); s.probe(5, 0, 0) }, ""},
		"does not scale up":          {"v1.8.0", 0, func(s *story) { s.probe(5, 2, minute); s.probe(5, 0, 0) }, "b was not scaled, although the probe should scale up"},
		"has nothing to do":          {"v1.8.0", 1, func(s *story) { s.probe(5, 0, 0); s.probe(5, 0, 0) }, ""},
		"knows nothing":              {"v1.8.0", 1, func(s *story) { s.scale("a", 200); s.probe(5, 0, 0) }, "had listed no leases"},
		"could not list": {"v1.8.0", 1, func(s *story) {
			s.probe(5, 3, minute)
			s.scale("a", 200)
			s.add(spec.WatchdogToShoot, record.LinkRequest{Path: "/version"})
			s.scale("b", 200)
		}, "b was scaled by a watchdog that had listed no leases"},
		"one node, newer": {"v1.8.0", 1, func(s *story) { s.probe(1, 1, minute); s.scale("a", 200) }, "there is only one candidate"},
		"one node, older": {"v1.2.3", 1, func(s *story) { s.probe(1, 1, minute); s.scale("a", 200); s.probe(5, 0, 0) }, ""},
		"is not sure":     {"v1.8.0", 1, func(s *story) { s.probe(5, 0, 0); s.probe(5, 3, 30*time.Second-leeway/2); s.probe(5, 0, 0) }, ""},
		"dies": {"v1.8.0", 1, func(s *story) {
			s.probe(5, 3, minute)
			s.add("dependency-watchdog", record.ComponentStopped{})
			s.probe(5, 0, 0)
		}, ""},
		"another client changes a dependent": {"v1.8.0", 1, func(s *story) {
			s.probe(5, 3, minute)
			s.add("patch", record.APIAnswer{Object: "seed/deployments/shoot/a", Code: 200})
			s.probe(5, 0, 0)
		}, ""},
		"nodes that don't count": {"v1.8.0", 1, func(s *story) {
			for i := range 2 {
				s.node(fmt.Sprintf("node-%d", i), `{"node.machine.sapcloud.io/not-managed-by-mcm": "1"}`)
			}
			s.probe(5, 3, minute)
			s.scale("a", 200)
		}, "a was scaled by a probe that should not scale it"},
		"machines that have failed": {"v1.8.0", 1, func(s *story) {
			for i := range 2 {
				s.add("fail", record.APIAnswer{Object: fmt.Sprintf("seed/machines/shoot/machine-node-%d", i), Code: 200,
					Response: map[string]any{"status": map[string]any{"currentStatus": map[string]any{"phase": "Failed"}}}})
			}
			s.probe(5, 3, minute)
			s.scale("a", 200)
		}, "a was scaled by a probe that should not scale it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := watched(tc.release, tc.replicas)
			tc.tell(s)
			outcome, observed := s.outcome(t, "watchdog-decisions")
			if tc.want == "" && outcome != reports.Pass || tc.want != "" && (outcome != reports.Fail || !strings.Contains(observed, tc.want)) {
				t.Errorf("%s: %s", outcome, observed)
			}
		})
	}
	if outcome, _ := watched("", 1).outcome(t, "watchdog-decisions"); outcome != "" {
		t.Errorf("without a watchdog: %s", outcome)
	}
}
