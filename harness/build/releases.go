package build

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/build/gotool"
	"github.com/skewrig/skewrig/harness/release"
)

// Unchecked is a target of which it is not known whether there is such a release.
type Unchecked struct {
	Target Target
	// Why says what the module proxy did: it refused, can't be reached, or did not answer
	// in time.
	Why string
}

// CheckReleases reports the targets whose release is not there, as Errors that are
// ErrNoRelease. It downloads nothing, and asks the module proxy only for a release that has
// no lock and was never downloaded. Of those that it returns, nothing is known.
func (b *Builder) CheckReleases(ctx context.Context, targets []Target) (unknown []Unchecked, err error) {
	s, err := b.store()
	if err != nil {
		return nil, err
	}
	var failures Errors
	for _, t := range targets {
		if isLocked(t) || b.given(t) != "" || t.Version.IsSource() {
			continue
		}
		if err := s.stub(); err != nil {
			return nil, err
		}
		_, err := gotool.Run(ctx, s.dir, []string{"list", "-m", t.module()})
		switch {
		case err == nil:
		case gotool.IsAbsent(err):
			failures = append(failures, &TargetError{Target: t, Err: noRelease(ctx, s.dir, t, err)})
		default:
			unknown = append(unknown, Unchecked{t, cmp.Or(gotool.Refusal(err), "the module proxy can't be reached")})
		}
	}
	if len(failures) > 0 {
		return unknown, failures
	}
	return unknown, nil
}

// stub has a module in the cache directory from which the Go command asks about others:
// the user's directory may be one with settings of its own. A Go command that needs a newer one for a module may have
// written that into it, and an older one would refuse it.
func (s store) stub() error {
	file := filepath.Join(s.dir, "go.mod")
	if text, err := os.ReadFile(file); err == nil && string(text) == stub {
		return nil
	}
	return writeFile(file, []byte(stub))
}

// noRelease is the error for a release that the module proxy does not have: it says which
// it has.
func noRelease(ctx context.Context, dir string, t Target, refusal error) error {
	module := t.Component.source().Module
	listed, _ := gotool.Run(ctx, dir, []string{"list", "-m", "-versions", "-retracted", module}) // without it, those that are known anyway
	there := strings.Fields(strings.TrimPrefix(listed, module))
	if t.Component.isKubernetes() {
		for _, v := range release.Supported() {
			there = append(there, string(v))
		}
	}
	return &NoRelease{Target: t, Near: nearest(t.Version, there), Said: refusal.Error()}
}

// maxNear is how many releases an error names.
const maxNear = 5

// nearest are the releases, newest first, that may be meant instead of one which is not
// there: those of its minor version, or else the last one of each other.
func nearest(v release.Version, there []string) []string {
	slices.SortFunc(there, func(a, b string) int { return release.Version(b).Compare(release.Version(a)) })
	there = slices.Compact(there)
	var same, last []string
	for _, other := range there {
		minor := release.Version(other).MajorMinor()
		if minor == v.MajorMinor() {
			same = append(same, other)
		}
		if len(last) == 0 || release.Version(last[len(last)-1]).MajorMinor() != minor {
			last = append(last, other)
		}
	}
	if len(same) > 0 {
		last = same
	}
	return last[:min(len(last), maxNear)]
}

// ErrNoRelease is the error for a release that can't be had as a Go module, whichever it
// is.
var ErrNoRelease error = &NoRelease{}

// NoRelease is the error for one such release.
type NoRelease struct {
	Target Target
	// Near are releases that there are, the likeliest first.
	Near []string
	// Said is how the Go command puts it.
	Said string
}

// Error implements error.
func (e *NoRelease) Error() string {
	of := string(e.Target.Component)
	if e.Target.Component.isKubernetes() {
		of = "Kubernetes"
	}
	message := fmt.Sprintf("%s %s does not exist", of, e.Target.Version)
	if len(e.Near) > 0 {
		message += "; near it are " + strings.Join(e.Near, ", ")
	}
	return message
}

// Is reports whether another error is ErrNoRelease.
func (e *NoRelease) Is(other error) bool { return other == ErrNoRelease }
