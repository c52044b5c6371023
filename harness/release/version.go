// Package release holds what skewrig knows of Kubernetes releases: how their
// versions compare, which ones are supported, and which feature gates each of
// them has. It is the one place where releases differ; code elsewhere asks it.
package release

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/semver"
)

// Version is a release, written as its tag is: "v1.90.1", "v1.91.0-alpha.0".
type Version string

// Parse checks that s names one exact release. "v1.90" or "1.90.1" do not: a
// report must say which release ran, so a scenario must as well.
func Parse(s string) (Version, error) {
	if !semver.IsValid(s) || semver.Canonical(s) != s {
		return "", fmt.Errorf("%q is not a release: write it in full, like v1.36.0", s)
	}
	return Version(s), nil
}

// Compare returns -1, 0 or 1 as v is older than, the same as or newer than w.
// Pre-releases of a minor version are older than its first release.
func (v Version) Compare(w Version) int { return semver.Compare(string(v), string(w)) }

// Minor returns the minor version: 90 for v1.90.1.
func (v Version) Minor() int {
	_, minor, _ := strings.Cut(semver.MajorMinor(string(v)), ".")
	n, err := strconv.Atoi(minor)
	if err != nil {
		return 0
	}
	return n
}

// MajorMinor returns the version without patch and pre-release: "v1.90".
func (v Version) MajorMinor() string { return semver.MajorMinor(string(v)) }
