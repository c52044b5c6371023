// Package model says what Kubernetes does with a field that a feature gate guards,
// in as few lines as that takes: what an API server stores of it, and what a kubelet
// then puts on the wire if it is a probe's. It is written from the texts of the KEPs
// and from what releases were seen to do, and shares no code with Kubernetes; that is
// what makes a difference between the two worth looking at.
//
// All of it is values in, values out. Package oracle holds the record of a run
// against it.
package model

import "github.com/skewrig/skewrig/harness/release"

// Component is an API server or a kubelet: its release with the version that it emulates, and
// the gates that are set on it.
type Component struct {
	release.Effective
	Gates release.Gates
}

// Rules are what the model is given: the fields that it is about, and the gates of
// each release.
type Rules struct {
	Fields []Field
	Gates  release.Tables
}

// Knows reports whether a component's release has a field at all.
func (r Rules) Knows(c Component, f Field) bool {
	_, known := r.Gates.Gate(c.Effective, f.Gate)
	return known
}

// Enabled reports whether a component has a field's gate on: as set on the component, or
// else by default.
func (r Rules) Enabled(c Component, f Field) bool {
	if set, is := c.Gates[f.Gate]; is {
		return set
	}
	gate, known := r.Gates.Gate(c.Effective, f.Gate)
	return known && gate.Default
}
