package timeline

import (
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

// Created reports whether the request created its object.
func (a *Answer) Created() bool { return a.Code == http.StatusCreated }

// addCourse takes into account what the engine did.
func (t *Timeline) addCourse(e record.Event, m Moment) {
	switch e.Kind {
	case record.StepStarted{}.EventKind():
		started, _ := record.As[record.StepStarted](e)
		t.Steps = append(t.Steps, &Step{StepStarted: started, From: m})
		t.givenUp = nil
	case record.StepDone{}.EventKind():
		if done, ok := record.As[record.StepDone](e); ok && len(t.Steps) > 0 {
			last := t.Steps[len(t.Steps)-1]
			last.To, last.Done = m, &done
		}
	case record.CheckOpened{}.EventKind():
		if opened, ok := record.As[record.CheckOpened](e); ok && !t.closed(e.Subject) {
			t.Windows[e.Subject] = &Window{Step: opened.Step, From: m}
		}
	case record.CheckClosed{}.EventKind():
		closed, ok := record.As[record.CheckClosed](e)
		if w := t.Windows[e.Subject]; ok && w != nil && !t.closed(e.Subject) {
			w.To, w.Closed = m, &closed
		}
	case record.APIAnswer{}.EventKind():
		t.answered(e, m)
	case record.Scraped{}.EventKind():
		t.scraped(e)
	case record.LogRead{}.EventKind():
		t.Logs[e.Subject] = NewRaw(e.Data).Fields()["lines"]
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

func (t *Timeline) answered(e record.Event, m Moment) {
	a := &Answer{Moment: m, Step: e.Subject, Raw: NewRaw(e.Data)}
	envelope := struct {
		*record.APIAnswer
		Response json.RawMessage `json:"response"`
	}{APIAnswer: &a.APIAnswer}
	if json.Unmarshal(e.Data, &envelope) != nil {
		return
	}
	a.Response = NewVersion(a.Object, envelope.Response)
	a.Response.Moment = m
	t.Answers, t.Answered[a.Step] = append(t.Answers, a), a
	// The watch that shows a pod which was created may be late.
	if pod, isPod := strings.CutPrefix(a.Object, "pods/"); isPod && a.Created() {
		t.Known[Name(pod)] = true
	}
}

// scraped adds metrics to those of the same component that were read at other
// paths, or earlier.
func (t *Timeline) scraped(e record.Event) {
	if t.Metrics[e.Subject] == nil {
		t.Metrics[e.Subject] = make(map[string]any)
	}
	metrics, _ := NewRaw(e.Data).Fields()["metrics"].(map[string]any)
	maps.Copy(t.Metrics[e.Subject], metrics)
}
