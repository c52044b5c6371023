package narrate

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
)

// maxLines is how many lines of a log a step shows that it has read.
const maxLines = 5

// taken is a step that was taken. One that did not end lasts as long as the history.
func (b *builder) taken(s *timeline.Step) Step {
	step := Step{Number: s.Number, Action: s.Action, Acts: b.acts(s.StepStarted), From: b.at(s.From.Time), To: b.end}
	if s.Name != strconv.Itoa(s.Number) {
		step.Name = s.Name
	}
	if s.Done != nil {
		step.To, step.Error = b.at(s.To.Time), s.Done.Error
	}
	return step
}

// Steps that only wait, or look, so that nothing comes of them. A new kind that does is a line here: their kinds, and how what they do begins where no plan is known.
var (
	passiveKinds   = []string{"checks", "wait", "scrape", "log", "stored", "sockets", "podsAPI"}
	passiveActions = []string{"check ", "wait ", "scrape ", "read ", "Pods API of "}
)

// acts reports whether a step does something: it neither waits nor looks.
func (b *builder) acts(s record.StepStarted) bool {
	for _, planned := range b.in.Plan.Steps {
		if planned.Number == s.Number {
			return !slices.Contains(passiveKinds, planned.Kind)
		}
	}
	return !slices.ContainsFunc(passiveActions, func(begins string) bool { return strings.HasPrefix(s.Action, begins) })
}

// add adds what the step was answered, or has found.
func (s *Step) add(e timeline.Entry, at float64) {
	line := func(what, text string, tone Tone) {
		s.Answers = append(s.Answers, Line{At: at, What: what, Text: shortened(text, maxMessage), Tone: tone})
	}
	switch p := e.Payload.(type) {
	case record.APIAnswer:
		text, tone := fmt.Sprintf("%d %s", p.Code, http.StatusText(p.Code)), Tone("")
		if p.Reason != "" {
			text = fmt.Sprintf("%d %s: %s", p.Code, p.Reason, p.Message)
		}
		if p.Code >= http.StatusBadRequest {
			tone = Changed // whether it is bad is for the checks to say
		}
		if p.Client != "" {
			text += ", to " + p.Client
		}
		if p.Bytes > 0 {
			text += ": " + reports.Counted(p.Bytes, "byte")
		}
		line(cmp.Or(p.Path, p.Object), text, tone)
		for _, w := range p.Warning {
			line(p.Object, "warning: "+w, Changed)
		}
	case record.KubectlRan:
		text, tone := fmt.Sprintf("exit code %d", p.Code), Tone("")
		if p.Code != 0 {
			text, tone = text+": "+p.Errors, Changed
		}
		line(p.Program, text, tone)
	case record.LogRead:
		line("log of "+p.Component, reports.Counted(len(p.Lines), "line"), "")
		for _, text := range p.Lines[:min(len(p.Lines), maxLines)] {
			line("", excerpt(text, "", maxText), "")
		}
	case record.Scraped:
		line("metrics", fmt.Sprintf("%s%s: %s", e.Subject, p.Path, reports.Counted(len(p.Metrics), "metric")), "")
	case record.SocketsRead:
		line("sockets of "+p.Component, reports.Counted(len(p.Sockets), "socket"), "")
	case record.StoredRead:
		line("etcd", fmt.Sprintf("%s: %s of %s, %s %s", p.Object, reports.Counted(p.Bytes, "byte"), p.Encoding, p.APIVersion, p.Kind), "")
	}
}
