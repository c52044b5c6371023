package cellid

import (
	"fmt"
	"slices"
	"strings"
)

// Pattern matches ids of cells. The zero value matches none.
type Pattern struct {
	text     string
	segments []string
}

// Compile parses a pattern. The error wraps ErrInvalid.
func Compile(pattern string) (Pattern, error) {
	if problem := malformed(pattern); problem != "" {
		if begin, ofGo := strings.CutSuffix(pattern, "..."); ofGo { // as packages are named
			problem += fmt.Sprintf(": did you mean %q?", strings.TrimPrefix(begin, "./")+"**")
		}
		return Pattern{}, fmt.Errorf("%w pattern %q: %s", ErrInvalid, pattern, problem)
	}
	segments := strings.Split(pattern, "/")
	for i, segment := range segments {
		// A ** inside a segment reads as if it crossed segments.
		if segment != "**" && strings.Contains(segment, "**") {
			apart := slices.Clone(segments)
			apart[i] = setApart(segment)
			return Pattern{}, fmt.Errorf("%w pattern %q: ** is only allowed as a whole segment, not in %q: write %q", ErrInvalid, pattern, segment, strings.Join(apart, "/"))
		}
	}
	return Pattern{text: pattern, segments: segments}, nil
}

// setApart is a segment in which each ** is a segment of its own: **/*:newest for **:newest.
func setApart(segment string) string {
	parts := strings.Split(segment, "**")
	for i := range parts {
		if i > 0 {
			parts[i] = "*" + parts[i]
		}
		if i < len(parts)-1 {
			parts[i] += "*"
		}
	}
	whole := strings.Trim(strings.Join(parts, "/**/"), "/")
	return strings.TrimSuffix(strings.TrimPrefix(whole, "*/"), "/*")
}

// UnmarshalText implements encoding.TextUnmarshaler by Compile.
func (p *Pattern) UnmarshalText(text []byte) (err error) {
	*p, err = Compile(strings.TrimSpace(string(text)))
	return err
}

// String returns the pattern as it was compiled.
func (p Pattern) String() string { return p.text }

// Match reports whether the pattern matches the whole of id.
func (p Pattern) Match(id string) bool {
	return matchRun(p.segments, strings.Split(id, "/"), "**", matchSegment)
}

// Choose returns those of some ids that a pattern matches. If it matches none, it is the
// beginning of ids, in whole segments: "kep-4939/skew" stands for "kep-4939/skew/**".
func Choose(ids []string, pattern string) ([]string, error) {
	p, err := Compile(strings.TrimSuffix(pattern, "/"))
	if err != nil {
		return nil, err
	}
	below := Pattern{segments: append(slices.Clone(p.segments), "**")}
	for _, each := range []Pattern{p, below} {
		if chosen := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !each.Match(id) }); len(chosen) > 0 {
			return chosen, nil
		}
	}
	return nil, nil
}

func matchSegment(pattern, segment string) bool {
	return matchRun([]byte(pattern), []byte(segment), '*', func(p, s byte) bool { return p == s })
}

// matchRun matches items against a pattern in which wildcard stands for any run
// of items, none included. When the items after a wildcard do not match, only
// the latest wildcard needs to take in one more: whatever an earlier one took,
// the latest can take as well. So the time is at most the product of the two
// lengths, whatever a hostile pattern looks like.
func matchRun[T comparable](pattern, items []T, wildcard T, same func(pattern, item T) bool) bool {
	p, i := 0, 0
	resumeP, resumeI := -1, 0
	for i < len(items) {
		switch {
		case p < len(pattern) && pattern[p] == wildcard:
			resumeP, resumeI = p+1, i
			p++
		case p < len(pattern) && same(pattern[p], items[i]):
			p, i = p+1, i+1
		case resumeP >= 0:
			resumeI++
			p, i = resumeP, resumeI
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == wildcard {
		p++
	}
	return p == len(pattern)
}
