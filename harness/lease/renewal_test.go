package lease

import (
	"fmt"
	"strings"
	"testing"
)

// TestRenewal plays rounds: answers in, what the node does out.
func TestRenewal(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		known   bool
		answers string
		want    string
	}{
		"all is well":                 {true, "done", "update"},
		"the first round":             {false, "not found, done", "get, create"},
		"the lease of an earlier run": {false, "done, done", "get, update"},
		"a hiccup":                    {true, "failed, done", "update, update"},
		"another client wrote":        {true, "conflict, done, done", "update, get, update"},
		"another client deleted it": {true, "not found, not found, not found, not found, not found, not found, done",
			"update, update, update, update, update, get, create"},
		"the API server is away, and comes back": {true,
			"failed, failed, failed, failed, failed, failed, failed, done, done",
			"update, update, update, update, update, get, get after 200ms, get after 400ms, update"},
		"for long": {false, strings.Repeat("failed, ", 8) + "done, done",
			"get, get after 200ms, get after 400ms, get after 800ms, get after 1.6s, get after 3.2s, get after 6.4s, get after 7s, get after 7s, update"},
		"it can be read and not written": {true, strings.Repeat("failed, ", 5) + "done, " + strings.TrimSuffix(strings.Repeat("failed, ", 5), ", "),
			"update, update, update, update, update, get, update, update, update, update, update"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := renewal{known: tc.known}
			a := r.begin()
			did := []string{string(a)}
			for text := range strings.SplitSeq(tc.answers, ", ") {
				if a == "" {
					t.Fatalf("it ended after %q", did)
				}
				next, after := r.next(a, answer(text))
				if a = next; a == "" {
					continue
				}
				words := string(a)
				if after > 0 {
					words += fmt.Sprintf(" after %s", after)
				}
				did = append(did, words)
			}
			if got := strings.Join(did, ", "); got != tc.want || a != "" {
				t.Errorf("got  %s, and then %q\nwant %s", got, a, tc.want)
			}
		})
	}
}
