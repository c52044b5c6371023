package narrate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// sentences is what a failed check compared: first the sentence that stands for the check. Only the server of
// a Pods API is named as who did not do it: what a pod's status says may have causes outside of its kubelet.
func (t failedCheck) sentences(c Compared) []string {
	who, comparison := t.who(c), t.comparison(c)
	switch {
	case who == "":
		return []string{comparison}
	case t.awaits() && c.Path[0] == "pods":
		return []string{t.lead(c, " on "+who), comparison}
	case t.awaits():
		return []string{who + ": " + t.lead(c, ""), comparison}
	case c.Path[0] == "pods":
		return []string{comparison, "the pod was on " + who}
	}
	return []string{who + ": " + comparison}
}

// lead is what did not come in time, where, and why if that is known.
func (t failedCheck) lead(c Compared, where string) string {
	after := ""
	if s, is := t.acted(t.from); is {
		action, _, _ := strings.Cut(s.Action, " with {")
		after = " after " + shortened(strings.SplitN(action, ", ", 2)[0], maxExpression)
	}
	if pod := t.unheard(c); pod != "" {
		return fmt.Sprintf("%s sent client %q no message about pod %s in the %.1f s%s; expected: %s %s",
			watchMethod, c.Path[1], pod, t.to-t.from, after, fieldWords(c.Path[4:]), c.wanted())
	}
	said := fmt.Sprintf("%s in %.1f s%s", t.notCome(c), t.to-t.from, where)
	if why := t.why(c); why != "" {
		return said + ": " + why
	}
	return said + after
}

// watchMethod is how the Pods API sends messages.
const watchMethod = "WatchPods"

// who is the kubelet of the node that a comparison is about, with its release.
func (t failedCheck) who(c Compared) string {
	if len(c.Path) < 4 {
		return ""
	}
	node := ""
	switch {
	case c.Path[0] == "watches" || c.Path[0] == "polls":
		node = t.nodeOf(c.Path[1])
	case c.Path[0] == "pods" && c.Path[2] == "status":
		for _, v := range t.b.States(reports.PodKey(c.Path[1])) {
			if spec := v.PodSpec(); spec != nil && spec.NodeName != "" && t.b.at(v.Time) <= t.to {
				node = spec.NodeName
			}
		}
	}
	return t.running("kubelet/"+node, t.to)
}

// unheard is the pod that a comparison is about, if a client of a Pods API was sent no message
// about it in the window.
func (t failedCheck) unheard(c Compared) string {
	if c.Path[0] != "watches" || len(c.Path) < 5 || c.Path[2] != "pods" || t.b.PodsWatches[c.Path[1]] == nil {
		return ""
	}
	pod := reports.PodKey(c.Path[3])
	for _, e := range t.b.PodsWatches[c.Path[1]].Events {
		if reports.PodKey(e.Name) == pod && t.from <= e.At && e.At <= t.to {
			return ""
		}
	}
	return strings.TrimPrefix(pod, "pods/")
}

// notCome says what did not come true.
func (t failedCheck) notCome(c Compared) string {
	subject, wanted := t.subject(c), c.wanted()
	if of, is := strings.CutPrefix(subject, "ready of "); is && wanted == "true" {
		return of + " never got ready"
	}
	return subject + " " + c.notBecome(wanted)
}

// why is how the last attempt of a probe failed that the check is about, in the kubelet's words.
func (t failedCheck) why(c Compared) string {
	if c.Path[0] != "pods" {
		return ""
	}
	bad := reports.Only(t.within(), func(a attempt) bool { return a.Tone == Bad })
	event := lastEvent(bad)
	if event == "" {
		return ""
	}
	if slices.ContainsFunc(bad, func(a attempt) bool { return a.hop != "" }) {
		event = strings.Replace(event, " probe failed: ", " probe failed after a redirect: ", 1)
	}
	return event
}
