package server

import (
	"bytes"
	"fmt"
	"math/rand"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"k8s.io/apimachinery/pkg/types"
	pods "k8s.io/kubelet/pkg/apis/pods/v1alpha1"
)

// steps plays changes such as "a=1" and "a-", and takes an event at each "?".
func steps(t *testing.T, q *queue, script ...string) []string {
	t.Helper()
	var events []string
	for _, step := range script {
		uid := types.UID(step[:1])
		switch {
		case step == "?":
			events = append(events, short(q.next()))
		case step == "!":
			q.sync()
		case step[1] == '-':
			if err := q.remove(uid, []byte("gone")); err != nil {
				t.Fatal(err)
			}
		default:
			q.put(uid, []byte(step))
		}
	}
	return events
}

func short(event *pods.WatchPodsEvent) string {
	if event == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s %s", event.Type, event.Pod)
}

func TestQueue(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script, want []string
		missed       int64
	}{
		"nothing":            {[]string{"?"}, []string{"nothing"}, 0},
		"initial pods":       {[]string{"a=1", "b=1", "!", "?", "?", "?", "?"}, []string{"ADDED a=1", "ADDED b=1", "INITIAL_SYNC_COMPLETE ", "nothing"}, 0},
		"change of one sent": {[]string{"a=1", "?", "a=2", "?"}, []string{"ADDED a=1", "MODIFIED a=2"}, 0},
		"same again":         {[]string{"a=1", "?", "a=1", "?"}, []string{"ADDED a=1", "nothing"}, 0},
		"same while waiting": {[]string{"a=1", "a=1", "?", "?"}, []string{"ADDED a=1", "nothing"}, 0},
		"latest only":        {[]string{"a=1", "a=2", "a=3", "?", "?"}, []string{"ADDED a=3", "nothing"}, 2},
		"there and back":     {[]string{"a=1", "?", "a=2", "a=1", "?"}, []string{"ADDED a=1", "nothing"}, 1},
		"came and went":      {[]string{"a=1", "a-", "?"}, []string{"nothing"}, 1},
		"deletion":           {[]string{"a=1", "?", "a-", "?", "?"}, []string{"ADDED a=1", "DELETED gone", "nothing"}, 0},
		"changed and went":   {[]string{"a=1", "?", "a=2", "a-", "?", "?"}, []string{"ADDED a=1", "DELETED gone", "nothing"}, 1},
		"went and came back": {[]string{"a=1", "?", "a-", "a=2", "?", "?"}, []string{"ADDED a=1", "MODIFIED a=2", "nothing"}, 1},
		"came back the same": {[]string{"a=1", "?", "a-", "a=1", "?"}, []string{"ADDED a=1", "nothing"}, 1},
		"new after its end":  {[]string{"a=1", "?", "a-", "?", "a=1", "?"}, []string{"ADDED a=1", "DELETED gone", "ADDED a=1"}, 0},
		"turn is kept":       {[]string{"a=1", "b=1", "a=2", "?", "?"}, []string{"ADDED a=2", "ADDED b=1"}, 1},
		"removed before synced": {[]string{"a=1", "b=1", "!", "a-", "c=1", "?", "?", "?", "?"},
			[]string{"ADDED b=1", "INITIAL_SYNC_COMPLETE ", "ADDED c=1", "nothing"}, 1},
	} {
		q := newQueue(10)
		if diff := cmp.Diff(test.want, steps(t, q, test.script...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if q.missed != test.missed {
			t.Errorf("%s: missed %d, want %d", name, q.missed, test.missed)
		}
	}
}

func TestQueueBoundsDeletions(t *testing.T) {
	t.Parallel()
	const most = 3
	q := newQueue(most)
	uid := func(i int) types.UID { return types.UID(fmt.Sprint(i)) }
	for i := range most + 1 {
		q.put(uid(i), []byte("x"))
		q.next()
	}
	for i := range most {
		if err := q.remove(uid(i), nil); err != nil {
			t.Fatalf("deletion %d: %v", i, err)
		}
	}
	wantCode(t, q.remove(uid(most), nil), codes.ResourceExhausted, "3 deletions")
}

// Random changes, read at random: what a client makes of the events is in the end
// what is the case, and the queue is never longer than there are pods, and
// deletions that are due.
func TestQueueTellsTheLastState(t *testing.T) {
	t.Parallel()
	for seed := range int64(200) {
		random := rand.New(rand.NewSource(seed))
		q := newQueue(1000)
		have, seen := map[types.UID][]byte{}, map[types.UID][]byte{}
		for step := range 500 {
			uid := types.UID(fmt.Sprint(random.Intn(8)))
			switch random.Intn(5) {
			case 0, 1:
				have[uid] = fmt.Append(nil, random.Intn(4))
				q.put(uid, have[uid])
			case 2:
				if have[uid] != nil {
					delete(have, uid)
					if err := q.remove(uid, []byte(uid)); err != nil {
						t.Fatal(err)
					}
				}
			default:
				apply(t, q, seen)
			}
			if q.order.Len() != len(q.due) || len(q.due) > len(have)+q.deletions || q.deletions > len(seen) {
				t.Fatalf("seed %d, step %d: %d in order, %d due, %d pods, %d deletions", seed, step, q.order.Len(), len(q.due), len(have), q.deletions)
			}
		}
		for apply(t, q, seen) {
		}
		if diff := cmp.Diff(have, seen); diff != "" {
			t.Fatalf("seed %d: the client is left with (-is +seen):\n%s", seed, diff)
		}
		if q.deletions != 0 {
			t.Errorf("seed %d: %d deletions are due of an empty queue", seed, q.deletions)
		}
	}
}

// apply does what a client does with an event, and checks that it makes sense.
func apply(t *testing.T, q *queue, seen map[types.UID][]byte) bool {
	t.Helper()
	var uid types.UID
	if front := q.order.Front(); front != nil {
		uid = front.Value.(*entry).uid
	}
	event := q.next()
	if event == nil {
		return false
	}
	last, known := seen[uid]
	if known != (event.Type != pods.EventType_ADDED) {
		t.Errorf("%s of a pod that is known: %t", event.Type, known)
	}
	if event.Type == pods.EventType_DELETED {
		delete(seen, uid)
		return true
	}
	if known && bytes.Equal(last, event.Pod) {
		t.Errorf("%s was sent twice", last)
	}
	seen[uid] = event.Pod
	return true
}
