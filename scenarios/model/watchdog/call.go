package watchdog

import "time"

// Call is a request that a probe makes.
type Call string

// The calls. Those for the kubeconfig of the shoot and for machines go to the
// seed, all others to the shoot's API server.
const (
	ReadSecret   Call = "read secret"
	GetVersion   Call = "get version"
	Discover     Call = "discover"
	ListNodes    Call = "list nodes"
	ListMachines Call = "list machines"
	ListLeases   Call = "list leases"
)

// ToShoot reports whether a call goes to the shoot's API server.
func (c Call) ToShoot() bool { return c != ReadSecret && c != ListMachines }

// ProbeCall is a call, and what comes of it.
type ProbeCall struct {
	Call Call
	// BacksOff is true if the prober backs off when the answer is Throttled.
	BacksOff bool
}

// Answer is what comes of a call.
type Answer string

// The answers. Throttled is a 429 without Retry-After (what has one is asked for
// again by the client, before the prober learns of it). What is Lost ends with
// the prober's timeout. A probe can't tell other failures apart.
const (
	Answered  Answer = ""
	Throttled Answer = "throttled"
	Failed    Answer = "failed"
	Lost      Answer = "lost"
)

// Link is what is wrong between a prober and the API servers: the answers of the
// calls that are not Answered. The zero Link is nothing.
type Link map[Call]Answer

// Broken is a link on which all calls to the shoot get the same answer.
func Broken(answer Answer) Link {
	l := make(Link)
	for _, c := range []Call{GetVersion, Discover, ListNodes, ListLeases} {
		l[c] = answer
	}
	return l
}

// BackOff is for how long a prober backs off that was throttled
// (backOffDurationForThrottledRequests). It begins with the answer, as the pause
// between two probes does, so that it makes a difference only where Interval is
// shorter.
const BackOff = 10 * time.Second
