package watched_test

import (
	"testing"

	"github.com/skewrig/skewrig/harness/watched"
	"github.com/skewrig/skewrig/record"
)

// TestSeen: a second watch records what is different from what the first one saw, and nothing else.
func TestSeen(t *testing.T) {
	t.Parallel()
	s := watched.NewSeen()
	changed := func(change, name, body string) bool {
		return s.Changed("uid-"+name, "pods/default/"+name, record.ObjectObserved{Change: change, Resource: "pods", Name: name, Object: []byte(body)})
	}
	for _, name := range []string{"same", "different", "gone", "deleted"} {
		if !changed("added", name, "1") {
			t.Errorf("%s is new", name)
		}
	}
	if !changed("deleted", "deleted", "1") || changed("modified", "same", "1") || len(s.Missing()) > 0 {
		t.Error("the first watch")
	}
	s.Again()
	if changed("added", "same", "1") || !changed("added", "different", "2") || !changed("added", "deleted", "1") {
		t.Error("the second watch")
	}
	gone := s.Missing()
	if len(gone) != 1 || gone[0].Subject != "pods/default/gone" || gone[0].Change != "deleted" || string(gone[0].Object) != "1" {
		t.Errorf("%v", gone)
	}
	if len(s.Missing()) > 0 {
		t.Error("it is gone twice")
	}
}
