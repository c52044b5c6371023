package action

import (
	"context"
	"fmt"

	"github.com/skewrig/skewrig/scenarios/spec"
)

// Patch changes an object by a JSON merge patch (RFC 7386).
type Patch struct {
	// Object is resource/name or resource/namespace/name.
	Object   spec.ObjectRef `json:"object"`
	Merge    map[string]any `json:"merge"`
	Expected `json:"-"`
}

// Check implements spec.Action.
func (p Patch) Check(f spec.Field) {
	f.Refuse(".merge", len(p.Merge) == 0, "the patch changes nothing")
}

// Elsewhere implements spec.Elsewhere.
func (p Patch) Elsewhere() bool { return p.Object.Cluster != "" }

// Plan implements Planner.
func (p Patch) Plan(s Scene) (Action, error) {
	p.Expected = expected(s)
	return p, nil
}

// Describe implements Action: which object is changed, and how.
func (p Patch) Describe() string {
	return OneLine(fmt.Sprintf("patch %s with %s%s", p.Object, shorten(Encode(p.Merge)), p.describe()))
}

// Run implements Action.
func (p Patch) Run(ctx context.Context, rig Rig) error {
	if _, err := rig.Patch(ctx, p.Object, p.Merge, p.judged()); err != nil {
		return err
	}
	return p.judge(ctx, rig)
}

// Reach implements Reacher.
func (p Patch) Reach() Reach {
	if looksAround(p.Merge) {
		return ReachAll
	}
	return ofRef(p.Object)
}
