package build

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
)

// CheckReleases reports the targets whose release is not there, as Errors that wrap
// ErrNoRelease. It downloads nothing, and asks the module proxy only for a release that has
// no lock and was never downloaded. That the proxy does not answer before the context ends
// is no error: then it is not known.
func (b *Builder) CheckReleases(ctx context.Context, targets []Target) error {
	s, err := b.store()
	if err != nil {
		return err
	}
	var failures Errors
	for _, t := range targets {
		if _, err := fs.Stat(locks, "locks/"+lockName(t)+".mod"); err == nil || b.given(t) != "" {
			continue
		}
		if err := s.stub(); err != nil {
			return err
		}
		if _, err := goCommand(ctx, s.dir, []string{"list", "-m", t.module()}); err != nil && refused.MatchString(err.Error()) {
			failures = append(failures, &TargetError{Target: t, Err: noRelease(ctx, s.dir, t, err)})
		}
	}
	if len(failures) > 0 {
		return failures
	}
	return nil
}

// stub has a module in the cache directory from which the Go command asks about others:
// the user's directory may be one with settings of its own.
func (s store) stub() error {
	file := filepath.Join(s.dir, "go.mod")
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	return writeFile(file, []byte("module cache\n"))
}

// noRelease is the error for a release that the module proxy does not have: it says which
// it has, and how it refused.
func noRelease(ctx context.Context, dir string, t Target, refusal error) error {
	module := sources[t.Component].module
	listed, _ := goCommand(ctx, dir, []string{"list", "-m", "-versions", "-retracted", module}) // without it, those that are known anyway
	there := strings.Fields(strings.TrimPrefix(listed, module))
	if t.Component.isKubernetes() {
		for _, v := range release.Supported() {
			there = append(there, string(v))
		}
	}
	hint := ""
	if near := nearest(t.Version, there); len(near) > 0 {
		hint = "; there are " + strings.Join(near, ", ")
	}
	_, reason, _ := strings.Cut(refusal.Error(), "\n")
	reason, _, _ = strings.Cut(strings.TrimSpace(reason), "\n")
	if reason == "" {
		reason = refusal.Error()
	}
	return fmt.Errorf("%w: %s has no %s%s (%s)", ErrNoRelease, module, t.Version, hint, reason)
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
