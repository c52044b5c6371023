// Package changed holds what a release changes, as skewrig release says it.
package changed

import (
	"time"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports"
)

// Document is what a release changes.
type Document struct {
	Release release.Version `json:"release"`
	Since   release.Version `json:"since"`
	// Sections are in the order in which they are read.
	Sections []Section `json:"sections"`
	Stages   []Stage   `json:"stages"`
}

// Section is one kind of change.
type Section struct {
	Title string `json:"title"`
	// Note says what that means, and what to do.
	Note  string `json:"note"`
	Lines []Line `json:"lines"`
}

// Line is a change.
type Line struct {
	What   string `json:"what"`
	Detail string `json:"detail,omitempty"`
	// Link is a file below the directory. If unset, there is none.
	Link string `json:"link,omitempty"`
}

// Stage is a part of the work, which is a command of skewrig.
type Stage struct {
	// Name is what the stage is called, and the directory of what it leaves.
	Name string `json:"name"`
	// Command does the same again, without a report directory.
	Command string `json:"command"`
	// Exit is the exit code. If unset, the stage has not ended.
	Exit *int `json:"exit,omitempty"`
	// Informs is true if the stage decides nothing: it says what is so.
	Informs bool `json:"informs,omitempty"`
	// Started and Seconds are when it began, and how long it took.
	Started time.Time `json:"started,omitzero"`
	Seconds float64   `json:"seconds,omitempty"`
	// Said is the end of what it said, if nothing was judged.
	Said string `json:"said,omitempty"`
}

// Ended reports whether the stage came to a result, good or bad.
func (s Stage) Ended() bool {
	return s.Exit != nil && (s.Informs && *s.Exit <= reports.ExitNotJudged || *s.Exit == reports.ExitExpected || *s.Exit == reports.ExitNonconforming)
}

// Exit is the exit code of all stages: the first of nonconforming, not judged and conforming that one has.
func (d Document) Exit() int {
	code := reports.ExitExpected
	for _, s := range d.Stages {
		switch {
		case s.Exit == nil || !s.Ended():
			if code == reports.ExitExpected {
				code = reports.ExitNotJudged
			}
		case *s.Exit == reports.ExitNonconforming && !s.Informs:
			code = reports.ExitNonconforming
		}
	}
	return code
}
