package script

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Move is something that happens at a time.
type Move struct {
	// At is when, counted from the beginning. Moves are in order, and the last one
	// may be one that does nothing.
	At time.Duration
	// Text says what it is. It is empty for one that the move before it speaks of,
	// too.
	Text   string
	Action Action
}

// Action is what a move does: Set, Remove, SetReady, Disturb, Stop or Start. It is
// nil for a move that only lets time pass.
type Action any

// Set adds pods, or gives them another state.
type Set struct{ Pods []*corev1.Pod }

// Remove takes pods away.
type Remove struct{ UIDs []types.UID }

// SetReady says whether the node knows its pods.
type SetReady struct{ Ready bool }

// Disturb has the server do something wrong; the zero value, nothing any more. See
// server.Disturbance.
type Disturb struct {
	Delay      time.Duration
	BreakAfter int
}

// Stop takes the server away, and its socket.
type Stop struct{}

// Start has the server come back. It has the pods, but the node isn't ready.
type Start struct{ Pods []*corev1.Pod }
