package lease

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// task is one of the two things that a node does.
type task int

const (
	renewing task = iota
	reporting
)

// turn is when a node is to do what.
type turn struct {
	node *node
	task task
	due  time.Time
}

// queue is the turns of all nodes, the next one first.
type queue struct {
	mu      sync.Mutex
	turns   turns
	earlier chan struct{} // is closed when there is one that comes before all others
}

func newQueue() *queue { return &queue{earlier: make(chan struct{})} }

func (q *queue) push(t turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	heap.Push(&q.turns, t)
	if q.turns[0] == t {
		close(q.earlier)
		q.earlier = make(chan struct{})
	}
}

// pop waits until a turn is due, and returns it.
func (q *queue) pop(ctx context.Context) (turn, error) {
	for {
		t, wait, earlier := q.look(time.Now())
		if wait <= 0 {
			return t, ctx.Err()
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-earlier:
		}
		timer.Stop()
		if ctx.Err() != nil {
			return turn{}, ctx.Err()
		}
	}
}

// look takes the first turn if it is due, and says otherwise how long to wait.
func (q *queue) look(now time.Time) (t turn, wait time.Duration, earlier <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.turns) == 0 {
		return t, time.Hour, q.earlier
	}
	if wait = q.turns[0].due.Sub(now); wait > 0 {
		return t, wait, q.earlier
	}
	return heap.Pop(&q.turns).(turn), 0, nil //nolint:forcetypeassert // it holds nothing else
}

// turns implements heap.Interface.
type turns []turn

func (t turns) Len() int           { return len(t) }
func (t turns) Less(i, j int) bool { return t[i].due.Before(t[j].due) }
func (t turns) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *turns) Push(x any)        { *t = append(*t, x.(turn)) } //nolint:forcetypeassert // as above
func (t *turns) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}
