package images

import (
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/skewrig/skewrig/fakeservers/agnhost"
	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/harness/layer"
)

// Player puts the image together that can play any other: what it plays, and its mark, is said by the
// environment of a container (container.Plays). Commands beside the main process are those that
// skewrig knows.
func (s Set) Player() (v1.Image, error) {
	if err := s.checkProbes(); err != nil {
		return nil, err
	}
	played := agnhost.Any()
	for _, e := range agnhost.Entries() {
		played.Links = slices.Concat(played.Links, e.Image.Links, e.Image.Entrypoint)
	}
	packed, err := append(s.programs(), links(&played, nil)...).Compressed()
	if err != nil {
		return nil, err
	}
	return layer.Image(v1.Config{Entrypoint: []string{container.Program}, WorkingDir: "/", Env: environment}, packed)
}
