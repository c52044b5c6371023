package action

import (
	"cmp"
	"context"
	"strings"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Get asks a component for what it has at a path, and reads the answer into the
// record.
type Get struct {
	// Path is the path, with a query if there is one: /openapi/v3/api/v1.
	Path string `json:"path"`
	// Component is an API server, or kubelet/<node>. If unset, the
	// first API server.
	Component string `json:"component,omitempty"`
}

// Check implements spec.Action.
func (g Get) Check(f spec.Field) {
	f.Refuse(".path", !strings.HasPrefix(g.Path, "/"), "%s is not a path: it begins with /", strict.Quote(g.Path))
	if g.Component != "" && spec.Program(g.Component) != spec.APIServer && !strings.HasPrefix(g.Component, spec.KubeletPrefix) {
		f.Report(".component", "%s can't be asked: API servers and kubelets can", strict.Quote(g.Component))
	}
}

// Change implements spec.Changer.
func (g Get) Change(r *spec.Rig) { mustRun(r, ".component", cmp.Or(g.Component, r.Servers()[0].Name)) }

// Plan implements Planner.
func (g Get) Plan(scene Scene) (Action, error) {
	g.Component = cmp.Or(g.Component, scene.Rig.Servers()[0].Name)
	return g, nil
}

// Describe implements Action.
func (g Get) Describe() string { return OneLine("get " + g.Path + " of " + g.Component) }

// Run implements Action.
func (g Get) Run(ctx context.Context, rig Rig) error { return rig.Get(ctx, g.Component, g.Path) }

// Reach implements Reacher.
func (g Get) Reach() Reach { return ofComponent(g.Component, ReachShared) }
