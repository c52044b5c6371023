package expr

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/skewrig/skewrig/record/timeline"
)

// Vars are what expressions see of a history. For a name that was never seen, there is
// nothing.
func Vars(t *timeline.Timeline) map[string]any {
	since := 0.0
	if n := len(t.Steps); n > 0 {
		since = t.Seconds(t.Steps[n-1].From.Time)
	}
	all := map[string]any{"since": since}
	for _, v := range variables {
		all[v.Name] = v.seen(t)
	}
	return all
}

// lists is a map in which every known name has a list, which is empty if there
// is none.
type lists struct {
	traits.Mapper
	known map[string]bool
}

func asMap(m any) traits.Mapper { return inKeyOrder.NativeToValue(m).(traits.Mapper) }

// Find implements traits.Mapper.
func (l lists) Find(key ref.Val) (ref.Val, bool) {
	if v, found := l.Mapper.Find(key); found {
		return v, true
	}
	name, _ := key.Value().(string)
	if !l.known[name] {
		return nil, false
	}
	return inKeyOrder.NativeToValue([]any{}), true
}

// Get implements traits.Indexer.
func (l lists) Get(key ref.Val) ref.Val {
	if v, found := l.Find(key); found {
		return v
	}
	return types.NewErr("no such key: %v", key.Value())
}
