package lease

import "time"

// action is what a node asks the API server for.
type action string

const (
	update action = "update"
	get    action = "get"
	create action = "create"
)

// answer is what comes of it.
type answer string

const (
	done     answer = "done"
	conflict answer = "conflict"
	notFound answer = "not found"
	failed   answer = "failed" // refused, or no answer in time
)

const (
	maxUpdates  = 5                      // in a row
	firstWait   = 100 * time.Millisecond // doubled before it is waited for
	longestWait = 7 * time.Second
)

// renewal is a node's part in renewing its lease, round by round: it first
// writes what it knows to be the latest version, up to five times; if that does
// not work it reads the lease, until it has it, and tries to write again; and
// then it is the next round's turn. KEP-0589 has the idea, and
// k8s.io/component-helpers/apimachinery/lease/controller.go what a kubelet does.
// It knows nothing of time and network.
type renewal struct {
	known   bool // it has a version of the lease that may be the latest
	updates int  // in a row
	read    bool // it has read the lease in this round, as it could not write
	wait    time.Duration
}

// begin begins a round.
func (r *renewal) begin() action {
	*r = renewal{known: r.known}
	if r.known {
		return update
	}
	return r.ensure()
}

// ensure begins to read the lease.
func (r *renewal) ensure() action {
	r.read, r.wait = true, firstWait
	return get
}

// next returns what comes after an answer, and after which time. The round ends
// if it returns nothing.
func (r *renewal) next(a action, got answer) (next action, after time.Duration) {
	switch {
	case a == update && got == done, a == create && got == done:
		r.known = true
		return "", 0
	case a == update:
		return r.again(got), 0
	case a == get && got == done:
		r.known = true
		return update, 0
	case a == get && got == notFound:
		return create, 0
	default:
		r.wait = min(2*r.wait, longestWait)
		return get, r.wait
	}
}

// again comes after a write that failed.
func (r *renewal) again(got answer) action {
	r.updates = min(r.updates+1, maxUpdates)
	switch {
	case got == conflict && r.updates < maxUpdates:
		r.wait = firstWait
		return get
	case r.updates < maxUpdates:
		return update
	case !r.read:
		r.updates = 0
		return r.ensure()
	default:
		return ""
	}
}
