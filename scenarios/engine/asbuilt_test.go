package engine

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// TestWhatIsBuiltBeginsFirst, in order, and the rest as it is built, or can't be.
func TestWhatIsBuiltBeginsFirst(t *testing.T) {
	t.Parallel()
	done := make(map[string]chan struct{})
	cell := func(kubelet string) plan.Cell {
		done[kubelet] = make(chan struct{})
		return plan.Cell{ID: kubelet, Topology: record.Topology{Version: "v1.90.1", Nodes: []record.Node{{Name: "a", Version: release.Version(kubelet)}}}}
	}
	cells := []plan.Cell{cell("v1.86.1"), cell("v1.90.1"), cell("v1.87.1"), cell("v1.88.1"), cell("v1.89.1")}
	done[string(release.Etcd)] = make(chan struct{})
	close(done[string(release.Etcd)])
	close(done["v1.90.1"])
	close(done["v1.89.1"])
	b := &batch{cells: cells, Engine: &Engine{
		Binary: func(ctx context.Context, target build.Target) (build.Binary, error) {
			select {
			case <-done[string(target.Version)]:
			case <-ctx.Done():
				return build.Binary{}, context.Cause(ctx)
			}
			if target.Version == "v1.88.1" {
				return build.Binary{}, errors.New("it does not compile")
			}
			return build.Binary{}, nil
		},
		Pending: func(target build.Target) bool {
			select {
			case <-done[string(target.Version)]:
				return false
			default:
				return true
			}
		},
	}}
	next := []string{"v1.88.1", "v1.87.1"}
	var order []int
	for at := range b.asBuilt(t.Context(), [][]int{{0, 3}, {1}, {2}, {0, 4}}) {
		order = append(order, at)
		if len(order) > 1 && len(next) > 0 {
			close(done[next[0]])
			next = next[1:]
		}
	}
	if want := []int{1, 3, 0, 2}; !slices.Equal(order, want) {
		t.Errorf("parties begin as %v, want %v", order, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := slices.Collect(b.asBuilt(ctx, [][]int{{0}})); !slices.Equal(got, []int{0}) {
		t.Errorf("after an interrupt, %v, want all", got)
	}
}
