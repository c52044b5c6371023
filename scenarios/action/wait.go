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

// Wait is a condition that must come true before the next step.
type Wait struct {
	// Until is a CEL expression over the record.
	Until string `json:"until"`
	// Within is how long to wait. If unset, one minute.
	Within behavior.Duration `json:"within,omitempty"`
}

// Check implements spec.Action.
func (w Wait) Check(f spec.Field) {
	f.Refuse(".until", strings.TrimSpace(w.Until) == "", "there is nothing to wait for")
	f.Duration(".within", w.Within)
}

// Plan implements Planner.
func (w Wait) Plan(Scene) (Action, error) {
	w.Within = cmp.Or(w.Within, behavior.Duration(time.Minute))
	return w, nil
}

// Describe implements Action.
func (w Wait) Describe() string {
	return OneLine(fmt.Sprintf("wait up to %s until %s", w.Within, shorten(w.Until)))
}

// Run implements Action.
func (w Wait) Run(ctx context.Context, rig Rig) error {
	return rig.Wait(ctx, w.Until, time.Duration(w.Within))
}

// Keeps implements Keeper.
func (Wait) Keeps(func(string) bool) bool { return true }
