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
	Rejected bool           `json:"-"` // the API server is expected to refuse it
}

// Check implements spec.Action.
func (p Patch) Check(f spec.Field) {
	f.Refuse(".merge", len(p.Merge) == 0, "the patch changes nothing")
}

// Plan implements Planner.
func (p Patch) Plan(s Scene) (Action, error) {
	p.Rejected = s.Step.Rejected
	return p, nil
}

// Describe implements Action: which object is changed, and how.
func (p Patch) Describe() string {
	return OneLine(fmt.Sprintf("patch %s with %s%s", p.Object, shorten(Encode(p.Merge)), refused(p.Rejected)))
}

// Run implements Action.
func (p Patch) Run(ctx context.Context, rig Rig) error {
	return rig.Patch(ctx, p.Object, p.Merge, p.Rejected)
}

// Keeps implements Keeper.
func (p Patch) Keeps(swept func(string) bool) bool { return swept(p.Object.Resource) }
