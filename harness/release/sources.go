package release

import (
	"strings"
	"sync"
)

// Source is a checkout that stands in for a release.
type Source struct {
	// Component is the program that is compiled from it. If unset, each of Kubernetes is.
	Component string
	// Instead is the release in whose place it is.
	Instead Version
	// Version is what it calls itself.
	Version Version
}

// Sources are those of a run. If unset, all that runs is of releases.
type Sources []Source

// Of is the version of a program of Kubernetes that runs where a release is asked for: the
// release, or what stands in for it. What is said of one program goes before what is said of
// all.
func (s Sources) Of(program string, v Version) Version {
	is := v
	for _, source := range s {
		switch {
		case source.Instead != v:
		case source.Component == program:
			return source.Version
		case source.Component == "":
			is = source.Version
		}
	}
	return is
}

// Instead is the release that a version stands in for: itself, if it is that of no source.
func (s Sources) Instead(v Version) Version {
	for _, source := range s {
		if source.Version == v {
			return source.Instead
		}
	}
	return v
}

// IsSource reports whether a version is that of a checkout, and not of a release: it says of
// which commit and files, as v1.90.1-12+0123456789abcd.01234567.
func (v Version) IsSource() bool { return strings.Contains(string(v), "+") }

// WithoutBuild is a version without what says of which commit it is.
func (v Version) WithoutBuild() Version {
	released, _, _ := strings.Cut(string(v), "+")
	return Version(released)
}

// learned are the feature gates of sources and of releases without a table, by version.
var learned sync.Map

// Learn makes the feature gates of a source, or of a release without a table, known, which are
// sorted by name. The version says of which files they are, so that nothing else is ever known of it.
func Learn(v Version, gates []Gate) { learned.Store(v, gates) }

// learnedGates are those that Learn made known.
func learnedGates(v Version) ([]Gate, bool) {
	gates, known := learned.Load(v)
	if !known {
		return nil, false
	}
	return gates.([]Gate), true //nolint:forcetypeassert // nothing else is stored
}

// fields are those of the API's types of sources and of newer releases, by version.
var fields sync.Map

// LearnFields makes the fields of the API's types of a source, or of a newer release, known, by package, type and name in
// JSON: k8s.io/api/core/v1.Pod.spec.
func LearnFields(v Version, of map[string]bool) { fields.Store(v, of) }

// Fields are those that LearnFields made known. Of a release with an older API, and of a source whose
// checkout is not there, none are.
func Fields(v Version) (of map[string]bool, known bool) {
	all, known := fields.Load(v)
	of, _ = all.(map[string]bool)
	return of, known
}
