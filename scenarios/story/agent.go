package story

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/skewrig/skewrig/harness/podsapi"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/story"
)

// agents are the clients of the nodes' Pods APIs: each step that asked has a lane.
type agents struct{ lanes }

// maxPods is how many pods of an answer are told.
const maxPods = 12

func (a *agents) saw(e record.Event, at float64) {
	switch e.Kind {
	case record.PodsAnswer{}.EventKind():
		if answer, ok := record.As[record.PodsAnswer](e); ok {
			l := a.of(e)
			l.mark(at, answer.Method+": "+answered(answer), details(answer), unless(answer.Code == codes.OK.String()))
		}
	case record.PodsPolled{}.EventKind():
		if view, ok := record.As[record.PodsPolled](e); ok {
			a.of(e).becomes(at, story.Span{Label: answered(view.PodsAnswer), Detail: details(view.PodsAnswer), Tone: unless(view.Code == codes.OK.String())})
		}
	case record.PodsEvent{}.EventKind():
		if event, ok := record.As[record.PodsEvent](e); ok {
			a.told(a.of(e), at, event)
		}
	case record.PodsEnded{}.EventKind():
		if ended, ok := record.As[record.PodsEnded](e); ok {
			a.ended(a.of(e), at, ended)
		}
	}
}

func (a *agents) of(e record.Event) *lane {
	node := strings.TrimPrefix(e.Source, "agent/")
	l := a.named(story.Agent, node+"/"+e.Subject)
	l.Group = "Pods API of " + node
	return l
}

// unless is the tone of what is bad if it is not so.
func unless(good bool) story.Tone {
	if good {
		return ""
	}
	return story.Bad
}

// answered is an answer in a few words.
func answered(a record.PodsAnswer) string {
	if a.Code != codes.OK.String() {
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
	if why := text(pod, podsapi.Unreadable); why != "" {
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

// told takes an event of a watch into account. It goes on from its first event,
// or from its end if there was none.
func (a *agents) told(l *lane, at float64, event record.PodsEvent) {
	if l.open == nil {
		l.becomes(at, story.Span{Label: "watch"})
	}
	if event.Pod == nil {
		l.mark(at, event.Type, "", "")
		return
	}
	line := podLine(event.Pod)
	name, _, _ := strings.Cut(line, " ")
	tone := story.Tone("")
	if event.Type == record.PodDeleted {
		tone = story.Changed
	}
	l.mark(at, event.Type+" "+name, line, tone)
}

// ended ends a watch or a poll. That its client ended it says nothing.
func (a *agents) ended(l *lane, at float64, ended record.PodsEnded) {
	l.ends(at)
	if len(ended.Calls) > 0 {
		var counts []string
		for _, code := range slices.Sorted(maps.Keys(ended.Calls)) {
			counts = append(counts, fmt.Sprintf("%d %s", ended.Calls[code], code))
		}
		l.mark(at, "ended", "was answered "+strings.Join(counts, ", "), "")
		return
	}
	tone := unless(ended.Code == codes.Canceled.String() || ended.Code == codes.OK.String())
	l.mark(at, "ended: "+ended.Code, shortened(ended.Message, maxText), tone)
}
