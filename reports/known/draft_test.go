package known

import (
	"strings"
	"testing"
)

// TestADraftIsAnEntry: a list that has it excuses the check, whatever the texts are.
func TestADraftIsAnEntry(t *testing.T) {
	t.Parallel()
	const cell = "kep-1/upgrade/kubelet/apiserver:v1.90.1/kubelet:v1.89.3"
	for _, reason := range []string{"Simple.", "a: b # c\n- \"d\"", "'", "yes", "0", "* & ! | >", "{x: [y}", "\x1b[2J \u202e", strings.Repeat("long ", 100)} {
		for _, link := range []string{"", "https://example.com/kep?plain=1#L7"} {
			text := Draft{Cells: cell, Checks: []string{"restarts-end", "one-pod"}, Reason: reason, Link: link}.YAML()
			list, err := Parse("list.yaml", []byte("apiVersion: skewrig.dev/v1alpha1\nkind: KnownDeviations\ndeviations:\n"+text))
			if err != nil {
				t.Fatalf("%v:\n%s", err, text)
			}
			d := list.Deviations[0]
			if !d.Cells.Match(cell) || len(d.Checks) != 2 || !d.Checks[1].Match("one-pod") || d.Link == "" || link != "" && d.Link != link || d.Reason != strings.Join(strings.Fields(reason), " ") {
				t.Errorf("the entry is %+v, of\n%s", d, text)
			}
		}
	}
}
