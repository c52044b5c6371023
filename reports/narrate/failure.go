package narrate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// failures are marks of what failed: two checks that have one in common fail for the same
// failure. It is a field that left its value, one value of what was compared, or attempts that
// failed.
func (t failedCheck) failures() (marks []string) {
	t.tally = Tally{} // what came after a check says nothing of its failure
	if left := t.history.left; left.text != "" {
		key, field := t.b.object(t.compared[0])
		marks = append(marks, fmt.Sprint(field, " of ", key, " left its value at ", left.at))
	}
	var values []string
	for _, c := range t.compared {
		since := t.from
		if !c.Since.IsZero() {
			since = t.b.at(c.Since)
		}
		values = append(values, fmt.Sprint(t.subject(c), " is ", c.Value, ", not ", c.Wanted, ", since ", since))
	}
	if len(values) > 0 {
		marks = append(marks, strings.Join(values, "; "))
	}
	if said := t.failedProbes(); said != "" && t.ofProbes() {
		marks = append(marks, said)
	}
	return marks
}

// ofProbes reports whether a check is about what probes do: connections, or the status of
// what is probed.
func (t failedCheck) ofProbes() bool {
	return strings.Contains(t.Expected, "connections[") || slices.ContainsFunc(t.compared, func(c Compared) bool {
		return len(c.Path) > 2 && (c.Path[0] == "containers" || c.Path[0] == "pods" && c.Path[2] == "status")
	})
}

// joiner finds checks that fail for the same failure, in one cell.
type joiner map[string]string // the first check of each mark

// first is the check that failed first for the failure of another one; empty if none did.
// Checks with different outcomes or findings stay apart.
func (j joiner) first(t failedCheck) (id string) {
	var marks []string
	for _, mark := range t.failures() {
		marks = append(marks, fmt.Sprint(t.Outcome, t.Finding, mark))
	}
	for _, mark := range marks {
		if id == "" {
			id = j[mark]
		}
	}
	for _, mark := range marks {
		j[mark] = cmp.Or(j[mark], id, t.ID)
	}
	return id
}
