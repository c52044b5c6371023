package image

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Reference is an image reference with everything spelled out.
type Reference struct {
	// Name is the registry and the path, such as
	// "docker.io/library/busybox".
	Name string
	// Tag is empty only if there is a digest.
	Tag string
	// Digest is "sha256:" and 64 hex digits, or empty.
	Digest string
}

// String returns the reference as one text.
func (r Reference) String() string {
	text := r.Name
	if r.Tag != "" {
		text += ":" + r.Tag
	}
	if r.Digest != "" {
		text += "@" + r.Digest
	}
	return text
}

const (
	defaultRegistry = "docker.io"
	defaultPath     = "library/"
	defaultTag      = "latest"
)

// The grammar of references:
// https://github.com/distribution/reference/blob/main/reference.go.
var (
	domainForm = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*(:[0-9]+)?$`)
	pathForm   = regexp.MustCompile(`^[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*(/[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*)*$`)
	tagForm    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// maxReference is longer than any reference that a pod's spec would hold.
const maxReference = 1024

// Parse reads a reference as a pod's spec has it: without a registry it is
// Docker Hub's, without a tag or digest it is "latest". The error holds
// everything that is wrong.
func Parse(text string) (Reference, error) {
	if len(text) > maxReference {
		return Reference{}, fmt.Errorf("image reference of %d bytes: more than %d", len(text), maxReference)
	}
	rest, digest, hasDigest := strings.Cut(text, "@")
	rest, tag, hasTag := cutTag(rest)
	domain, path := cutDomain(rest)
	var errs []error
	check := func(part, what string, form *regexp.Regexp) {
		if !form.MatchString(part) {
			errs = append(errs, fmt.Errorf("image reference %q: %q is not a %s", text, part, what))
		}
	}
	check(domain, "registry", domainForm)
	check(path, "path, which is in lower case", pathForm)
	if hasTag {
		check(tag, "tag", tagForm)
	} else if !hasDigest {
		tag = defaultTag
	}
	if hasDigest {
		check(digest, "digest, which is sha256: and 64 hex digits", digestForm)
	}
	if len(errs) > 0 {
		return Reference{}, errors.Join(errs...)
	}
	return Reference{Name: domain + "/" + path, Tag: tag, Digest: digest}, nil
}

// cutTag cuts a reference before its tag. A colon further ahead belongs to the
// registry's port.
func cutTag(text string) (name, tag string, found bool) {
	i := strings.LastIndex(text, ":")
	if i < 0 || strings.Contains(text[i:], "/") {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

// cutDomain returns registry and path. The first part is a registry if it
// can't be anything else.
func cutDomain(name string) (domain, path string) {
	domain, path, found := strings.Cut(name, "/")
	if !found || !strings.ContainsAny(domain, ".:") && domain != "localhost" {
		domain, path = defaultRegistry, name
	}
	if domain == "index.docker.io" {
		domain = defaultRegistry
	}
	if domain == defaultRegistry && !strings.Contains(path, "/") {
		path = defaultPath + path
	}
	return domain, path
}
