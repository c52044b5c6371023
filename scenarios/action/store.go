package action

import (
	"cmp"
	"context"
	"fmt"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Store has etcd hold an object as another release would have left it there, and reads that into
// the record: what is stored is read into the types of that release, changed, and put back. No
// API server is asked.
type Store struct {
	// Object is resource/name or resource/namespace/name.
	Object spec.ObjectRef `json:"object"`
	// Version is a release, "newest", "previous" or a minor version ("v1.36").
	Version release.Version `json:"version"`
	// Merge is a JSON merge patch (RFC 7386) of what is stored, of fields that the release has.
	// If unset, nothing else is changed.
	Merge map[string]any `json:"merge,omitempty"`
	// Encoding is how it is put back. If unset, protobuf, as API servers store built-in kinds.
	Encoding Encoding `json:"encoding,omitempty"`
}

func (s Store) Check(f spec.Field) {
	s.Encoding.check(f)
	metadata, _ := s.Merge["metadata"].(map[string]any)
	for _, identity := range []string{"name", "namespace", "uid"} {
		_, has := metadata[identity]
		f.Refuse(".merge.metadata."+identity, has, "etcd has the object by this: store another object instead")
	}
}

func (s Store) Asks() map[string]release.Version {
	return map[string]release.Version{".version": s.Version}
}

func (s Store) Change(r *spec.Rig) {
	r.Resolve(".version", s.Version)
	Stored{s.Object}.Change(r)
	server := r.Servers()[0].Name
	if s.Object.Cluster != "" {
		server = spec.SeedAPIServer
	}
	mustRun(r, "", server)
}

func (s Store) Plan(scene Scene) (Action, error) {
	v, err := scene.Rig.Meant(s.Version)
	s.Version, s.Encoding = scene.Rig.On(spec.TypedClient, v), cmp.Or(s.Encoding, Protobuf)
	return s, err
}

func (s Store) Describe() string {
	text := fmt.Sprintf("store %s in etcd as %s has it, in %s", s.Object, s.Version, s.Encoding)
	if len(s.Merge) > 0 {
		text += ", with " + shorten(Encode(s.Merge))
	}
	return OneLine(text)
}

func (s Store) Run(ctx context.Context, rig Rig) error { return rig.Store(ctx, s) }

// Facts are those of an object that is put into etcd.
func (s Store) Facts() Facts {
	return Facts{
		Needs: NeedsEtcd, Reach: ofRef(s.Object), Types: s.Version, Writes: &Write{Verb: Puts, Ref: s.Object, Body: s.Merge},
		Starts: programs(spec.TypedClient, s.Version), Gives: gives("stored"),
	}
}
