package server

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// view is what a client was given last, of all pods, by a list or a watch. Only
// hashes are kept, for the sake of the memory: a report may do with that.
type view struct {
	by   masking
	sent map[types.UID]uint64
	// missed is how many states a watch left out.
	missed int64
}

// behind returns the pods for which a view is out of date: that have changed as far
// as its mask shows, that it doesn't have, or that have gone.
func (v view) behind(now []*pod) map[types.UID]bool {
	behind := map[types.UID]bool{}
	for uid := range v.sent {
		behind[uid] = true
	}
	for _, p := range now {
		latest, err := p.under(v.by)
		if hash, had := v.sent[p.uid]; had && err == nil && hash == latest.hash {
			delete(behind, p.uid)
		} else {
			behind[p.uid] = true
		}
	}
	return behind
}

// behindInAll returns the pods that every view is behind on, in order. If there
// are no views, there are none.
func behindInAll(views []view, now []*pod) []types.UID {
	if len(views) == 0 {
		return nil
	}
	all := views[0].behind(now)
	for _, v := range views[1:] {
		behind := v.behind(now)
		maps.DeleteFunc(all, func(uid types.UID, _ bool) bool { return !behind[uid] })
	}
	return slices.Sorted(maps.Keys(all))
}
