package link

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Fault is what is wrong with a link. The zero Fault is none: all passes.
type Fault struct {
	// Cut is how the link is cut. If unset, it isn't.
	Cut Cut `json:"cut,omitempty"`
	// AfterBytes is how much of each connection, counted from the beginning of
	// the fault in each direction, passes before it is cut. If unset, nothing.
	AfterBytes int64 `json:"afterBytes,omitempty"`
	// Direction is the one that the fault is in; the other one is well. If
	// unset, both.
	Direction Direction `json:"direction,omitempty"`
	// Delay is how much later everything arrives, and Jitter by how much more
	// it may be, at random. What is sent keeps its order. If unset, neither.
	Delay  time.Duration `json:"delay,omitempty"`
	Jitter time.Duration `json:"jitter,omitempty"`
	// BytesPerSecond is what passes at the most, in each connection and
	// direction. If unset, any amount.
	BytesPerSecond int64 `json:"bytesPerSecond,omitempty"`
}

// Cut is a way in which a link is cut.
type Cut string

// The ways in which a link is cut.
const (
	// Reset ends every connection with a TCP reset, as a firewall does that
	// rejects, or a machine that lost its state.
	Reset Cut = "reset"
	// Drop loses what is sent, as a cable does that is pulled: nobody is told. A
	// sender that is patient gets through when the link is healed, because TCP
	// sends again.
	Drop Cut = "drop"
)

// Direction is a direction of a link.
type Direction string

// The directions.
const (
	// Forward is from who connects to who listens.
	Forward Direction = "forward"
	// Backward is from who listens to who connected.
	Backward Direction = "backward"
)

// Validate returns all that contradicts itself in a fault.
func (f Fault) Validate() error {
	var mistakes []error
	mistake := func(is bool, format string, args ...any) {
		if is {
			mistakes = append(mistakes, fmt.Errorf(format, args...))
		}
	}
	mistake(f.Cut != "" && f.Cut != Reset && f.Cut != Drop, "%q is no way to cut a link: it is %q or %q", f.Cut, Reset, Drop)
	mistake(f.Direction != "" && f.Direction != Forward && f.Direction != Backward, "%q is no direction: it is %q or %q", f.Direction, Forward, Backward)
	mistake(f.Cut == Reset && f.Direction != "", "a reset ends a connection in both directions")
	mistake(f.AfterBytes < 0 || f.BytesPerSecond < 0, "a number of bytes is not negative")
	mistake(f.AfterBytes > 0 && f.Cut == "", "afterBytes is for a link that is cut")
	mistake(f.Delay < 0 || f.Jitter < 0, "a delay is not negative")
	mistake(f.slows() && f.Cut != "" && f.AfterBytes == 0, "what is cut can't be slow: the link has either fault, or afterBytes")
	return errors.Join(mistakes...)
}

// String is how a plan tells a fault: "drop forward", "delay 20ms".
func (f Fault) String() string {
	var words []string
	word := func(is bool, format string, args ...any) {
		if is {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	word(f.Cut != "", "%s", f.Cut)
	word(f.Delay > 0, "delay %s", f.Delay)
	word(f.Jitter > 0, "jitter %s", f.Jitter)
	word(f.BytesPerSecond > 0, "%d bytes per second", f.BytesPerSecond)
	word(f.Direction != "", "%s", f.Direction)
	word(f.AfterBytes > 0, "after %d bytes", f.AfterBytes)
	if len(words) == 0 {
		return "pass"
	}
	return strings.Join(words, " ")
}

func (f Fault) isIn(d Direction) bool { return f.Direction == "" || f.Direction == d }

func (f Fault) slows() bool { return f.Delay > 0 || f.Jitter > 0 || f.BytesPerSecond > 0 }

// refuses reports whether no connection can be made: a first packet, or its
// answer, gets nowhere.
func (f Fault) refuses() bool { return f.Cut != "" && f.AfterBytes == 0 }

// Effect is what a fault has done, which proves that it was one.
type Effect struct {
	// Reset and Held are numbers of connections, of those that were refused too.
	Reset int64 `json:"reset,omitempty"`
	Held  int64 `json:"held,omitempty"`
	// Withheld and Slowed are numbers of bytes.
	Withheld int64 `json:"withheld,omitempty"`
	Slowed   int64 `json:"slowed,omitempty"`
}

// Any reports whether there was an effect.
func (e Effect) Any() bool { return e != Effect{} }

// FaultBegan is recorded when a link has another fault than before. The subject
// is the link.
type FaultBegan struct {
	Fault Fault `json:"fault"`
}

// EventKind implements record.Payload.
func (FaultBegan) EventKind() string { return "link.fault-began" }

// FaultEnded is recorded when a fault is over, with what it did.
type FaultEnded struct {
	Fault  Fault  `json:"fault"`
	Effect Effect `json:"effect"`
}

// EventKind implements record.Payload.
func (FaultEnded) EventKind() string { return "link.fault-ended" }
