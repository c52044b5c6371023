package image

import (
	"sync"
	"syscall"
)

const (
	// maxBytes and maxFiles bound the files of a container that are on no volume: 256 MiB.
	maxBytes = 256 << 20
	maxFiles = 4096
)

// Space is room for the files of several containers. A nil Space has no end. It is safe for
// concurrent use.
type Space struct {
	// Bytes and Files are how much there is of both.
	Bytes, Files int64
	// Measure returns what is used, and is called when there seems to be no room. If unset, that
	// is what was taken.
	Measure func() (bytes, files int64)

	mu        sync.Mutex
	usedBytes int64
	usedFiles int64
}

// take uses room, or gives it back if both are negative.
func (s *Space) take(bytes, files int64) error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full(bytes, files) && s.Measure != nil {
		s.usedBytes, s.usedFiles = s.Measure()
	}
	if s.full(bytes, files) {
		return syscall.ENOSPC
	}
	s.usedBytes += bytes
	s.usedFiles += files
	return nil
}

func (s *Space) full(bytes, files int64) bool {
	return bytes > 0 && s.usedBytes+bytes > s.Bytes || files > 0 && s.usedFiles+files > s.Files
}
