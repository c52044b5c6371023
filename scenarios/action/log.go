package action

import (
	"context"

	"github.com/skewrig/skewrig/scenarios/spec"
)

// Log reads from the log of a component into the record.
type Log struct {
	// Component is the component, which may have ended.
	Component string `json:"component"`
	// Match is a regular expression (RE2). The lines that it matches are read.
	Match string `json:"match"`
}

func (l Log) Check(f spec.Field) {
	f.Named(".component", l.Component)
	err := spec.CheckPattern(l.Match)
	f.Refuse(".match", err != nil, "%v", err)
	f.Refuse(".match", l.Match == "", "give a regular expression that matches something")
}

func (l Log) Change(r *spec.Rig) { r.Find(".component", l.Component) }

func (l Log) Describe() string { return OneLine("read /" + l.Match + "/ in the log of " + l.Component) }

func (l Log) Run(_ context.Context, rig Rig) error { return rig.ReadLog(l.Component, l.Match) }

// Facts are those of lines that are read in a log.
func (l Log) Facts() Facts {
	return Facts{Needs: NeedsLogs, Component: l.Component, Reach: ofComponent(l.Component, ReachShared), Gives: gives("logs")}
}
