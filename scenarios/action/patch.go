package action

import (
	"context"
	"fmt"

	"github.com/skewrig/skewrig/scenarios/spec"
)

// Patch changes an object by a JSON merge patch (RFC 7386).
type Patch struct {
	// Object is resource/name or resource/namespace/name.
	Object spec.ObjectRef `json:"object"`
	Merge  map[string]any `json:"merge"`
	// Subresource is the part of the object that is patched, such as resize. If unset, the
	// object itself is, or its status if the patch is of nothing else.
	Subresource string `json:"subresource,omitempty"`
	WriteOptions
	Expected `json:"-"`
}

func (p Patch) Check(f spec.Field) {
	f.Refuse(".merge", len(p.Merge) == 0, "the patch changes nothing")
	if f.Has(".subresource") && f.Clean(".object") {
		checkSubresource(f, p.Object.Resource, p.Subresource)
	}
	p.check(f)
}

func (p Patch) Elsewhere() bool { return p.Object.Cluster != "" }

func (p Patch) Plan(s Scene) (Action, error) {
	p.Expected = expected(s)
	return p, nil
}

// Describe implements Action: which object is changed, and how.
func (p Patch) Describe() string {
	text := fmt.Sprintf("patch %s with %s", p.Object, shorten(Encode(p.Merge)))
	if p.Subresource != "" {
		text += " as its " + p.Subresource
	}
	return OneLine(text + p.asked() + p.describe())
}

func (p Patch) Run(ctx context.Context, rig Rig) error {
	if _, err := rig.Write(ctx, *p.write()); err != nil {
		return err
	}
	return p.judge(ctx, rig)
}

// Facts are those of a request that patches an object.
func (p Patch) Facts() Facts {
	f := Facts{Needs: NeedsObjects, Reach: ofRef(p.Object), Writes: p.write(), Gives: gives("requests"), Checks: p.Checked()}
	if LooksAround(p.Merge) {
		f.Reach = ReachAll
	}
	return f
}

func (p Patch) write() *Write {
	return &Write{Verb: Patches, Ref: p.Object, Body: p.Merge, Subresource: p.Subresource, WriteOptions: p.WriteOptions, Judged: p.judged()}
}
