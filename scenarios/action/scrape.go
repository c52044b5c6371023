package action

import (
	"cmp"
	"context"
	"strings"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Scrape reads the metrics of a component into the record.
type Scrape struct {
	// Component is an API server or kubelet/<node>.
	Component string `json:"component"`
	// Path is the endpoint. If unset, /metrics.
	Path string `json:"path,omitempty"`
}

func (s Scrape) Check(f spec.Field) {
	name := s.Component
	f.Refuse(".component", (spec.Program(name) != spec.APIServer || name == spec.SeedAPIServer) && !strings.HasPrefix(name, spec.KubeletPrefix),
		"%s can't be scraped: %s and kubelets can", strict.Quote(name), spec.APIServer)
	if s.Path != "" && !strings.HasPrefix(s.Path, "/") {
		f.Report(".path", "%s is not a path: it begins with /", strict.Quote(s.Path))
	}
}

func (s Scrape) Change(r *spec.Rig) { mustRun(r, ".component", s.Component) }

// mustRun reports a component that has to run for the step, and does not.
func mustRun(r *spec.Rig, field, name string) {
	if c := r.Find(field, name); c != nil && !c.Running {
		r.Conflict(field, "%s is not running", c.Name)
	}
}

func (s Scrape) Plan(Scene) (Action, error) {
	s.Path = cmp.Or(s.Path, "/metrics")
	return s, nil
}

func (s Scrape) Describe() string { return OneLine("scrape " + s.Path + " of " + s.Component) }

func (s Scrape) Run(ctx context.Context, rig Rig) error { return rig.Scrape(ctx, s.Component, s.Path) }

// Facts are those of metrics that are read.
func (s Scrape) Facts() Facts {
	return Facts{
		Needs: NeedsMetrics, Component: s.Component, Reach: ofComponent(s.Component, ReachShared),
		Gives: []Reading{{"metrics", s.Component}, {Variable: "scrapes"}},
	}
}
