package timeline

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
)

// Life is one process of a component.
type Life struct {
	record.ComponentStarted
	// Launched is when the process was started, and Ready when it was recorded as
	// ready.
	Launched time.Time
	Ready    Moment
	// From is when the process before it had ended, and Until when it ended itself,
	// or the history did: the record says when a process is ready, and it works
	// before.
	From, Until Moment
	// At is when it was launched, in seconds since the record began.
	At float64 `json:"at"`
	// Stopped is how it ended; nil while it runs.
	Stopped *record.ComponentStopped
}

// Component is what became of a component, over all its processes.
type Component struct {
	// Life is the process that runs, or ran last.
	*Life
	Running bool `json:"running"`
	// Restarts are the starts after the first one.
	Restarts int `json:"restarts"`
	// Exits are the ends of its processes.
	Exits []ComponentExit `json:"exits"`

	lives []*Life
}

// ComponentExit is one end of a component.
type ComponentExit struct {
	// Code is its exit status, or -1 if a signal ended it: Signal.
	Code   int    `json:"code"`
	Signal string `json:"signal"`
	// Asked is false if it ended by itself. Seconds is how long it took from SIGTERM on,
	// and Overdue is true if it had to be killed then.
	Asked   bool    `json:"asked"`
	Seconds float64 `json:"seconds"`
	Overdue bool    `json:"overdue"`
	// At is when it ended, in seconds since the record began.
	At float64 `json:"at"`
}

// Route is that a component was led to other API servers.
type Route struct {
	Component string
	record.Routed
	Moment
}

// Fault is a fault of a link.
type Fault struct {
	Link string
	record.LinkFault
	From, To Moment
	// Effect is what it did; nil while it lasts.
	Effect *record.Effect
}

// LastsAt reports whether a fault lasts at a place of the record.
func (f *Fault) LastsAt(place int) bool {
	return f.From.Place < place && (f.To.Place == 0 || f.To.Place > place)
}

// Call is a request that passed a link which looks into what it passes.
type Call struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	// Code is the status of the answer; 0 if there was none.
	Code int `json:"code"`
	// Answered is true if it was the link that answered, and Lost if the answer got lost.
	Answered bool `json:"answered"`
	Lost     bool `json:"lost"`
	// At is when it was answered, in seconds since the record began.
	At float64 `json:"at"`
}

// WebhookCall is a question of an API server to an admission webhook.
type WebhookCall struct {
	record.WebhookCalled

	// At is when it was answered, in seconds since the record began.
	At float64 `json:"at"`
}

// ConversionCall is a question of an API server to a conversion webhook.
type ConversionCall struct {
	record.ConversionCalled

	// At is when it was answered, in seconds since the record began.
	At float64 `json:"at"`
}

// addRig takes into account what became of components, links and leases.
func (t *Timeline) addRig(e Entry) {
	switch p := e.Payload.(type) {
	case record.ComponentStarted:
		t.started(e.Subject, p, e.Moment)
	case record.ComponentStopped:
		if c := t.Ran[e.Subject]; c != nil {
			c.Until, c.Stopped, c.Running = e.Moment, &p, false
			c.Exits = append(c.Exits, ComponentExit{p.Code, p.Signal, p.Asked, p.Seconds, p.Overdue, t.Seconds(e.At)})
		}
		t.stopped[e.Subject] = e.At
		t.cutOff(e.Subject)
	case record.Routed:
		t.Routes = append(t.Routes, Route{e.Subject, p, e.Moment})
	case record.Observing:
		t.observing = e.Subject
	case record.FaultBegan:
		t.Faults = append(t.Faults, &Fault{Link: e.Subject, LinkFault: p.Fault, From: e.Moment})
	case record.FaultEnded:
		t.faultEnded(e.Subject, p, e.Moment)
	case record.WebhookSet:
		if t.Webhooks[e.Subject] == nil {
			t.Webhooks[e.Subject] = []WebhookCall{} // that it was not asked is an observation too
		}
	case record.WebhookCalled:
		t.Webhooks[e.Subject] = append(t.Webhooks[e.Subject], WebhookCall{WebhookCalled: p, At: t.Seconds(e.Time)})
	case record.ConversionSet:
		if t.Conversions[e.Subject] == nil {
			t.Conversions[e.Subject] = []ConversionCall{}
		}
	case record.ConversionCalled:
		t.Conversions[e.Subject] = append(t.Conversions[e.Subject], ConversionCall{ConversionCalled: p, At: t.Seconds(e.Time)})
	case record.LinkRequest:
		call := Call{Method: p.Method, Path: p.Path, Code: p.Code, Answered: p.Answered, Lost: p.Lost, At: t.Seconds(e.At)}
		t.Calls[e.Subject] = append(t.Calls[e.Subject], call)
	case record.LeaseAges:
		for _, z := range p.Zones {
			t.Leases[ZoneName(z)] = z
		}
	}
}

// ZoneName is what a zone of simulated nodes is called.
func ZoneName(z record.ZoneAges) string { return strings.TrimSuffix("lease-nodes/"+z.Zone, "/") }

func (t *Timeline) started(component string, started record.ComponentStarted, m Moment) {
	l := &Life{ComponentStarted: started, Ready: m, Launched: m.Time.Add(-time.Duration(started.ReadySeconds * float64(time.Second)))}
	l.At = t.Seconds(l.Launched)
	c := t.Ran[component]
	if c == nil {
		c = &Component{Exits: []ComponentExit{}}
		t.Ran[component] = c
	} else {
		l.From = c.Until
	}
	c.Life, c.Running, c.Restarts, c.lives = l, true, len(c.lives), append(c.lives, l)
}

// faultEnded ends the fault of a link that began last, of those that are the same.
func (t *Timeline) faultEnded(link string, ended record.FaultEnded, m Moment) {
	for _, f := range slices.Backward(t.Faults) {
		if f.Link == link && f.Effect == nil && f.Stale == ended.Fault.Stale {
			f.To, f.Effect = m, &ended.Effect
			return
		}
	}
}

// Servers are the names of the API servers that ever ran, in order.
func (t *Timeline) Servers() []string {
	return slices.DeleteFunc(t.Components(), func(name string) bool { return record.Program(name) != record.APIServer })
}

// ServerLives are the processes of all API servers, those of each in their order.
func (t *Timeline) ServerLives() (all []*Life) {
	for _, name := range t.Servers() {
		all = append(all, t.Lives(name)...)
	}
	return all
}

// Components are the names of the components that ever ran, in order.
func (t *Timeline) Components() []string { return slices.Sorted(maps.Keys(t.Ran)) }

// Lives are the processes of a component, in their order. One that runs ends with
// the history.
func (t *Timeline) Lives(component string) []*Life {
	if c := t.Ran[component]; c != nil {
		return c.lives
	}
	return nil
}

// ReadyAt is the process of a component that was ready at a place in the history.
func (t *Timeline) ReadyAt(component string, place int) (*Life, bool) {
	for _, l := range t.Lives(component) {
		if l.Ready.Place <= place && place < l.Until.Place {
			return l, true
		}
	}
	return nil, false
}

// Slack is how long after the end of a process what it did may still turn up
// elsewhere, such as a connection that waits to be accepted. It is longer than a
// machine may be late and still be trusted (package check).
const Slack = 4 * time.Second

// Around returns the processes of a component that may have done something that
// was noticed at that time.
func (t *Timeline) Around(component string, at time.Time) (lives []*Life) {
	for _, l := range t.Lives(component) {
		if !at.Before(l.From.Time) && at.Before(l.Until.Time.Add(Slack)) {
			lives = append(lives, l)
		}
	}
	return lives
}
