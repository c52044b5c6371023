package watched

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// Client lists and watches the objects of a resource.
type Client interface {
	List(ctx context.Context, options metav1.ListOptions) (runtime.Object, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}

// typed is a client of client-go, which has a type of its own for lists.
type typed[L runtime.Object] interface {
	List(ctx context.Context, options metav1.ListOptions) (L, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}

// ClientOf returns a client of client-go as a Client.
func ClientOf[L runtime.Object](c typed[L]) Client { return client[L]{c} }

type client[L runtime.Object] struct{ typed[L] }

func (c client[L]) List(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	return c.typed.List(ctx, options)
}

// Source lists and watches the objects of a resource for Follow, and reports when states of them may have been missed.
type Source struct {
	Client Client
	// Tweak changes what is listed and watched. If unset, nothing is changed.
	Tweak func(*metav1.ListOptions)
	// Strip returns what to store of an object. It must not change the object: a fake client still uses it. If unset, all of
	// it is stored.
	Strip func(object any) any
	// Lists has the existing objects listed. If unset, the watch sends them first, where an API server can do that. Fake clients can't.
	Lists bool
	// Missed is called when the objects had to be listed anew, since the watch could not go on where it had ended: states
	// between the two may have been missed. It may be unset.
	Missed func(since time.Time, why error)
	// Broken is called when the watch can't go on, and Mended when it does. They may be unset.
	Broken func(since time.Time, why error)
	Mended func(since time.Time, why error)
	// Unserved is called when the API server answers that it does not serve the resource. It may be unset.
	Unserved func()

	mu     sync.Mutex
	listed bool
	ended  time.Time // when the last watch did
	why    error     // the last error since
	broken bool
}

// reflected is a Source in the form in which a reflector takes it.
type reflected struct{ *Source }

// IsWatchListSemanticsUnSupported is asked by a reflector.
func (s reflected) IsWatchListSemanticsUnSupported() bool { return s.Lists }

func (s reflected) List(options metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(context.Background(), options)
}

func (s reflected) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(context.Background(), options)
}

func (s reflected) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	list, err := s.Client.List(ctx, s.tweaked(options))
	if err != nil {
		s.failed(err)
		return nil, err
	}
	if options.Continue == "" {
		s.lists()
	}
	return list, nil
}

// WatchWithContext begins a watch. One that sends the existing objects first is a list as well.
func (s reflected) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	lists := options.SendInitialEvents != nil && *options.SendInitialEvents
	w, err := s.Client.Watch(ctx, s.tweaked(options))
	if err != nil {
		if !lists || !apierrors.IsInvalid(err) { // an API server that can't lists instead
			s.failed(err)
		}
		return nil, err
	}
	if lists {
		s.lists()
	}
	s.goesOn()
	return follow(w, s.ends), nil
}

func (s *Source) tweaked(options metav1.ListOptions) metav1.ListOptions {
	if s.Tweak != nil {
		s.Tweak(&options)
	}
	return options
}

// lists notes that the objects are listed. If they were before, what happened since the last watch ended was missed.
func (s *Source) lists() {
	s.mu.Lock()
	again, since, why := s.listed && !s.ended.IsZero(), s.ended, s.why
	s.listed, s.ended = true, time.Time{}
	s.mu.Unlock()
	if again && s.Missed != nil {
		s.Missed(since, fmt.Errorf("the watch ended, and all objects were listed anew: %w", cmp.Or(why, errFollowed)))
	}
}

// errFollowed is why a watch that ended without an error can't go on.
var errFollowed = errors.New("the API server did not have what followed")

// ends notes that a watch has ended.
func (s *Source) ends(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended, s.why = time.Now(), why
}

// goesOn notes that a watch has begun.
func (s *Source) goesOn() {
	s.mu.Lock()
	mended, since, why := s.broken, s.ended, s.why
	s.broken, s.why, s.ended = false, nil, time.Time{}
	s.mu.Unlock()
	if mended && !since.IsZero() && s.Mended != nil {
		s.Mended(since, why)
	}
}

// failed notes why a request failed. A watch that lasted so long, or has fallen behind so far, that it has to begin again
// begins with a list.
func (s *Source) failed(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return
	}
	s.mu.Lock()
	breaks := !s.broken
	if s.ended.IsZero() {
		s.ended = time.Now()
	}
	s.why, s.broken = err, true
	since := s.ended
	s.mu.Unlock()
	switch {
	case IsUnserved(err) && s.Unserved != nil:
		s.Unserved()
	case breaks && s.Broken != nil:
		s.Broken(since, err)
	}
}

// IsUnserved reports whether an error says that a resource is not served: there is no list of its objects.
func IsUnserved(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)
}

// followed is a watch whose end is noted.
type followed struct {
	watch.Interface

	events chan watch.Event
	left   chan struct{}
	leave  func()
}

// follow returns a watch that calls ended when it ends by itself, with what the API server said of why.
func follow(w watch.Interface, ended func(why error)) watch.Interface {
	f := &followed{Interface: w, events: make(chan watch.Event), left: make(chan struct{})}
	f.leave = sync.OnceFunc(func() { close(f.left) })
	go func() {
		defer close(f.events)
		var why error
		defer func() { ended(why) }()
		for e := range w.ResultChan() {
			if e.Type == watch.Error {
				why = apierrors.FromObject(e.Object)
			}
			select {
			case f.events <- e:
			case <-f.left:
				return
			}
		}
	}()
	return f
}

func (f *followed) ResultChan() <-chan watch.Event { return f.events }

func (f *followed) Stop() {
	f.leave()
	f.Interface.Stop()
}
