package action

import (
	"context"

	"github.com/skewrig/skewrig/scenarios/spec"
)

// Delete deletes an object, which is written as resource/name or
// resource/namespace/name.
type Delete struct{ Object spec.ObjectRef }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Delete) UnmarshalText(text []byte) error { return d.Object.UnmarshalText(text) }

// MarshalText implements encoding.TextMarshaler.
func (d Delete) MarshalText() ([]byte, error) { return d.Object.MarshalText() }

// Check implements spec.Action: what is no object can't be read.
func (Delete) Check(spec.Field) {}

func (d Delete) Elsewhere() bool { return d.Object.Cluster != "" }

func (d Delete) Describe() string { return OneLine("delete " + d.Object.String()) }

func (d Delete) Run(ctx context.Context, rig Rig) error { return rig.Delete(ctx, d.Object) }

// Facts are those of a request that deletes an object.
func (d Delete) Facts() Facts {
	return Facts{Needs: NeedsObjects, Reach: ofRef(d.Object), Deletes: d.Object, Unanswered: 1, Gives: gives("requests")}
}
