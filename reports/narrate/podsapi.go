package narrate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
)

// The codes of gRPC that are no failure.
const (
	codeOK       = "OK"
	codeCanceled = "Canceled"
)

// maxPods is how many pods of an answer are named.
const maxPods = 12

// asked takes into account what clients of API servers, of Pods APIs and of containers
// were answered.
func (b *builder) asked(e timeline.Entry, at float64) {
	switch p := e.Payload.(type) {
	case record.StepStarted:
		b.steps = append(b.steps, b.taken(b.Steps[len(b.steps)]))
	case record.APIAnswer, record.KubectlRan, record.LogRead, record.Scraped, record.StoredRead, record.SocketsRead:
		if len(b.steps) > 0 {
			b.steps[len(b.steps)-1].add(e, at)
		}
	case record.Exec:
		b.execs = append(b.execs, b.exec(e, p))
	case record.PodsAnswer:
		b.agents.client(e).mark(at, p.Method+": "+answered(p), details(p), unless(p.Code == codeOK))
	case record.PodsPolled:
		b.agents.client(e).becomes(at, Span{Label: answered(p.PodsAnswer), Detail: details(p.PodsAnswer), Tone: unless(p.Code == codeOK)})
	case record.PodsEvent:
		b.agents.client(e).event(at, p)
	case record.PodsEnded:
		b.agents.client(e).ended(at, p)
	}
}

// client is the lane of the step that asked the Pods API of a node.
func (l *lanes) client(e timeline.Entry) *lane {
	node := strings.TrimPrefix(e.Source, "agent/")
	row := l.named(Agent, node+"/"+e.Subject)
	row.Group = "Pods API of " + node
	return row
}

// unless is the tone of what is bad if it is not so.
func unless(good bool) Tone {
	if good {
		return ""
	}
	return Bad
}

// answered is an answer in a few words.
func answered(a record.PodsAnswer) string {
	if a.Code != codeOK {
		return a.Code
	}
	return "OK, " + reports.Counted(len(a.List), "pod")
}

// details are the pods of an answer, or why there are none.
func details(a record.PodsAnswer) string {
	var lines []string
	if a.Message != "" {
		lines = append(lines, shortened(a.Message, maxText))
	}
	for _, pod := range a.List[:min(len(a.List), maxPods)] {
		lines = append(lines, podLine(pod))
	}
	if more := len(a.List) - maxPods; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// podLine is what an agent would look at of a pod. The record has why it can't be read
// in place of one.
func podLine(pod json.RawMessage) string {
	v := timeline.NewVersion("", pod)
	if why, is := v.Fields()["unreadable"].(string); is && why != "" {
		return shortened("unreadable: "+why, maxText)
	}
	words := []string{strings.TrimPrefix(v.Meta().Namespace+"/"+v.Meta().Name, "/")}
	if phase := v.Workload().Status.Phase; phase != "" {
		words = append(words, phase)
	}
	if ready := v.Condition("Ready"); ready.Type != "" {
		words = append(words, "Ready="+string(ready.Status))
	}
	if number := v.Meta().ResourceVersion; number != "" {
		words = append(words, "resourceVersion "+number)
	}
	if v.Meta().DeletionTimestamp != nil {
		words = append(words, "being deleted")
	}
	return strings.Join(words, " ")
}

// event takes an event of a watch into account. It goes on from its first event,
// or from its end if there was none.
func (l *lane) event(at float64, event record.PodsEvent) {
	if l.open == nil {
		l.becomes(at, Span{Label: "watch"})
	}
	if len(event.Pod) == 0 {
		l.mark(at, event.Type, "", "")
		return
	}
	line := podLine(event.Pod)
	name, _, _ := strings.Cut(line, " ")
	l.mark(at, event.Type+" "+name, line, "")
}

// ended ends a watch or a poll. That its client ended it says nothing.
func (l *lane) ended(at float64, ended record.PodsEnded) {
	l.ends(at)
	if len(ended.Calls) > 0 {
		counts := reports.Each(slices.Sorted(maps.Keys(ended.Calls)), func(code string) string { return fmt.Sprintf("%d %s", ended.Calls[code], code) })
		l.mark(at, "ended", "was answered "+strings.Join(counts, ", "), "")
		return
	}
	tone := unless(ended.Code == codeCanceled || ended.Code == codeOK)
	l.mark(at, "ended: "+ended.Code, shortened(ended.Message, maxText), tone)
}
