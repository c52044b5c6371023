package container

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/skewrig/skewrig/record"
)

// Payload is the event that a message has, or why it has none.
func (m Message) Payload() (record.Payload, error) {
	if !bytes.HasPrefix(m.Data, []byte("{")) {
		return nil, fmt.Errorf("%q has no payload", m.Kind)
	}
	payload := record.Decode(record.Event{Kind: m.Kind, Data: m.Data})
	switch payload.(type) {
	case record.Connection, record.Exec:
		return payload, nil
	case record.Listening, record.ListenFailed, record.ProcessRan:
		if !m.Draft {
			return payload, nil
		}
	}
	return nil, fmt.Errorf("%q, draft: %t, is no event of a server, and no command", m.Kind, m.Draft)
}

// Losing returns the loss of what a container records, since a time, which lasts.
func Losing(since time.Time, why error) record.ObservationLost {
	return record.Losing(since, why, record.Connection{}, record.Exec{}, record.Listening{}, record.ListenFailed{}, record.ProcessRan{})
}

// Drafts are what a process has said of what is not over: connections that are open, and a command that runs.
type Drafts map[draft]record.Payload

// draft identifies what is not over, within a process.
type draft struct {
	kind string
	port int32
	id   int
}

// Take takes an event of the process, and reports whether it is a draft.
func (d Drafts) Take(payload record.Payload, isDraft bool) bool {
	of := draft{kind: payload.EventKind()}
	if c, is := payload.(record.Connection); is {
		of.port, of.id = c.Port, c.ID
	}
	if isDraft {
		d[of] = payload
	} else {
		delete(d, of)
	}
	return isDraft
}

// End returns what was not over when the process ended, which its end closed. why is what is wrong with a command that
// has not ended itself.
func (d Drafts) End(at time.Time, why string) (all []record.Payload) {
	for _, of := range slices.SortedFunc(maps.Keys(d), d.compare) {
		payload := d[of]
		switch p := payload.(type) {
		case record.Connection:
			if p.Closed.IsZero() {
				p.Closed = at
			}
			p.CloseReason = cmp.Or(p.CloseReason, record.Shutdown)
			payload = p
		case record.Exec:
			p.Error = why
			payload = p
		}
		all = append(all, payload)
	}
	clear(d)
	return all
}

// compare has commands first, and then connections as they were opened.
func (d Drafts) compare(a, b draft) int {
	first, _ := d[a].(record.Connection)
	second, _ := d[b].(record.Connection)
	return cmp.Or(first.Opened.Compare(second.Opened), cmp.Compare(a.id, b.id))
}
