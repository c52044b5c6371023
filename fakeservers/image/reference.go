package image

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/distribution/reference"
)

// Parse reads a reference as a pod's spec has it, and spells it out: without a
// registry it is Docker Hub's, without a tag or digest it is "latest".
func Parse(text string) (reference.Named, error) {
	named, err := reference.ParseNormalizedNamed(text)
	if err != nil {
		return nil, fmt.Errorf("image reference %.1024q: %w", text, err)
	}
	return reference.TagNameOnly(named), nil
}

// star stands for * while a pattern is read: every part of a reference may have it.
const star = "0star0"

// parsePattern returns the name and the tag of a pattern, as patterns of path.Match.
// The tag is empty if there is none.
func parsePattern(text string) (name, tag string, err error) {
	named, err := reference.ParseNormalizedNamed(strings.ReplaceAll(text, "*", star))
	if err != nil {
		return "", "", err
	}
	if tagged, is := named.(reference.Tagged); is {
		tag = strings.ReplaceAll(tagged.Tag(), star, "*")
	}
	if _, is := named.(reference.Digested); is {
		err = errors.New("a digest has no *")
	}
	return strings.ReplaceAll(named.Name(), star, "*"), tag, err
}

// matches reports whether a reference is one of an entry's.
func (e entry) matches(ref reference.Named) bool {
	tagged, isTagged := ref.(reference.Tagged)
	// A pattern with no special character but * is never bad.
	name, _ := path.Match(e.name, ref.Name())
	if !name || e.tag == "" || !isTagged {
		return name && e.tag == ""
	}
	tag, _ := path.Match(e.tag, tagged.Tag())
	return tag
}
