package narrate

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
)

// steps is the steps that were taken, and when checks were looked at.
type steps struct {
	all    []Step
	checks []Check
	number int // the number of the one that is being taken, or was last
	open   map[string]int
	done   map[int]bool
}

func newSteps() steps {
	return steps{open: make(map[string]int), done: make(map[int]bool)}
}

// maxLines is how many lines of a log a step shows that it has read.
const maxLines = 5

func (s *steps) add(e record.Event, at float64) {
	switch e.Kind {
	case record.StepStarted{}.EventKind():
		s.started(e, at)
	case record.StepDone{}.EventKind():
		if done, ok := record.As[record.StepDone](e); ok && len(s.all) > 0 {
			last := &s.all[len(s.all)-1]
			last.To, last.Error = at, done.Error
			s.done[done.Number] = true
		}
	case record.CheckOpened{}.EventKind():
		if opened, ok := record.As[record.CheckOpened](e); ok {
			s.open[e.Subject] = len(s.checks)
			s.checks = append(s.checks, Check{ID: e.Subject, Step: opened.Step, From: at})
		}
	case record.CheckClosed{}.EventKind():
		if i, is := s.open[e.Subject]; is {
			s.checks[i].To = at
			delete(s.open, e.Subject)
		}
	case record.APIAnswer{}.EventKind():
		s.answered(e, at)
	case record.LogRead{}.EventKind():
		s.read(e, at)
	case record.Scraped{}.EventKind():
		if scraped, ok := record.As[record.Scraped](e); ok {
			s.answer(at, "metrics", fmt.Sprintf("%s%s: %s", e.Subject, scraped.Path, reports.Counted(len(scraped.Metrics), "metric")), "")
		}
	}
}

func (s *steps) started(e record.Event, at float64) {
	started, ok := record.As[record.StepStarted](e)
	if !ok {
		return
	}
	s.number = started.Number
	step := Step{Number: started.Number, Action: started.Action, From: at}
	if started.Name != strconv.Itoa(started.Number) {
		step.Name = started.Name
	}
	s.all = append(s.all, step)
}

func (s *steps) answered(e record.Event, at float64) {
	answer, ok := record.As[record.APIAnswer](e)
	if !ok {
		return
	}
	text, tone := fmt.Sprintf("%d %s", answer.Code, http.StatusText(answer.Code)), Tone("")
	if answer.Reason != "" {
		text = fmt.Sprintf("%d %s: %s", answer.Code, answer.Reason, answer.Message)
	}
	if answer.Code >= http.StatusBadRequest {
		tone = Changed // whether it is bad is for the checks to say
	}
	s.answer(at, answer.Object, text, tone)
	for _, w := range answer.Warning {
		s.answer(at, answer.Object, "warning: "+w, Changed)
	}
}

func (s *steps) read(e record.Event, at float64) {
	read, ok := record.As[record.LogRead](e)
	if !ok {
		return
	}
	s.answer(at, "log of "+read.Component, reports.Counted(len(read.Lines), "line"), "")
	for _, line := range read.Lines[:min(len(read.Lines), maxLines)] {
		s.answer(at, "", shortened(line, maxText), "")
	}
}

// answer adds what was answered to the step that is being taken.
func (s *steps) answer(at float64, what, text string, tone Tone) {
	if len(s.all) > 0 {
		last := &s.all[len(s.all)-1]
		last.Answers = append(last.Answers, Line{At: at, What: what, Text: shortened(text, maxMessage), Tone: tone})
	}
}

// close ends what had not ended when the history did.
func (s *steps) close(end float64) {
	for i := range s.all {
		if !s.done[s.all[i].Number] {
			s.all[i].To = end
		}
	}
	for _, i := range s.open {
		s.checks[i].To = end
	}
}
