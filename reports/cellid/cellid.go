// Package cellid says what the id of a cell looks like, and matches ids against
// the patterns that the command line and the known-deviation list share.
//
// An id is a path of segments,
//
//	<kep or area>/<group>/<scenario>/<axis>:<value>/...
//
// and the same string everywhere: in reports, in patterns, on the command line
// and as a directory under the report directory. A segment is made of ASCII
// letters, digits and any of - _ . , : + = @ ~ and neither begins with - or .
// nor is longer than a file name may be.
//
// A pattern is an id in which * stands for any run of characters within a
// segment, none included, and a segment that is ** stands for any run of
// segments, none included. There is no other special character: in particular
// no ?, no character class and no escape. A pattern matches a whole id, never a
// part of one. Where a user chooses, it may also be the beginning of ids: see Choose.
package cellid

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxSegment is the longest name that common file systems can store, in bytes.
const maxSegment = 255

// maxID bounds an id, and a pattern, so that the path of a cell's directory
// stays well below what the system calls accept. In bytes.
const maxID = 2048

// ErrInvalid is wrapped by the error for a malformed id or pattern.
var ErrInvalid = errors.New("malformed")

// Check returns an error that wraps ErrInvalid if id cannot be the id of a cell.
// The ids of checks follow the same rules, so that patterns can name them.
func Check(id string) error {
	if strings.Contains(id, "*") {
		return fmt.Errorf("%w id %q: * belongs into a pattern", ErrInvalid, id)
	}
	if problem := malformed(id); problem != "" {
		return fmt.Errorf("%w id %q: %s", ErrInvalid, id, problem)
	}
	return nil
}

// Split returns the two parts by which cells are grouped: the suite, which is
// the KEP or area and the group, and the name within it. An id of less than
// three segments has its last segment as name.
func Split(id string) (suite, name string) {
	segments := strings.Split(id, "/")
	n := min(2, len(segments)-1)
	return strings.Join(segments[:n], "/"), strings.Join(segments[n:], "/")
}

// Axes returns the values in an id by the names of their axes.
func Axes(id string) map[string]string {
	axes := make(map[string]string)
	for segment := range strings.SplitSeq(id, "/") {
		if axis, value, is := strings.Cut(segment, ":"); is {
			axes[axis] = value
		}
	}
	return axes
}

// Trunk returns an id without its axes: the scenario.
func Trunk(id string) string {
	segments := slices.DeleteFunc(strings.Split(id, "/"), func(s string) bool { return strings.Contains(s, ":") })
	return strings.Join(segments, "/")
}

// Runtime is the axis that no scenario has: it tells apart cells that run on two container runtimes. It comes last.
const Runtime = "runtime"

// AsPlanned returns an id without the container runtime that the cell ran on.
func AsPlanned(id string) string {
	if at := strings.LastIndexByte(id, '/'); at >= 0 && strings.HasPrefix(id[at+1:], Runtime+":") {
		return id[:at]
	}
	return id
}

// malformed returns what is wrong with an id or a pattern, empty if nothing is.
func malformed(id string) string {
	if id == "" {
		return "it is empty"
	}
	if len(id) > maxID {
		return fmt.Sprintf("it is longer than %d bytes", maxID)
	}
	for segment := range strings.SplitSeq(id, "/") {
		if problem := malformedSegment(segment); problem != "" {
			return problem
		}
	}
	return ""
}

func malformedSegment(segment string) string {
	switch {
	case segment == "":
		return "it has an empty segment"
	case len(segment) > maxSegment:
		return fmt.Sprintf("it has a segment longer than %d bytes", maxSegment)
	case segment[0] == '.' || segment[0] == '-':
		return fmt.Sprintf("a segment begins with %q", segment[0])
	}
	for _, r := range segment {
		if !allowed(r) {
			return fmt.Sprintf("%q is not allowed in it", r)
		}
	}
	return ""
}

func allowed(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
		strings.ContainsRune("-_.,:+=@~*", r)
}
