package schedule

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/scenarios/plan"
)

// shards says in which of some shards each cell is.
func shards(t *testing.T, cells []plan.Cell, of int) map[string]int {
	t.Helper()
	in := make(map[string]int)
	for index := 1; index <= of; index++ {
		for _, c := range Shard(cells, index, of) {
			if other, twice := in[c.ID]; twice {
				t.Errorf("%s is in shard %d and in %d", c.ID, other, index)
			}
			in[c.ID] = index
		}
	}
	if len(in) != len(cells) {
		t.Errorf("%d of %d cells are in a shard", len(in), len(cells))
	}
	return in
}

func TestShardsAreAPartition(t *testing.T) {
	t.Parallel()
	cells := catalogCells(t)
	for _, of := range []int{1, 2, 3, 8} {
		in := shards(t, cells, of)
		for _, c := range cells {
			if c.With != "" && in[c.With] != in[c.ID] {
				t.Errorf("of %d: %s and %s, which are compared, are in different shards", of, c.ID, c.With)
			}
		}
		reversed := slices.Clone(cells)
		slices.Reverse(reversed)
		for id, shard := range shards(t, reversed, of) {
			if in[id] != shard {
				t.Errorf("of %d: %s depends on the order of the cells", of, id)
			}
		}
	}
}

func TestShardsTakeAboutAsLong(t *testing.T) {
	t.Parallel()
	cells := catalogCells(t)
	const of = 4
	var lengths []time.Duration
	for index := range of {
		part, all := Shard(cells, index+1, of), time.Duration(0)
		for _, cell := range part {
			all += length(cell)
		}
		lengths = append(lengths, all)
	}
	if slices.Max(lengths) > 2*slices.Min(lengths) {
		t.Errorf("%v", lengths)
	}
}

func TestACellThatComesMovesFewOthers(t *testing.T) {
	t.Parallel()
	cells := catalogCells(t)
	const of = 4
	with := shards(t, cells, of)
	for i := 0; i < len(cells); i += 20 {
		moved := 0
		for id, shard := range shards(t, slices.Delete(slices.Clone(cells), i, i+1), of) {
			if with[id] != shard {
				moved++
			}
		}
		if moved > len(cells)/20 {
			t.Errorf("%s moves %d of %d cells", cells[i].ID, moved, len(cells))
		}
	}
}

// TestNoShardHasNothing where there are enough groups of cells for all: with these, one had.
func TestNoShardHasNothing(t *testing.T) {
	t.Parallel()
	e2e := slices.DeleteFunc(catalogCells(t), func(c plan.Cell) bool {
		return !strings.HasPrefix(c.ID, "kep-4939/e2e/") && !strings.HasPrefix(c.ID, "kep-5999/e2e/")
	})
	if in := shards(t, e2e, 4); len(slices.Compact(slices.Sorted(maps.Values(in)))) < 4 {
		t.Errorf("%d cells in 4 shards: %v", len(e2e), in)
	}
}

func TestNoCellsHaveShards(t *testing.T) {
	t.Parallel()
	if got := Shard(nil, 1, 2); len(got) != 0 {
		t.Errorf("%v", got)
	}
}
