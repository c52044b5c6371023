package watched

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/skewrig/skewrig/record"
)

// Follow lists and watches the objects of a source until ctx is done. It calls changed, never twice at a time, with each state
// of an object: with how it changed (added, modified or deleted), and with the state before of one that was modified. The
// channel is closed once changed was called with all objects that existed at first.
func Follow[T metav1.Object](ctx context.Context, running *sync.WaitGroup, s *Source, changed func(change string, before, now T)) (synced <-chan struct{}) {
	objects := &store[T]{changed: changed, strip: s.Strip, objects: make(map[string]T), synced: make(chan struct{})}
	reflector := cache.NewReflectorWithOptions(reflected{s}, nil, objects, cache.ReflectorOptions{Name: "skewrig"})
	running.Go(func() {
		_ = backoff.DelayWithReset(clock.RealClock{}, backoffReset).Until(ctx, true, true, func(ctx context.Context) (bool, error) {
			if err := reflector.ListAndWatchWithContext(ctx); err != nil {
				s.failed(err)
			}
			return false, nil
		})
	})
	return objects.synced
}

// backoff is the pause before objects are listed anew, as it is in client-go. It is short again after backoffReset.
var backoff = wait.Backoff{Duration: 800 * time.Millisecond, Cap: 30 * time.Second, Steps: 38, Factor: 2, Jitter: 1}

const backoffReset = 2 * time.Minute

// Await returns when the objects of all sources were passed on that existed at first.
func Await(ctx context.Context, synced ...<-chan struct{}) error {
	for _, s := range synced {
		select {
		case <-s:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// store has the objects that a reflector shows, and passes on how they change.
type store[T metav1.Object] struct {
	changed func(change string, before, now T)
	strip   func(any) any // may be nil
	objects map[string]T  // by namespace and name
	synced  chan struct{}
	once    sync.Once
}

func (s *store[T]) Add(object any) error {
	if now, is := object.(T); is {
		s.put(now)
	}
	return nil
}

func (s *store[T]) Update(object any) error { return s.Add(object) }

func (s *store[T]) Delete(object any) error {
	if now, is := object.(T); is {
		s.remove(now)
	}
	return nil
}

// Replace takes a list of all objects that exist.
func (s *store[T]) Replace(list []any, _ string) error {
	exist := make(map[string]bool, len(list))
	for _, object := range list {
		if now, is := object.(T); is {
			exist[keyOf(now)] = true
			s.put(now)
		}
	}
	for key, object := range s.objects {
		if !exist[key] {
			s.remove(object)
		}
	}
	s.once.Do(func() { close(s.synced) })
	return nil
}

func (*store[T]) Resync() error { return nil }

func (s *store[T]) put(now T) {
	if s.strip != nil {
		if stripped, is := s.strip(now).(T); is {
			now = stripped
		}
	}
	change := "added"
	before, is := s.objects[keyOf(now)]
	if is {
		change = "modified"
	}
	s.objects[keyOf(now)] = now
	s.changed(change, before, now)
}

func (s *store[T]) remove(now T) {
	var none T
	delete(s.objects, keyOf(now))
	s.changed(record.Deleted, none, now)
}

func keyOf(object metav1.Object) string { return object.GetNamespace() + "/" + object.GetName() }
