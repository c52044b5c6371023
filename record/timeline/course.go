package timeline

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
)

// Step is one that was begun.
type Step struct {
	record.StepStarted
	From, To Moment
	// Done is how it ended; nil while it lasts.
	Done *record.StepDone
}

// Window is the part of a history in which a check was watched: from its opening to
// its closing, which has come if Closed is set.
type Window struct {
	Step     int
	From, To Moment
	Closed   *record.CheckClosed
}

// Answer is what the API server answered to a request of a step.
type Answer struct {
	Moment
	Step string // its name
	*Raw        // all that was answered
	record.APIAnswer
	// Response is the object that was returned; one without anything if there was none.
	Response *Version
}

// Rest is a moment at which all was at rest, as far as a step waited for it.
type Rest struct {
	Moment
	record.Settled
	Step string // its name
}

// By is the API server that answered.
func (a *Answer) By() string { return cmp.Or(a.Server, record.APIServer) }

// Created reports whether the request created its object.
func (a *Answer) Created() bool { return a.Code == http.StatusCreated }

// addCourse takes into account what the engine did.
func (t *Timeline) addCourse(e Entry) {
	switch p := e.Payload.(type) {
	case record.StepStarted:
		t.Steps = append(t.Steps, &Step{StepStarted: p, From: e.Moment})
		t.givenUp = nil
	case record.StepDone:
		if len(t.Steps) > 0 {
			last := t.Steps[len(t.Steps)-1]
			last.To, last.Done = e.Moment, &p
		}
	case record.CheckOpened:
		if !t.closed(e.Subject) {
			t.Windows[e.Subject] = &Window{Step: p.Step, From: e.Moment}
		}
	case record.CheckClosed:
		if w := t.Windows[e.Subject]; w != nil && w.Closed == nil {
			w.To, w.Closed = e.Moment, &p
		}
	case record.ObservationLost:
		t.lost(e, p)
	case record.APIAnswer:
		t.answered(e, p)
	case record.KubectlRan:
		t.Kubectl[e.Subject] = NewRaw(e.Data)
	case record.Scraped:
		t.scraped(e, p)
	case record.LogRead:
		t.Logs[e.Subject] = NewRaw(e.Data).Fields()["lines"]
	case record.SocketsRead:
		t.Sockets[e.Subject] = NewRaw(e.Data).Fields()["sockets"]
	case record.Settled:
		t.Rests = append(t.Rests, &Rest{Moment: e.Moment, Settled: p, Step: e.Subject})
	case record.StoredRead:
		t.Stored[e.Subject] = NewRaw(e.Data)
	}
}

// StepAt is the step that was being taken at a place in the history, or was last. It is
// nil before the first one.
func (t *Timeline) StepAt(place int) *Step {
	for _, s := range slices.Backward(t.Steps) {
		if s.From.Place <= place {
			return s
		}
	}
	return nil
}

func (t *Timeline) closed(check string) bool {
	w := t.Windows[check]
	return w != nil && w.Closed != nil
}

func (t *Timeline) answered(e Entry, answer record.APIAnswer) {
	a := &Answer{Moment: e.Moment, Step: e.Subject, Raw: NewRaw(e.Data), APIAnswer: answer}
	var envelope struct {
		Response json.RawMessage `json:"response"`
	}
	_ = json.Unmarshal(e.Data, &envelope) // it was decoded before
	a.Response = NewVersion(a.Object, envelope.Response)
	a.Response.Moment = e.Moment
	if t.Answered[a.Step] = a; a.Path != "" {
		return // it says nothing of an object
	}
	t.Answers = append(t.Answers, a)
	// The watch that shows a pod which was created may be late.
	if pod, isPod := strings.CutPrefix(a.Object, "pods/"); isPod && a.Created() {
		t.Known[Name(pod)] = true
	}
}

// scraped adds metrics to those of the same component that were read at other
// paths, or earlier, and keeps them for the step.
func (t *Timeline) scraped(e Entry, s record.Scraped) {
	if t.Metrics[e.Subject] == nil {
		t.Metrics[e.Subject] = make(map[string]any)
	}
	metrics := make(map[string]any, len(s.Metrics))
	for name, samples := range s.Metrics {
		metrics[name] = valuesOf(samples)
	}
	maps.Copy(t.Metrics[e.Subject], metrics)
	if step := t.StepAt(e.Place); step != nil {
		t.Scrapes[step.Name] = metrics
	}
}

// valuesOf are the fields of samples. Their values are floating point numbers, also
// where the record has a whole one.
func valuesOf(samples []record.Sample) []any {
	all := make([]any, len(samples))
	for i, s := range samples {
		all[i] = map[string]any{"labels": s.Labels, "value": s.Value}
	}
	return all
}
