package world

import (
	"cmp"
	"slices"
	"time"

	"github.com/skewrig/skewrig/scenarios/model/nodelife"
)

// disputes are the nodes that are called Unknown and will say that they are not, in
// the order in which they do. All others see that, so that it is played when it is
// due.
type disputes []dispute

type dispute struct {
	due  time.Duration
	node int
}

func (d dispute) compare(other dispute) int {
	return cmp.Or(cmp.Compare(d.due, other.due), cmp.Compare(d.node, other.node))
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
		next := dispute{n.reports, i}
		at, _ := slices.BinarySearchFunc(w.disputes, next, dispute.compare)
		w.disputes = slices.Insert(w.disputes, at, next)
	}
}

// settle lets the next node say that it is Ready. If it isn't heard, it tries
// again.
func (w *World) settle() {
	i := w.disputes[0].node
	w.disputes = w.disputes[1:]
	w.catchUp(i)
	w.dispute(i)
}
