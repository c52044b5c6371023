package image

import (
	"errors"
	"fmt"
	"strings"

	"github.com/distribution/reference"
	"github.com/opencontainers/go-digest"
)

// Entry is a pattern of image references and what plays the images that match.
type Entry struct {
	// Pattern is a reference in which * stands for any characters between two
	// slashes or in the tag. What is left out is as in a pod's spec, except
	// for the tag: without one, every tag and digest matches.
	Pattern string
	// Image is the image. What is unset of Reference and Digest is filled in.
	Image Image
}

// Catalog is a library of entries. The first entry that matches plays an
// image.
type Catalog struct {
	entries  []entry
	fallback *Image
}

type entry struct {
	Entry
	// name and tag are patterns of path.Match. An empty tag matches all.
	name, tag string
}

var _ Library = (*Catalog)(nil)

// NewCatalog returns a library of the entries, in order of precedence. It
// returns an error that names every pattern that can't be understood.
func NewCatalog(entries ...Entry) (*Catalog, error) {
	c := &Catalog{}
	var errs []error
	for _, e := range entries {
		name, tag, err := parsePattern(e.Pattern)
		if err != nil {
			errs = append(errs, fmt.Errorf("image pattern %q: not a reference with * in it", e.Pattern))
		}
		c.entries = append(c.entries, entry{Entry: e, name: name, tag: tag})
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return c, nil
}

// SetDefault has an image that no entry matches played by this one. It is called before
// the catalog is used.
func (c *Catalog) SetDefault(image Image) { c.fallback = &image }

// Find implements Library.
func (c *Catalog) Find(ref string) (*Image, error) {
	parsed, err := Parse(ref)
	if err != nil {
		return nil, err
	}
	for _, e := range c.entries {
		if e.matches(parsed) {
			return complete(e.Image, parsed), nil
		}
	}
	if c.fallback != nil {
		return complete(*c.fallback, parsed), nil
	}
	return nil, fmt.Errorf("image %s: %w: images with a program: %s", parsed, ErrUnknown, c)
}

// Patterns returns the patterns, in order of precedence.
func (c *Catalog) Patterns() []string {
	patterns := make([]string, len(c.entries))
	for i, e := range c.entries {
		patterns[i] = e.Pattern
	}
	return patterns
}

// String lists the patterns.
func (c *Catalog) String() string {
	if len(c.entries) == 0 {
		return "nothing"
	}
	return strings.Join(c.Patterns(), ", ")
}

func complete(image Image, ref reference.Named) *Image {
	if image.Reference == "" {
		image.Reference = ref.String()
	}
	if digested, is := ref.(reference.Digested); is && image.Digest == "" {
		image.Digest = digested.Digest().String()
	}
	if image.Digest == "" {
		image.Digest = digest.FromString(ref.String()).String()
	}
	return &image
}
