package record

import "time"

// ObservationLost is recorded when events may be missing: something may have happened that skewrig did not observe.
// What needs those events is not judged (package timeline, Lost). The subject is what may have happened to: a subject of
// the missing events, or its beginning up to a slash ("pods", "pods/default/web", "default/web"); empty for all subjects.
type ObservationLost struct {
	// Kinds are the kinds of the events that may be missing.
	Kinds []string `json:"kinds"`
	// Since is the time from which on events may be missing: the last one at which all was observed.
	Since time.Time `json:"since"`
	// Resumed is true if what happens after this event is observed again. If unset, events may be missing until an
	// ObservationLost of the same kinds and subject has it, or until the end of the record.
	Resumed bool `json:"resumed,omitempty"`
	// Reason is why.
	Reason string `json:"reason"`
}

// Losing returns the loss of the events of some payloads since a time, which lasts.
func Losing(since time.Time, why error, payloads ...Payload) ObservationLost {
	lost := ObservationLost{Since: since.Round(0), Reason: why.Error()}
	for _, p := range payloads {
		lost.Kinds = append(lost.Kinds, p.EventKind())
	}
	return lost
}

// Over returns the loss as one that ends when it is recorded.
func (l ObservationLost) Over() ObservationLost {
	l.Resumed = true
	return l
}
