package action

import (
	"context"
	"path"

	"github.com/skewrig/skewrig/scenarios/spec"
)

// Stored reads what etcd has of an object into the record.
type Stored struct {
	// Object is resource/name or resource/namespace/name.
	Object spec.ObjectRef `json:"object"`
}

// Check implements spec.Action: what is no object can't be read.
func (Stored) Check(spec.Field) {}

func (s Stored) Change(r *spec.Rig) { mustRun(r, "", path.Join(s.Object.Cluster, spec.Etcd)) }

func (s Stored) Describe() string { return OneLine("read " + s.Object.String() + " in etcd") }

func (s Stored) Run(ctx context.Context, rig Rig) error { return rig.ReadStored(ctx, s.Object) }

// Facts are those of an object that is read in etcd.
func (s Stored) Facts() Facts {
	return Facts{Needs: NeedsEtcd, Reach: ofRef(s.Object), Gives: gives("stored")}
}
