package watchdog

import (
	"iter"
	"time"
)

// expiryFraction is the part of the grace period after which a lease counts as
// run out, so that the watchdog comes before the node-lifecycle controller. The
// text: "expiryBufferFraction is a hard coded value of 0.75".
const expiryFraction = 0.75

// Life is how long a lease lasts from its renewal, in the watchdog's eyes. Its
// own duration doesn't count.
func (c Config) Life() time.Duration { return time.Duration(float64(c.Grace) * expiryFraction) }

// expired reports whether a lease has run out at a time by the watchdog's clock:
// now >= renewTime + grace * 0.75 (the text), which is its life. The renewTime is
// by the node's clock. One that isn't set has no answer: all releases end with a
// nil pointer.
func expired(renewed, now time.Time, life time.Duration) bool {
	return !now.Before(renewed.Add(life))
}

// Lease is the lease of a node.
type Lease struct {
	// Renewed is its renewTime.
	Renewed time.Time
	// Node is what there is to say of its node.
	Node Circumstances
}

// Operation is what is done to the dependents.
type Operation string

// The operations.
const (
	Nothing   Operation = ""
	ScaleUp   Operation = "scale up"
	ScaleDown Operation = "scale down"
)

// Verdict is what a probe comes to. That something is to be scaled doesn't mean
// that it is: most of the time there is nothing left to do.
type Verdict struct {
	Do Operation
	// Candidates are the leases that count, and Expired how many of these have run
	// out.
	Expired, Candidates int
	// Why is a reason in words.
	Why string
}

// Fraction is the part of the candidates that have run out.
func (v Verdict) Fraction() float64 {
	if v.Candidates == 0 {
		return 0
	}
	return float64(v.Expired) / float64(v.Candidates)
}

// Judge says what is to be done, given all leases of the cluster. The
// configuration has everything set.
//
// The text: "the Lease probe fails if the number of expired leases reaches the
// threshold fraction". The text does not say what no leases mean; the releases scale
// up.
func (b Behavior) Judge(c Config, now time.Time, leases iter.Seq[Lease]) Verdict {
	var v Verdict
	life := c.Life()
	for l := range leases {
		if l.Node&b.Exempts != 0 {
			continue
		}
		v.Candidates++
		if expired(l.Renewed, now, life) {
			v.Expired++
		}
	}
	switch {
	case v.Candidates == 0:
		v.Do, v.Why = ScaleUp, "there are no candidates"
	case v.Candidates == 1 && !b.Alone:
		v.Do, v.Why = Nothing, "there is only one candidate"
	case v.Fraction() < c.Fraction:
		v.Do, v.Why = ScaleUp, "fewer leases have run out than the threshold says"
	default:
		v.Do, v.Why = ScaleDown, "as many leases have run out as the threshold says"
	}
	return v
}
