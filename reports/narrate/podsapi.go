package narrate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
)

// The codes of gRPC that are no failure.
const (
	codeOK       = "OK"
	codeCanceled = "Canceled"
)

// unreadable is the field of what the record has in place of a pod that can't be read.
const unreadable = "unreadable"

// maxPods is how many pods of an answer are named.
const maxPods = 12

// podsAPI are the clients of the nodes' Pods APIs: each step that asked has a lane.
func (b *builder) podsAPI() []Lane {
	var rows lanes
	for _, e := range b.Events {
		rows.podsAPI(e, b.at(e.At))
	}
	return rows.until(b.end)
}

func (l *lanes) podsAPI(e record.Event, at float64) {
	switch e.Kind {
	case record.PodsAnswer{}.EventKind():
		if answer, ok := record.As[record.PodsAnswer](e); ok {
			l.client(e).mark(at, answer.Method+": "+answered(answer), details(answer), unless(answer.Code == codeOK))
		}
	case record.PodsPolled{}.EventKind():
		if view, ok := record.As[record.PodsPolled](e); ok {
			l.client(e).becomes(at, Span{Label: answered(view.PodsAnswer), Detail: details(view.PodsAnswer), Tone: unless(view.Code == codeOK)})
		}
	case record.PodsEvent{}.EventKind():
		if event, ok := record.As[record.PodsEvent](e); ok {
			l.client(e).event(at, event)
		}
	case record.PodsEnded{}.EventKind():
		if ended, ok := record.As[record.PodsEnded](e); ok {
			l.client(e).ended(at, ended)
		}
	}
}

// client is the lane of the step that asked.
func (l *lanes) client(e record.Event) *lane {
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

// podLine is what an agent would look at of a pod.
func podLine(pod any) string {
	if why := text(pod, unreadable); why != "" {
		return shortened("unreadable: "+why, maxText)
	}
	words := []string{strings.TrimPrefix(text(pod, "metadata", "namespace")+"/"+text(pod, "metadata", "name"), "/")}
	if phase := text(pod, "status", "phase"); phase != "" {
		words = append(words, phase)
	}
	if ready, _, _, is := condition(pod, "Ready"); is {
		words = append(words, "Ready="+ready)
	}
	if get(pod, "metadata", "deletionTimestamp") != nil {
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
	if event.Pod == nil {
		l.mark(at, event.Type, "", "")
		return
	}
	line := podLine(event.Pod)
	name, _, _ := strings.Cut(line, " ")
	tone := Tone("")
	if event.Type == record.PodDeleted {
		tone = Changed
	}
	l.mark(at, event.Type+" "+name, line, tone)
}

// ended ends a watch or a poll. That its client ended it says nothing.
func (l *lane) ended(at float64, ended record.PodsEnded) {
	l.ends(at)
	if len(ended.Calls) > 0 {
		var counts []string
		for _, code := range slices.Sorted(maps.Keys(ended.Calls)) {
			counts = append(counts, fmt.Sprintf("%d %s", ended.Calls[code], code))
		}
		l.mark(at, "ended", "was answered "+strings.Join(counts, ", "), "")
		return
	}
	tone := unless(ended.Code == codeCanceled || ended.Code == codeOK)
	l.mark(at, "ended: "+ended.Code, shortened(ended.Message, maxText), tone)
}
