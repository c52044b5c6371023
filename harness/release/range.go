package release

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// operators by what they make of the order of two values.
var operators = map[string]func(order int) bool{
	"==": func(order int) bool { return order == 0 },
	"!=": func(order int) bool { return order != 0 },
	"<":  func(order int) bool { return order < 0 },
	"<=": func(order int) bool { return order <= 0 },
	">":  func(order int) bool { return order > 0 },
	">=": func(order int) bool { return order >= 0 },
}

// minorVersion is a release without its patch.
var minorVersion = regexp.MustCompile(`^v?(\d+\.\d+)$`)

// Comparison is an operator with the value to its right: "< 1.37". A release
// without its patch stands for all of that minor version, its pre-releases
// included. A value that is no release is only the same as another or not.
type Comparison struct{ Operator, Value string }

// IsOperator reports whether a word can be the operator of a Comparison.
func IsOperator(word string) bool { return operators[word] != nil }

// Holds compares a value with the comparison's own.
func (c Comparison) Holds(value string) (bool, error) {
	order, ordered := compare(value, c.Value)
	if !ordered && c.Operator != "==" && c.Operator != "!=" {
		return false, fmt.Errorf("%q and %q have no order: only == and != compare values that are not releases", value, c.Value)
	}
	return operators[c.Operator](order), nil
}

func compare(value, wanted string) (order int, ordered bool) {
	v, err := Parse(string(Version(value).WithoutBuild()))
	if minor := minorVersion.FindStringSubmatch(wanted); minor != nil && err == nil {
		return Version(v.MajorMinor()).Compare(Version("v" + minor[1])), true
	}
	if w, wantedErr := Parse(wanted); wantedErr == nil && err == nil {
		return v.Compare(w), true
	}
	return strings.Compare(value, wanted), false
}

// Range is a set of releases, written as comparisons that all hold:
// ">= 1.36, < 1.38". The zero Range holds every release.
type Range []Comparison

// ParseRange reads a range.
func ParseRange(text string) (Range, error) {
	var r Range
	for part := range strings.SplitSeq(text, ",") {
		words := strings.Fields(part)
		if len(words) != 2 || !IsOperator(words[0]) || !isReleaseOrMinor(words[1]) {
			return nil, fmt.Errorf("%q is not a range of releases: write it like >= 1.36, < 1.38", text)
		}
		r = append(r, Comparison{Operator: words[0], Value: words[1]})
	}
	return r, nil
}

func isReleaseOrMinor(text string) bool {
	_, err := Parse(text)
	return err == nil || minorVersion.MatchString(text)
}

// Has reports whether a release, or a source, is in the range. What is neither is in none
// but the zero Range.
func (r Range) Has(v Version) bool {
	if _, err := Parse(string(v.WithoutBuild())); err != nil {
		return len(r) == 0
	}
	for _, c := range r {
		if holds, err := c.Holds(string(v)); err != nil || !holds {
			return false
		}
	}
	return true
}

// After reports whether all releases of the range are newer than a release.
func (r Range) After(v Version) bool {
	if _, err := Parse(string(v.WithoutBuild())); err != nil {
		return false
	}
	return slices.ContainsFunc(r, func(c Comparison) bool {
		holds, err := c.Holds(string(v))
		return err == nil && !holds && (c.Operator == ">=" || c.Operator == ">")
	})
}

// Open reports whether releases of any later version are in the range.
func (r Range) Open() bool {
	const later Version = "v1.1000000.0"
	return r.Has(later)
}

// String writes the range as ParseRange reads it.
func (r Range) String() string {
	parts := make([]string, len(r))
	for i, c := range r {
		parts[i] = c.Operator + " " + c.Value
	}
	return strings.Join(parts, ", ")
}
