package engine

import (
	"github.com/skewrig/skewrig/fakeservers/agnhost"
	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Library plays the images that a scenario maps, and those that skewrig knows.
// A scenario's own mapping comes first.
func Library(images []spec.Image) (image.Library, error) {
	var entries []image.Entry
	for _, i := range images {
		entries = append(entries, image.Entry{Pattern: i.Image, Image: agnhost.Listeners(i.Listen...)})
	}
	return image.NewCatalog(append(entries, agnhost.Entries()...)...)
}
