package image

import (
	"fmt"
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

const (
	defaultRegistry = "docker.io"
	defaultPath     = "library/"
)

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
