package engine

import (
	"reflect"
	"testing"

	"github.com/skewrig/skewrig/scenarios/plan"
)

func TestTheLongestCellsBeginFirst(t *testing.T) {
	t.Parallel()
	restart := plan.Step{Action: plan.Restart{Component: "kube-apiserver"}}
	short, also := plan.Cell{ID: "short"}, plan.Cell{ID: "as short"}
	long := plan.Cell{ID: "long", Steps: []plan.Step{restart, restart, restart}}
	if got := inOrder([]plan.Cell{short, also, long}); !reflect.DeepEqual(got, []int{2, 0, 1}) {
		t.Errorf("order %v, want the long one first, and the others as they were", got)
	}
}
