package story

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/story"
)

// course is the steps that were taken, and when checks were looked at.
type course struct {
	steps  []story.Step
	checks []story.Check
	step   int // the number of the one that is being taken, or was last
	open   map[string]int
	done   map[int]bool
}

func newCourse() course {
	return course{open: make(map[string]int), done: make(map[int]bool)}
}

// maxLines is how many lines of a log a step shows that it has read.
const maxLines = 5

func (c *course) saw(e record.Event, at float64) {
	switch e.Kind {
	case record.StepStarted{}.EventKind():
		c.started(e, at)
	case record.StepDone{}.EventKind():
		if done, ok := record.As[record.StepDone](e); ok && len(c.steps) > 0 {
			last := &c.steps[len(c.steps)-1]
			last.To, last.Error = at, done.Error
			c.done[done.Number] = true
		}
	case record.CheckOpened{}.EventKind():
		if opened, ok := record.As[record.CheckOpened](e); ok {
			c.open[e.Subject] = len(c.checks)
			c.checks = append(c.checks, story.Check{ID: e.Subject, Step: opened.Step, From: at})
		}
	case record.CheckClosed{}.EventKind():
		if i, is := c.open[e.Subject]; is {
			c.checks[i].To = at
			delete(c.open, e.Subject)
		}
	case record.APIAnswer{}.EventKind():
		c.answered(e, at)
	case record.LogRead{}.EventKind():
		c.read(e, at)
	case record.Scraped{}.EventKind():
		if scraped, ok := record.As[record.Scraped](e); ok {
			c.answer(at, "metrics", fmt.Sprintf("%s%s: %s", e.Subject, scraped.Path, reports.Counted(len(scraped.Metrics), "metric")), "")
		}
	}
}

func (c *course) started(e record.Event, at float64) {
	started, ok := record.As[record.StepStarted](e)
	if !ok {
		return
	}
	c.step = started.Number
	step := story.Step{Number: started.Number, Action: started.Action, From: at}
	if started.Name != strconv.Itoa(started.Number) {
		step.Name = started.Name
	}
	c.steps = append(c.steps, step)
}

func (c *course) answered(e record.Event, at float64) {
	answer, ok := record.As[record.APIAnswer](e)
	if !ok {
		return
	}
	text, tone := fmt.Sprintf("%d %s", answer.Code, http.StatusText(answer.Code)), story.Tone("")
	if answer.Reason != "" {
		text = fmt.Sprintf("%d %s: %s", answer.Code, answer.Reason, answer.Message)
	}
	if answer.Code >= http.StatusBadRequest {
		tone = story.Changed // whether it is bad is for the checks to say
	}
	c.answer(at, answer.Object, text, tone)
	for _, w := range answer.Warning {
		c.answer(at, answer.Object, "warning: "+w, story.Changed)
	}
}

func (c *course) read(e record.Event, at float64) {
	read, ok := record.As[record.LogRead](e)
	if !ok {
		return
	}
	c.answer(at, "log of "+read.Component, reports.Counted(len(read.Lines), "line"), "")
	for _, line := range read.Lines[:min(len(read.Lines), maxLines)] {
		c.answer(at, "", shortened(line, maxText), "")
	}
}

// answer adds what was answered to the step that is being taken.
func (c *course) answer(at float64, what, text string, tone story.Tone) {
	if len(c.steps) > 0 {
		last := &c.steps[len(c.steps)-1]
		last.Answers = append(last.Answers, story.Line{At: at, What: what, Text: shortened(text, maxMessage), Tone: tone})
	}
}

// close ends what had not ended when the history did.
func (c *course) close(end float64) {
	for i := range c.steps {
		if !c.done[c.steps[i].Number] {
			c.steps[i].To = end
		}
	}
	for _, i := range c.open {
		c.checks[i].To = end
	}
}
