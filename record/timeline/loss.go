package timeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
)

// Loss is a time in which events may be missing from the history.
type Loss struct {
	record.ObservationLost
	Subject string
	// Until is when it was over; the zero time if it never was.
	Until time.Time
}

// Need is what something is judged by: the events of a kind about a subject. The subject may be the beginning of one up
// to a slash; if it is empty, all are needed.
type Need struct{ Kind, Subject string }

// NeedsOf are the needs for events of some payloads about a subject.
func NeedsOf(subject string, payloads ...record.Payload) (all []Need) {
	for _, p := range payloads {
		all = append(all, Need{p.EventKind(), subject})
	}
	return all
}

// lost takes a loss into account, which ends those of the same that lasted until then.
func (t *Timeline) lost(e Entry, lost record.ObservationLost) {
	l := &Loss{ObservationLost: lost, Subject: e.Subject}
	if lost.Resumed {
		l.Until = e.Time
		for _, before := range t.Losses {
			if before.Until.IsZero() && before.Subject == l.Subject && slices.Equal(before.Kinds, l.Kinds) {
				before.Until = e.Time
			}
		}
	}
	t.Losses = append(t.Losses, l)
}

// Lost returns the losses of what is needed between two times. Everything that judges a history asks this: checks,
// oracles, and the laws of a sweep. A history without losses has none, as those that were recorded before there were any.
func (t *Timeline) Lost(needs []Need, from, to time.Time) (all []*Loss) {
	for _, l := range t.Losses {
		inTime := !l.Since.After(to) && l.covers(from)
		if inTime && slices.ContainsFunc(needs, l.of) {
			all = append(all, l)
		}
	}
	return all
}

// covers reports whether the loss was not over before a time.
func (l *Loss) covers(at time.Time) bool { return l.Until.IsZero() || !l.Until.Before(at) }

// Covers reports whether events of a time may be missing.
func (l *Loss) Covers(at time.Time) bool { return !l.Since.After(at) && l.covers(at) }

// of reports whether events are missing that are needed.
func (l *Loss) of(n Need) bool {
	return slices.Contains(l.Kinds, n.Kind) && (within(n.Subject, l.Subject) || within(l.Subject, n.Subject))
}

// within reports whether a subject is another one, or below it.
func within(subject, of string) bool {
	of = strings.TrimSuffix(of, "/")
	rest, is := strings.CutPrefix(subject, of)
	return is && (rest == "" || of == "" || rest[0] == '/')
}

// DescribeLoss says what may be missing, in seconds since the history began, and why.
func (t *Timeline) DescribeLoss(l *Loss) string {
	of, when := "", fmt.Sprintf("since %.1f s", t.Seconds(l.Since))
	if l.Subject != "" {
		of = " of " + l.Subject
	}
	if !l.Until.IsZero() {
		when = fmt.Sprintf("from %.1f s to %.1f s", t.Seconds(l.Since), t.Seconds(l.Until))
	}
	return fmt.Sprintf("%s%s may be missing from the record %s: %s", strings.Join(l.Kinds, ", "), of, when, l.Reason)
}
