package known

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports/cellid"
)

// Releases are those that a deviation is of: "kubelet >= 1.35, < 1.38".
type Releases struct {
	// Axis is the axis of a cell's id that has to be in the range. If unset,
	// every release in the id has to be, and there has to be one.
	Axis  string
	Range release.Range
}

// UnmarshalText reads releases as String writes them.
func (r *Releases) UnmarshalText(data []byte) (err error) {
	text := strings.TrimSpace(string(data))
	written := text
	if word, rest, _ := strings.Cut(text, " "); !release.IsOperator(word) {
		r.Axis, written = word, rest
	}
	if r.Range, err = release.ParseRange(written); err != nil {
		return fmt.Errorf("%q is not a range of releases: write it like >= 1.36, < 1.38, or kubelet < 1.37 if it is of one axis", text)
	}
	return nil
}

// String writes the releases as a list has them.
func (r Releases) String() string {
	return strings.TrimSpace(r.Axis + " " + r.Range.String())
}

// inWords are the words for a release's place by its operator.
var inWords = map[string]string{
	"<": "older than %s", "<=": "%s and older", ">": "newer than %s", ">=": "%s and newer", "==": "%s", "!=": "other than %s",
}

// words are the releases for people: "kubelet 1.35 and newer, older than 1.38".
func (r Releases) words() string {
	parts := make([]string, len(r.Range))
	for i, c := range r.Range {
		parts[i] = fmt.Sprintf(inWords[c.Operator], c.Value)
	}
	return cmp.Or(r.Axis, "releases") + " " + strings.Join(parts, ", ")
}

func (r Releases) unset() bool { return len(r.Range) == 0 }

// in reports whether the id of a cell has the releases.
func (r Releases) in(id string) bool {
	return r.unset() || r.all(id, r.Range.Has)
}

// after reports whether the releases are newer than those in the id of a cell.
func (r Releases) after(id string) bool {
	return r.all(id, r.Range.After)
}

// all reports whether each release in the id of a cell that the range is about is as wanted. There must be one.
func (r Releases) all(id string, wanted func(release.Version) bool) bool {
	axes := cellid.Axes(id)
	if r.Axis != "" {
		return wanted(release.Version(axes[r.Axis]))
	}
	found := false
	for _, value := range axes {
		v, err := release.Parse(value)
		if err == nil && !wanted(v) {
			return false
		}
		found = found || err == nil
	}
	return found
}
