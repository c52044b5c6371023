package engine

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"

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
func Shard(cells []plan.Cell, index, of int) []plan.Cell {
	type party struct {
		name   string
		places []int
		effort int
	}
	var parties []party
	share := 0.0
	for _, g := range groups(cells, len(cells)) {
		parts := make(map[uint64][]int)
		for _, i := range g.all() {
			part := preference(cells[i].ID, 0) % groupParts
			parts[part] = append(parts[part], i)
		}
		for part, places := range parts {
			p := party{fmt.Sprint(g.key, part), places, groupEffort(cells, group{beside: places})}
			if g.key == "" {
				p.name = cells[places[0]].ID
			}
			parties = append(parties, p)
			share += float64(p.effort) / float64(of)
		}
	}
	slices.SortFunc(parties, func(a, b party) int { return cmp.Compare(preference(a.name, 0), preference(b.name, 0)) })
	loads := make([]int, of+1) // by index
	var mine []int
	for _, p := range parties {
		to := choose(p.name, loads, shardSlack*share)
		loads[to] += p.effort
		if to == index {
			mine = append(mine, p.places...)
		}
	}
	slices.Sort(mine)
	part := make([]plan.Cell, len(mine))
	for i, place := range mine {
		part[i] = cells[place]
	}
	return part
}

// choose returns the shard that a group prefers of those with room.
func choose(name string, loads []int, room float64) int {
	best := 0
	for shard := 1; shard < len(loads); shard++ {
		if float64(loads[shard]) < room && (best == 0 || preference(name, shard) > preference(name, best)) {
			best = shard
		}
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
