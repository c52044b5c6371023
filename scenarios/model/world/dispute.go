package world

import (
	"cmp"
	"container/heap"
	"time"

	"github.com/skewrig/skewrig/scenarios/model/nodelife"
)

// disputes are the nodes that are called Unknown and will say that they are not.
// Everybody sees that, so that it is played when it is due.
type disputes []dispute

type dispute struct {
	due  time.Duration
	node int
}

func (d disputes) Len() int { return len(d) }
func (d disputes) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(d[i].due, d[j].due), cmp.Compare(d[i].node, d[j].node)) < 0
}
func (d disputes) Swap(i, j int) { d[i], d[j] = d[j], d[i] }
func (d *disputes) Push(x any)   { *d = append(*d, x.(dispute)) } //nolint:forcetypeassert // it holds nothing else
func (d *disputes) Pop() any {
	last := (*d)[len(*d)-1]
	*d = (*d)[:len(*d)-1]
	return last
}

func (d disputes) due() time.Duration {
	if len(d) == 0 {
		return never
	}
	return d[0].due
}

// dispute queues a node that is called Unknown for when it looks at its status.
func (w *World) dispute(i int) {
	if n := &w.nodes[i]; n.api.Ready != nodelife.True && !n.condition.Stopped {
		heap.Push(&w.disputes, dispute{n.reports, i})
	}
}

// settle lets the next node say that it is Ready. If it isn't heard, it tries
// again.
func (w *World) settle() {
	i := heap.Pop(&w.disputes).(dispute).node //nolint:forcetypeassert // as above
	w.catchUp(i)
	w.dispute(i)
}
