package behavior

import "time"

// Timeline is a list of phases in the order in which they happen. Every phase
// but the last says how long it lasts; the last one lasts for good. An empty
// timeline is healthy for good.
type Timeline []Phase

// Position is how far a timeline has come. The zero value is its beginning.
type Position struct {
	phase    int
	begun    time.Duration // when the phase began
	answered int           // the requests of the phase
}

// At returns the phase in force when the given time has passed since the beginning, and no
// phase ends with a request. A phase begins at the very moment at which the one before it
// ends.
func (t Timeline) At(elapsed time.Duration) Phase {
	phase, _ := t.Answer(Position{}, elapsed)
	return phase
}

// Answer returns the phase that answers the next request, which comes when the given time has
// passed since the beginning, and the position after it.
func (t Timeline) Answer(p Position, elapsed time.Duration) (Phase, Position) {
	if len(t) == 0 {
		return Phase{}, p
	}
	for p.phase < len(t)-1 {
		phase := t[p.phase]
		switch {
		case phase.Requests > 0 && p.answered >= phase.Requests:
			p = Position{phase: p.phase + 1, begun: elapsed}
			continue
		case phase.For > 0 && elapsed-p.begun >= time.Duration(phase.For):
			p = Position{phase: p.phase + 1, begun: p.begun + time.Duration(phase.For)}
			continue
		}
		break
	}
	p.answered++
	return t[p.phase], p
}
