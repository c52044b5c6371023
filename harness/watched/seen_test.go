package watched_test

import (
	"slices"
	"testing"

	"github.com/skewrig/skewrig/harness/watched"
	"github.com/skewrig/skewrig/record"
)

// TestSeen: a second watch records what is different from what the first one saw, and nothing else.
func TestSeen(t *testing.T) {
	t.Parallel()
	s := watched.NewSeen()
	changed := func(change, name, body string) bool {
		return len(s.Changed("uid-"+name, "pods/default/"+name, record.ObjectObserved{Change: change, Resource: "pods", Name: name, Object: []byte(body)})) > 0
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

// TestSeenReplaced: of an object that was deleted and made again while no watch saw it, the old one is gone first, and no
// later watch takes the new one away.
func TestSeenReplaced(t *testing.T) {
	t.Parallel()
	s := watched.NewSeen()
	changed := func(change, uid string) (all []string) {
		for _, o := range s.Changed(uid, "pods/default/a", record.ObjectObserved{Change: change, Resource: "pods", Name: "a", Object: []byte(uid)}) {
			all = append(all, o.Change+" "+string(o.Object))
		}
		return all
	}
	for _, step := range []struct {
		again       bool
		change, uid string
		want        []string
	}{
		{false, "added", "1", []string{"added 1"}},
		{true, "added", "2", []string{"deleted 1", "added 2"}},
		{false, "modified", "3", []string{"deleted 2", "modified 3"}}, // by a list within a watch
		{false, "deleted", "2", nil},                                  // late
		{true, "added", "3", nil},
		{false, "deleted", "3", []string{"deleted 3"}},
		{false, "added", "4", []string{"added 4"}},
	} {
		if step.again {
			s.Again()
		}
		if got := changed(step.change, step.uid); !slices.Equal(got, step.want) {
			t.Errorf("%s %s: recorded %q, want %q", step.change, step.uid, got, step.want)
		}
		if gone := s.Missing(); len(gone) > 0 {
			t.Errorf("%s %s: missing %v", step.change, step.uid, gone)
		}
	}
}
