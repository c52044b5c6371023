package release

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/skewrig/skewrig/harness/spelling"
)

// Releases are those that a run is about: what the words of scenarios stand for, and what stands
// in for a release. The zero value has the default pair.
type Releases struct {
	// Newest and Previous are the pair. If unset, the constants of that name.
	Newest, Previous Version
	// Sources stand in for releases. If unset, none does.
	Sources Sources
}

// Choose returns the releases of a pair that a user names. If newest is empty, it is the default
// one. If previous is empty, it is the newest supported release of the minor version before.
func Choose(newest, previous string) (r Releases, err error) {
	if newest == "" && previous == "" {
		return r, nil
	}
	var newestErr, previousErr error
	if r.Newest = Newest; newest != "" {
		r.Newest, newestErr = Resolve(newest)
	}
	switch {
	case previous != "":
		r.Previous, previousErr = Resolve(previous)
	case newestErr == nil:
		r.Previous, previousErr = Resolve(r.Newest.older(1))
		if previousErr != nil {
			previousErr = fmt.Errorf("no release of %s is known, the minor version before %s: name one", r.Newest.older(1), r.Newest)
		}
	}
	if newestErr == nil && previousErr == nil && r.Previous.Compare(r.Newest) >= 0 {
		previousErr = fmt.Errorf("%s is not older than the newest release, %s", r.Previous, r.Newest)
	}
	return r, errors.Join(ofWord("newest", newestErr), ofWord("previous", previousErr))
}

func ofWord(word string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("--%s: %w", word, err)
}

// Chosen reports whether the pair is not the default one.
func (r Releases) Chosen() bool {
	return r.Newest != "" && r.Newest != Newest || r.Previous != "" && r.Previous != Previous
}

// Default reports whether the pair is the default one, and nothing stands in for a release.
func (r Releases) Default() bool { return !r.Chosen() && len(r.Sources) == 0 }

// Pair is the newest release and the one before.
func (r Releases) Pair() (newest, previous Version) {
	newest, previous = Newest, Previous
	if r.Newest != "" {
		newest = r.Newest
	}
	if r.Previous != "" {
		previous = r.Previous
	}
	return newest, previous
}

// Supported returns the pair, and the supported releases of other minor versions, newest first.
func (r Releases) Supported() []Version {
	newest, previous := r.Pair()
	all := []Version{newest, previous}
	for _, v := range supported {
		if !slices.ContainsFunc(all, func(other Version) bool { return other.MajorMinor() == v.MajorMinor() }) {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, func(v, w Version) int { return w.Compare(v) })
	return all
}

// olderWord begins a word for a release that is so many minor versions older than the newest.
const olderWord = "n-"

// beforeWord begins a word for the newest release that has no such feature gate, older than newest.
const beforeWord = "before-"

func (r Releases) before(gate string) (Version, error) {
	newest, _ := r.Pair()
	for _, v := range r.Supported() {
		gates, known, err := Table(Effective{Version: v})
		if err != nil {
			return "", err
		}
		if v.Compare(newest) < 0 && known && !has(gates, gate) {
			return v, nil
		}
	}
	return "", fmt.Errorf("all known releases before %s have feature gate %s", newest, gate)
}

// older is the minor version that is so many older.
func (v Version) older(by int) string {
	major, _, _ := strings.Cut(v.MajorMinor(), ".")
	return fmt.Sprintf("%s.%d", major, v.Minor()-by)
}

// Resolve returns the release that a word stands for: newest, previous, next for a
// pre-release of the minor version after, n-2 for two minor versions before the newest, before-GATE
// for the newest one without a feature gate, a minor version such as v1.36, which is its newest
// supported patch release, or a release in full.
func (r Releases) Resolve(word string) (Version, error) {
	newest, previous := r.Pair()
	switch word {
	case "newest":
		return newest, nil
	case "previous":
		return previous, nil
	case "next":
		if Next.Minor() > newest.Minor() {
			return Next, nil
		}
		return "", fmt.Errorf("no release of a minor version after %s is known", newest)
	}
	minor := word
	if by, err := strconv.ParseUint(strings.TrimPrefix(word, olderWord), 10, 8); err == nil && strings.HasPrefix(word, olderWord) {
		minor = newest.older(int(by))
	}
	if gate, is := strings.CutPrefix(word, beforeWord); is {
		return r.before(gate)
	}
	for _, v := range r.Supported() {
		if v.MajorMinor() == minor {
			return v, nil
		}
	}
	if minor != word {
		return "", fmt.Errorf("%s stands for %s here, since the newest release is %s, and no release of it is known: write one in full", word, minor, newest)
	}
	v, err := Parse(word)
	if meant := Meant(word); err != nil && meant != "" {
		return "", fmt.Errorf("%q is not a release: did you mean %s?", word, meant)
	}
	if err != nil {
		return "", fmt.Errorf("%w, as newest, previous or n-2, or as a minor version that is supported", err)
	}
	return v, nil
}

// Resolve is Releases.Resolve with the default pair.
func Resolve(word string) (Version, error) { return Releases{}.Resolve(word) }

// Meant returns the word that Resolve knows and that the user probably means by a word that it
// doesn't know, or "" if there is none.
func Meant(word string) string {
	if word == "latest" {
		return "newest"
	}
	meant := "v" + word
	if _, err := Parse(meant); err == nil {
		return meant
	}
	if slices.ContainsFunc(supported, func(v Version) bool { return v.MajorMinor() == meant }) {
		return meant
	}
	if near := spelling.Closest(word, []string{"newest", "previous"}); len(near) > 0 {
		return near[0]
	}
	return ""
}
