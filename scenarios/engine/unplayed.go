package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/distribution/reference"

	"github.com/skewrig/skewrig/fakeservers/agnhost"
	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/harness/spelling"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// Unplayed reports the images that containers of cells ask for and nothing plays, each
// with its place, what can be played, and how to have it played. Such a container would
// never start. An image of a registry in the domain invalid (RFC 2606) is meant to be
// missing.
func Unplayed(cells []plan.Cell) error {
	var all []error
	for _, cell := range cells {
		library, err := patternsOf(cell)
		if err != nil {
			all = append(all, fmt.Errorf("%s: %w", cell.File, err))
			continue
		}
		for _, pull := range cell.Uses.Images {
			if _, err := library.Find(pull.Name); !errors.Is(err, image.ErrUnknown) {
				continue // what is no reference at all is for the API server and the kubelet to refuse
			}
			named, err := image.Parse(pull.Name)
			if err != nil || strings.HasSuffix(reference.Domain(named), ".invalid") {
				continue
			}
			all = append(all, strict.Problemf(pull.Position, "%s", unplayed(pull.Name, library.Patterns())))
		}
	}
	return strict.Join(all...)
}

// patternsOf is the library of a cell, without what plays its own images.
func patternsOf(cell plan.Cell) (*image.Catalog, error) {
	var entries []image.Entry
	for _, i := range cell.Images {
		entries = append(entries, image.Entry{Pattern: i.Image})
	}
	return image.NewCatalog(append(entries, agnhost.Entries()...)...)
}

// unplayed says that nothing plays an image, and what to do about it.
func unplayed(ref string, patterns []string) string {
	hint := "; what can be played is " + strings.Join(patterns, ", ") + "; this"
	if near := spelling.Closest(untagged(ref), patterns); len(near) > 0 {
		hint = ": did you mean " + near[0] + "? Otherwise this"
	}
	return fmt.Sprintf("nothing plays image %s%s has a server in its place: images: [{image: %s, listen: [{port: 8080, protocol: http1}]}]", ref, hint, untagged(ref))
}

// untagged is a reference without its tag and its digest.
func untagged(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	if tag := strings.LastIndexByte(ref, ':'); tag > strings.LastIndexByte(ref, '/') {
		ref = ref[:tag]
	}
	return ref
}
