package action

import (
	"strings"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// WebhookReply is what a webhook that the rig plays does when it is asked. At most one of
// Reserialize, Refuse and Away is set.
type WebhookReply struct {
	// Reserialize has it read objects, or for a conversion the pod templates in them, into the types
	// of a release and write them again, as a webhook does that was built with them. It is a release,
	// "newest", "previous" or a minor version ("v1.36").
	Reserialize release.Version `json:"reserialize,omitempty"`
	// Refuse is the message with which it refuses everything.
	Refuse string `json:"refuse,omitempty"`
	// Away has it end connections without an answer.
	Away bool `json:"away,omitempty"`

	// Delay is how long each answer takes. If unset, no time.
	Delay behavior.Duration `json:"delay,omitempty"`
}

// checkReply reports what is wrong with a reply, which has other parts, too, of which a webhook
// does one.
func (w WebhookReply) checkReply(f spec.Field, others ...string) {
	if does := f.Present(append(others, "reserialize", "refuse", "away")...); len(does) > 1 {
		f.Report("."+does[1], "a webhook does one thing at a time, and this one has %s", strings.Join(does, " and "))
	}
	f.Refuse(".refuse", w.Refuse == "", "a refusal has a message")
	f.Duration(".delay", w.Delay)
}

// planReply is the reply with the release that is meant.
func (w WebhookReply) planReply(s Scene) (WebhookReply, error) {
	if w.Reserialize == "" {
		return w, nil
	}
	v, err := s.Rig.Meant(w.Reserialize)
	w.Reserialize = s.Rig.On(spec.TypedClient, v)
	return w, err
}

func (w WebhookReply) Asks() map[string]release.Version {
	return map[string]release.Version{".reserialize": w.Reserialize}
}

func (w WebhookReply) Change(r *spec.Rig) {
	if w.Reserialize != "" {
		r.Resolve(".reserialize", w.Reserialize)
	}
	mustRun(r, "", r.Servers()[0].Name)
}

// starts are the programs that the reply starts.
func (w WebhookReply) starts() []Program {
	if w.Reserialize == "" {
		return nil
	}
	return programs(spec.TypedClient, w.Reserialize)
}
