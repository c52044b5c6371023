package shell

import (
	"context"
	"sync"
	"syscall"
)

// signals says what a process does on a signal. It is safe for concurrent use.
type signals struct {
	// otherwise is done on a signal without a handler.
	otherwise func(syscall.Signal)

	mu       sync.Mutex
	handlers map[syscall.Signal]func()
}

// listen calls handlers until ctx ends.
func (s *signals) listen(ctx context.Context, sent <-chan syscall.Signal) {
	for {
		select {
		case signal, open := <-sent:
			if !open {
				return
			}
			if do := s.handler(signal); do != nil {
				do()
			} else {
				s.otherwise(signal)
			}
		case <-ctx.Done():
			return
		}
	}
}

func (s *signals) handler(signal syscall.Signal) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.handlers[signal]
}

// handle sets what is done on a signal. If do is nil, that is the default.
func (s *signals) handle(signal syscall.Signal, do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.handlers == nil {
		s.handlers = map[syscall.Signal]func(){}
	}
	s.handlers[signal] = do
}
