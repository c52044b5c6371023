package watchdog

import (
	"iter"
	"time"
)

// Prober is a prober at work, between two moments at which it does something.
// Probes come one after the other: the next one begins some time after all that
// came of the one before, be it that dependents were only looked at after their
// initial delays.
type Prober struct {
	behavior Behavior
	config   Config
	due      time.Time
	backOff  time.Time // until then, if it is ahead
	waiting  Call      // for an answer that won't come, if it is set
	flow     flow
}

// NewProber is the prober that is started at a time.
func NewProber(b Behavior, c Config, now time.Time) Prober {
	c = c.WithDefaults()
	return Prober{behavior: b, config: c, due: now.Add(c.InitialDelay)}
}

// Due is when the prober does something next.
func (p Prober) Due() time.Time { return p.due }

// Seen is what a prober sees of the world when it looks.
type Seen struct {
	// Answer is what comes of a call.
	Answer func(Call) Answer
	// Leases are all leases of nodes.
	Leases iter.Seq[Lease]
	// Resource is a dependent.
	Resource func(name string) Resource
	// Random returns any number from 0 up to, but not including, 1. It is asked
	// once a probe.
	Random func() float64
}

// Outcome is what came of a probe.
type Outcome struct {
	// Failed is the call that failed, and Answer what it got. If unset, none has.
	Failed Call
	Answer Answer
	// Verdict is the probe's, if no call failed.
	Verdict Verdict
}

// Did is what a prober did at one moment.
type Did struct {
	// Probe is the probe that ended, if one did.
	Probe *Outcome
	// BacksOff is true if it will not probe for BackOff.
	BacksOff bool
	// Changes are the requests that it sent.
	Changes []Applied
	// Err is why an operation failed, if one did.
	Err error
}

// Step does what is due.
func (p Prober) Step(seen Seen) (Prober, Did) {
	now := p.due
	switch {
	case !p.flow.over():
		return p.scale(now, seen)
	case p.waiting != "":
		did := Did{Probe: &Outcome{Failed: p.waiting, Answer: Lost}}
		p.waiting = ""
		return p.rest(now, seen), did
	case now.Before(p.backOff):
		p.due = p.backOff
		return p, Did{}
	default:
		return p.probe(now, seen)
	}
}

func (p Prober) probe(now time.Time, seen Seen) (Prober, Did) {
	for _, call := range p.behavior.Calls {
		switch answer := seen.Answer(call.Call); answer {
		case Answered:
		case Lost:
			p.waiting, p.due = call.Call, now.Add(p.config.Timeout)
			return p, Did{}
		default:
			did := Did{Probe: &Outcome{Failed: call.Call, Answer: answer}}
			if answer == Throttled && call.BacksOff {
				p.backOff, did.BacksOff = now.Add(BackOff), true
			}
			return p.rest(now, seen), did
		}
	}
	verdict := p.behavior.Judge(p.config, now, seen.Leases)
	if verdict.Do != Nothing {
		p.flow = newFlow(verdict.Do, p.config.Dependents, now)
	}
	if p.flow.over() {
		p = p.rest(now, seen)
	} else {
		p.due = p.flow.due()
	}
	return p, Did{Probe: &Outcome{Verdict: verdict}}
}

func (p Prober) scale(now time.Time, seen Seen) (Prober, Did) {
	var did Did
	p.flow, did.Changes, did.Err = p.flow.step(p.behavior, now, seen.Resource)
	if p.flow.over() {
		return p.rest(now, seen), did
	}
	p.due = p.flow.due()
	return p, did
}

// rest is the pause after a probe.
func (p Prober) rest(now time.Time, seen Seen) Prober {
	pause := float64(p.config.Interval) * (1 + seen.Random()*p.config.Jitter)
	p.due = now.Add(time.Duration(pause))
	return p
}
