package action

import (
	"context"
	"strconv"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Sockets reads the TCP sockets of a component into the record.
type Sockets struct {
	// Component is the component.
	Component string `json:"component"`
	// Port has sockets in TIME_WAIT read too, those of any process with that port at
	// either end. If unset, none are.
	Port int `json:"port,omitempty"`
	// For is for how long they are read again and again, each socket once in each
	// state. If unset, they are read once.
	For behavior.Duration `json:"for,omitempty"`
}

func (s Sockets) Check(f spec.Field) {
	f.Named(".component", s.Component)
	f.Refuse(".port", s.Port < 0 || s.Port > 65535, "%d is not a TCP port, 1 to 65535", s.Port)
	f.Duration(".for", s.For)
}

func (s Sockets) Change(r *spec.Rig) { mustRun(r, ".component", s.Component) }

func (s Sockets) Describe() string {
	text := "read the sockets of " + s.Component
	if s.Port != 0 {
		text += ", waiting ones of port " + strconv.Itoa(s.Port)
	}
	if s.For != 0 {
		text += ", for " + s.For.String()
	}
	return OneLine(text)
}

func (s Sockets) Run(ctx context.Context, rig Rig) error {
	return rig.ReadSockets(ctx, s.Component, s.Port, time.Duration(s.For))
}

// Facts are those of sockets that are read.
func (s Sockets) Facts() Facts {
	return Facts{
		Needs: NeedsSockets, Component: s.Component, Reach: ofComponent(s.Component, ReachShared), Gives: gives("sockets"),
		Lasts: time.Duration(s.For),
	}
}
