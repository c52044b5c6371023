package action

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Settle waits until controllers have come to rest. Then the laws of what is at rest are judged.
type Settle struct {
	// Within is how long it may take. If unset, one minute. What is not at rest by then is recorded, and the cell continues.
	Within behavior.Duration `json:"within,omitempty"`
	// Touch has each object read and annotated as a dry run at the end: what is stored must be accepted. It is also asked which
	// Secrets and ConfigMaps the kubelet of each node may read.
	Touch bool `json:"touch,omitempty"`
}

// OrTrue implements strict.OrTrue: settle: true is one with defaults.
func (Settle) OrTrue() {}

func (s Settle) Check(f spec.Field) { f.Duration(".within", s.Within) }

func (s Settle) Plan(Scene) (Action, error) {
	s.Within = cmp.Or(s.Within, behavior.Duration(time.Minute))
	return s, nil
}

func (s Settle) Describe() string {
	text := fmt.Sprintf("wait up to %s until all is at rest", s.Within)
	if s.Touch {
		text += ", read each object, and annotate it as a dry run"
	}
	return text
}

func (s Settle) Run(ctx context.Context, rig Rig) error { return rig.Settle(ctx, s) }

// Facts are those of a wait for rest.
func (s Settle) Facts() Facts {
	return Facts{Needs: NeedsObjects, Reach: ReachOwn, Rests: true, Bounded: true, Estimate: 2 * eventEstimate}
}
