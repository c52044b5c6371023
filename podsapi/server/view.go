package server

import (
	"hash/maphash"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// view is what a client was given last, of all pods, by a list or a watch. Only
// hashes are kept, for the sake of the memory: a report may do with that.
type view struct {
	by   masking
	seen []sight
	// missed is how many states a watch left out.
	missed int64
}

// sight is what was seen of a pod.
type sight struct {
	uid  types.UID
	hash uint64
}

func (v *view) add(uid types.UID, masked []byte) {
	v.seen = append(v.seen, sight{uid, maphash.Bytes(seed, masked)})
}

// behind returns the pods of which a view isn't what is the case: that have
// changed as far as its mask shows, that it doesn't have, or that have gone.
func (v view) behind(now []*pod) map[types.UID]bool {
	seen, behind := map[types.UID]uint64{}, map[types.UID]bool{}
	for _, s := range v.seen {
		seen[s.uid], behind[s.uid] = s.hash, true
	}
	for _, p := range now {
		latest, err := p.under(v.by)
		if hash, had := seen[p.uid]; had && err == nil && hash == latest.hash {
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
