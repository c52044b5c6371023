package action

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Wait is a condition that must come true before the next step, or a time that must pass.
type Wait struct {
	// Until is a CEL expression over the record. If unset, For is set.
	Until string `json:"until,omitempty"`
	// Within is how long to wait for it. If unset, one minute.
	Within behavior.Duration `json:"within,omitempty"`
	// For is how long to wait whatever happens.
	For behavior.Duration `json:"for,omitempty"`
}

func (w Wait) Check(f spec.Field) {
	f.Refuse(".until", strings.TrimSpace(w.Until) == "", "there is nothing to wait for")
	f.Duration(".within", w.Within)
	f.Duration(".for", w.For)
	given := f.Present("until", "for")
	if len(given) != 1 {
		f.Report("", "a wait has until or for, and this one has %s", cmp.Or(strings.Join(given, " and "), "neither"))
	}
	f.Refuse(".within", f.Has(".for"), "within goes with until only")
}

func (w Wait) Plan(Scene) (Action, error) {
	if w.For == 0 {
		w.Within = cmp.Or(w.Within, behavior.Duration(time.Minute))
	}
	return w, nil
}

func (w Wait) Describe() string {
	if w.For != 0 {
		return fmt.Sprintf("wait for %s", w.For)
	}
	return OneLine(fmt.Sprintf("wait up to %s until %s", w.Within, shorten(w.Until)))
}

func (w Wait) Run(ctx context.Context, rig Rig) error {
	return rig.Wait(ctx, w.Until, time.Duration(cmp.Or(w.For, w.Within)))
}

// Facts are those of a time that passes.
func (w Wait) Facts() Facts {
	return Facts{Needs: NeedsNothing, Reach: ReachOwn, Bounded: true, Estimate: max(eventEstimate, time.Duration(w.For))}
}
