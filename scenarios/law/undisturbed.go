package law

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Breaches of an object that no client mutated.
const (
	Changed = "it has changed once all is undone"
	Stopped = "its containers stop"
)

var isAsBefore = Law{
	Breach:    Changed,
	Statement: "Once the change is undone, an object without mutations is as it was.",
	Source:    changes + ", Operational overview",
	Follows:   []string{Endless, Lost},
	Undone:    true,
	about:     func(_ *Course, o Object) bool { return len(o.Requests) == 0 },
	breach:    changed,
	check: func(o Object, _ bool) Check {
		first := fmt.Sprintf("history['%s'][0]", o.Key)
		if o.Kind == "Pod" { // which a scheduler puts on a node
			first = fmt.Sprintf("(history['%[1]s'].filter(h, has(h.spec.nodeName)) + history['%[1]s'])[0]", o.Key)
		}
		same := fmt.Sprintf("%[1]s && has(%[2]s.spec) && %[2]s.spec == %[3]s.spec", o.exists(), o.expression(), first)
		return Check{ID: "as-before", Observe: same, Is: true, Always: span("5s")}
	},
}

var runsOn = Law{
	Breach:    Stopped,
	Statement: "Running containers continue.",
	Source:    "KEP template, Production Readiness Review Questionnaire, Feature Enablement and Rollback",
	Undone:    true,
	about:     func(_ *Course, o Object) bool { return len(o.Requests) == 0 && o.Kind == "Pod" },
	breach:    stopped,
	check: func(o Object, _ bool) Check {
		return Check{ID: "runs", Observe: o.expression() + ".status.phase", Is: "Running", Always: span("10s")}
	},
}

// changed compares an object with how it was, but for what says how it is, and for the node that a scheduler found meanwhile.
func changed(c *Course, o Object) string {
	if v := c.family(o).at(c.Ended); v != nil && v.Unserved() {
		return ""
	}
	before, after := c.family(o).wantedAt(c.Began[Off]), c.family(o).wantedAt(c.Ended)
	if before == nil || reflect.DeepEqual(before, after) || o.Kind == "Node" { // which is found not to be alive
		return ""
	}
	if o.Kind == "Pod" && c.isPlaced(o) {
		return ""
	}
	var names []string
	for name := range after {
		if !reflect.DeepEqual(before[name], after[name]) {
			names = append(names, name)
		}
	}
	for name := range before {
		if _, has := after[name]; !has {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return fmt.Sprintf("%s: %v before, %v afterwards", strings.Join(names, ", "), before, after)
}

// isPlaced reports whether a scheduler put a pod on a node since the change.
func (c *Course) isPlaced(o Object) bool {
	before, after := c.family(o).at(c.Began[Off]), c.family(o).at(c.Ended)
	return before != nil && after != nil && before.Pod().Spec.NodeName == "" && after.Pod().Spec.NodeName != ""
}

// stopped looks for containers of a pod that ran before and do not, or were started again.
func stopped(c *Course, o Object) string {
	before, after := c.family(o).at(c.Began[Off]), c.family(o).at(c.Ended)
	if before == nil || after == nil || after.Gone() {
		return ""
	}
	was, is := before.Pod().Status, after.Pod().Status
	if was.Phase == "Running" && is.Phase != "Running" {
		return fmt.Sprintf("Running before, and %s afterwards: %s", is.Phase, is.Reason)
	}
	for n := range min(len(was.ContainerStatuses), len(is.ContainerStatuses)) {
		if a, b := was.ContainerStatuses[n].RestartCount, is.ContainerStatuses[n].RestartCount; b > a {
			return fmt.Sprintf("container %s was started %d times again", is.ContainerStatuses[n].Name, b-a)
		}
	}
	return ""
}
