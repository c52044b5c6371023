package schedule

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"github.com/skewrig/skewrig/scenarios/plan"
)

// groupParts is in how many parts a group of cells that share a control plane may go to
// different shards, each of which starts one.
const groupParts = 8

// shardSlack is how much more than its share a shard may get. The more, the fewer
// cells change their shard when others come or go.
const shardSlack = 1.1

// Shard returns one of several parts of cells, in their own order: the part of
// the given index, from 1. Each cell is in exactly one part, and the parts take
// about as long.
//
// Which part that is depends on nothing but the cells: a group of those that
// share one prefers shards in an order that follows from what it is, and goes
// to the first of them that has room. So a cell that is added moves few others.
// The last groups go to the shards that would have nothing.
func Shard(cells []plan.Cell, index, of int) []plan.Cell {
	partyOf := make(map[string]string) // by the id of a cell
	for _, c := range cells {
		name := c.ID
		if key, _ := shares(c); key != "" {
			name = fmt.Sprint(key, preference(name, 0)%groupParts)
		}
		partyOf[c.ID] = name
	}
	parties := make(map[string][]int)
	for i, c := range cells {
		name := partyOf[c.ID]
		if other, there := partyOf[c.With]; there {
			name = other // they are compared
		}
		parties[name] = append(parties[name], i)
	}
	var all time.Duration
	for _, places := range parties {
		all += sum(cells, places)
	}
	room := shardSlack * all.Seconds() / float64(of)
	loads := make([]time.Duration, of+1) // by index
	var mine []int
	names := slices.SortedFunc(maps.Keys(parties), byPreference)
	for n, name := range names {
		if len(names)-n <= idle(loads) {
			room = 0 // each goes to a shard that has nothing
		}
		to := choose(name, loads, room)
		loads[to] += sum(cells, parties[name])
		if to == index {
			mine = append(mine, parties[name]...)
		}
	}
	slices.Sort(mine)
	part := make([]plan.Cell, len(mine))
	for i, place := range mine {
		part[i] = cells[place]
	}
	return part
}

// byPreference has names in an order that is as good as random, and always the same.
func byPreference(a, b string) int { return cmp.Compare(preference(a, 0), preference(b, 0)) }

// idle is how many shards have nothing yet.
func idle(loads []time.Duration) (n int) {
	for _, load := range loads[1:] {
		if load == 0 {
			n++
		}
	}
	return n
}

// choose returns the shard that a group prefers of those with room, or else the one that has
// least.
func choose(name string, loads []time.Duration, room float64) int {
	best := 0
	for shard := 1; shard < len(loads); shard++ {
		if loads[shard].Seconds() < room && (best == 0 || preference(name, shard) > preference(name, best)) {
			best = shard
		}
	}
	if best == 0 {
		return 1 + slices.Index(loads[1:], slices.Min(loads[1:]))
	}
	return best
}

// preference is how much a group prefers a shard: a number that is as good as
// random, and always the same.
func preference(name string, shard int) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	h.Write(binary.AppendUvarint(nil, uint64(shard)))
	x := h.Sum64()
	// What differs in the last byte only is spread over all bits.
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
