package narrate

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// podsAPI is the last that a Pods API answered to a client that the expression names.
func (t failedCheck) podsAPI() string {
	for _, name := range t.named.Of("watches", "podsAPI", "polls") {
		for _, l := range t.lanes {
			if l.Kind != Agent || path.Base(l.Name) != name {
				continue
			}
			heard := reports.Only(l.Marks, func(m Mark) bool { return m.At <= t.to })
			if n := len(heard); n > 0 {
				last := heard[n-1]
				state := ""
				if !strings.Contains(last.Detail, "\n") { // it is of one pod, behind its name
					_, state, _ = strings.Cut(last.Detail, " ")
				}
				return fmt.Sprintf("until %s, the Pods API had sent client %q %s; the last was %s%s at %s", moment(t.to), name, reports.Counted(n, "message"), last.Label, because(state), moment(last.At))
			}
			if s, found := l.state(t.to); found {
				return fmt.Sprintf("from %s, the Pods API answered client %q: %s", moment(s.From), name, s.Label)
			}
		}
	}
	return ""
}

// requests is what the last step was answered that the expression names.
func (t failedCheck) requests() string {
	names := t.named.Of("requests")
	for _, s := range slices.Backward(t.steps) {
		if !slices.Contains(names, s.Name) {
			continue
		}
		for _, a := range slices.Backward(s.Answers) {
			if a.Tone == Changed {
				return fmt.Sprintf("step %d, %s, was answered %s", s.Number, s.Name, a.Text)
			}
		}
	}
	return ""
}

// calls is what who is seen to ask asked the API server in the window.
func (t failedCheck) calls() string {
	var all []string
	for _, link := range slices.Sorted(maps.Keys(t.b.Calls)) {
		from, _, _ := strings.Cut(link, "->")
		if from == watchdogName {
			return t.watchdogCalls()
		}
		n := 0
		for _, call := range t.b.Calls[link] {
			if t.from <= call.At && call.At <= t.to {
				n++
			}
		}
		all = append(all, fmt.Sprintf("%s asked the API server %s", from, times(n)))
	}
	if len(all) == 0 {
		return t.watchdogCalls()
	}
	return fmt.Sprintf("from %s to %s, %s", moment(t.from), moment(t.to), strings.Join(all, ", and "))
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
