package server

import (
	"bytes"
	"container/list"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/types"
	pods "k8s.io/kubelet/pkg/apis/pods/v1alpha1"
)

// maxPendingDeletions is how many deletions a watcher may have due before its watch
// ends with ResourceExhausted: many more than a node has while a client may decently
// be busy with something else.
const maxPendingDeletions = 10000

// queue is what one watcher was sent, and what is yet to be sent to it: of each pod
// the latest only. However slow a watcher is, its queue is no longer than the number
// of pods there are, and of deletions that are due. The bytes in it have gone through the watcher's mask.
type queue struct {
	// sent is what the watcher was sent last of each pod that it knows.
	sent map[types.UID][]byte
	// due finds the entry of a pod in order, which has the events that are due,
	// the oldest first.
	due   map[types.UID]*list.Element
	order list.List
	// deletions is how many of the events that are due are deletions.
	deletions, maxDeletions int
	// missed is how many states of pods gave way to later ones before they
	// were sent.
	missed int64
}

// entry is an event that is due. Whether a pod is new to the watcher is known
// when its turn comes.
type entry struct {
	uid     types.UID
	masked  []byte
	deleted bool
	// synced is set for the entry that stands for the end of the initial pods.
	synced bool
}

func newQueue(maxDeletions int) *queue {
	return &queue{sent: map[types.UID][]byte{}, due: map[types.UID]*list.Element{}, maxDeletions: maxDeletions}
}

// sync makes what is due up to now the initial pods.
func (q *queue) sync() { q.order.PushBack(&entry{synced: true}) }

// put takes the new state of a pod. A state that looks to the watcher like
// the one that it was sent last is not an event.
func (q *queue) put(uid types.UID, masked []byte) {
	last, known := q.sent[uid]
	asBefore := known && bytes.Equal(last, masked)
	element, waiting := q.due[uid]
	if !waiting {
		if !asBefore {
			q.due[uid] = q.order.PushBack(&entry{uid: uid, masked: masked})
		}
		return
	}
	due := element.Value.(*entry)
	if !due.deleted && bytes.Equal(due.masked, masked) {
		return
	}
	q.missed++
	if asBefore {
		q.drop(element)
		return
	}
	if due.deleted {
		q.deletions--
	}
	*due = entry{uid: uid, masked: masked}
}

// remove takes the end of a pod, which is an event only for a watcher that was sent
// the pod. The error is that of a stream with too many deletions that are due.
func (q *queue) remove(uid types.UID, masked []byte) error {
	_, known := q.sent[uid]
	element, waiting := q.due[uid]
	if waiting {
		q.missed++
	}
	if !known {
		if waiting {
			q.drop(element)
		}
		return nil
	}
	if !waiting {
		element = q.order.PushBack(&entry{})
		q.due[uid] = element
	}
	*element.Value.(*entry) = entry{uid: uid, masked: masked, deleted: true}
	q.deletions++
	if q.deletions > q.maxDeletions {
		return status.Error(codes.ResourceExhausted, fmt.Sprintf(
			"the watch is too slow: more than %d deletions are pending: watch again, and read faster", q.maxDeletions))
	}
	return nil
}

func (q *queue) drop(element *list.Element) {
	due := q.order.Remove(element).(*entry)
	delete(q.due, due.uid)
	if due.deleted {
		q.deletions--
	}
}

// next takes the event whose turn it is, or nil if none is due.
func (q *queue) next() *pods.WatchPodsEvent {
	front := q.order.Front()
	if front == nil {
		return nil
	}
	due := front.Value.(*entry)
	if due.synced {
		q.order.Remove(front)
		return &pods.WatchPodsEvent{Type: pods.EventType_INITIAL_SYNC_COMPLETE}
	}
	q.drop(front)
	event := &pods.WatchPodsEvent{Type: pods.EventType_ADDED, Pod: due.masked}
	if _, known := q.sent[due.uid]; known {
		event.Type = pods.EventType_MODIFIED
	}
	q.sent[due.uid] = due.masked
	if due.deleted {
		event.Type = pods.EventType_DELETED
		delete(q.sent, due.uid)
	}
	return event
}
