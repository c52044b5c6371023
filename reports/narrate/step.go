package narrate

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
)

// maxLines is how many lines of a log a step shows that it has read.
const maxLines = 5

// taken are the steps that were taken, with what was answered to each. One that did
// not end lasts as long as the history.
func (b *builder) taken() (all []Step) {
	for i, s := range b.Steps {
		step := Step{Number: s.Number, Action: s.Action, From: b.at(s.From.Time), To: b.end}
		if s.Name != strconv.Itoa(s.Number) {
			step.Name = s.Name
		}
		if s.Done != nil {
			step.To, step.Error = b.at(s.To.Time), s.Done.Error
		}
		next := len(b.Events)
		if i+1 < len(b.Steps) {
			next = b.Steps[i+1].From.Place
		}
		for _, e := range b.Events[s.From.Place:next] {
			step.Answers = append(step.Answers, b.answers(e)...)
		}
		all = append(all, step)
	}
	return all
}

// answers are what an event says that a step was answered, or has found.
func (b *builder) answers(e record.Event) (lines []Line) {
	add := func(what, text string, tone Tone) {
		lines = append(lines, Line{At: b.at(e.At), What: what, Text: shortened(text, maxMessage), Tone: tone})
	}
	if answer, ok := record.As[record.APIAnswer](e); ok {
		text, tone := fmt.Sprintf("%d %s", answer.Code, http.StatusText(answer.Code)), Tone("")
		if answer.Reason != "" {
			text = fmt.Sprintf("%d %s: %s", answer.Code, answer.Reason, answer.Message)
		}
		if answer.Code >= http.StatusBadRequest {
			tone = Changed // whether it is bad is for the checks to say
		}
		add(answer.Object, text, tone)
		for _, w := range answer.Warning {
			add(answer.Object, "warning: "+w, Changed)
		}
	}
	if read, ok := record.As[record.LogRead](e); ok {
		add("log of "+read.Component, reports.Counted(len(read.Lines), "line"), "")
		for _, line := range read.Lines[:min(len(read.Lines), maxLines)] {
			add("", shortened(line, maxText), "")
		}
	}
	if scraped, ok := record.As[record.Scraped](e); ok {
		add("metrics", fmt.Sprintf("%s%s: %s", e.Subject, scraped.Path, reports.Counted(len(scraped.Metrics), "metric")), "")
	}
	return lines
}
