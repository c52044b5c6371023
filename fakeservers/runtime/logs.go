package runtime

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// maxLogLine is the longest part of a line that is written as one entry, as
// containerd's default has it. A longer line is split.
const maxLogLine = 16 << 10

// maxLog bounds a log file until a kubelet rotates it, as a full disk would: its default is to do so at 10 MiB.
const maxLog = 64 << 20

// containerLog is the log file of a container, in the format that kubelets
// read (k8s.io/cri-client/pkg/logs): one entry a line, each
//
//	2006-01-02T15:04:05.999999999Z stdout F the text
//
// with P instead of F where the text goes on in the next entry of its stream.
type containerLog struct {
	path string
	kept *keptLog

	mu      sync.Mutex
	file    *os.File
	size    int // what was written to it
	streams []*logStream
	closed  bool
}

// openLog opens a log file to append to, and makes its directory if it is not
// there. If path is empty, there is none. What is logged is kept, too.
func openLog(path string, kept *keptLog) (*containerLog, error) {
	file, err := openLogFile(path)
	if err != nil {
		return nil, status.Errorf(codes.Internal, "opening the container's log: %v", err)
	}
	return &containerLog{path: path, kept: kept, file: file}, nil
}

func openLogFile(path string) (*os.File, error) {
	if path == "" {
		path = os.DevNull
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o640)
}

// reopen goes on in a new file at the same path, after the old one was moved
// away to rotate it. A log that is closed makes no new file.
func (l *containerLog) reopen() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return os.ErrClosed
	}
	file, err := openLogFile(l.path)
	if err != nil {
		return err
	}
	_ = l.file.Close() // it has every entry: none is buffered
	l.file, l.size = file, 0
	return nil
}

// close writes what is left of unfinished lines and closes the file. It
// reports no error: by then, only readers of the file are left.
func (l *containerLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.streams {
		if len(s.line) > 0 {
			_ = l.write(s.entry(nil, 'P'))
		}
	}
	_ = l.file.Close()
	l.kept.close()
	l.closed = true
}

// write appends entries. l.mu is held.
func (l *containerLog) write(entries []byte) error {
	if l.size+len(entries) > maxLog {
		return syscall.ENOSPC
	}
	l.kept.add(entries)
	n, err := l.file.Write(entries)
	l.size += n
	return err
}

// stream returns a writer whose lines become entries of the named stream.
func (l *containerLog) stream(name string) io.Writer {
	s := &logStream{log: l, name: name}
	l.streams = append(l.streams, s)
	return s
}

// logStream is the standard output or error of a program.
type logStream struct {
	log  *containerLog
	name string
	line []byte // what was written since the last entry
}

// Write writes the complete lines of p to the log. The rest of p follows when
// its line is complete, too long for one entry, or the container's last.
func (s *logStream) Write(p []byte) (int, error) {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	if s.log.closed {
		return 0, os.ErrClosed
	}
	var entries []byte
	for rest := p; len(rest) > 0; {
		text, after, complete := bytes.Cut(rest, []byte{'\n'})
		if room := maxLogLine - len(s.line); len(text) > room {
			s.line = append(s.line, rest[:room]...)
			entries = s.entry(entries, 'P')
			rest = rest[room:]
			continue
		}
		s.line = append(s.line, text...)
		if complete {
			entries = s.entry(entries, 'F')
		}
		rest = after
	}
	if len(entries) > 0 {
		if err := s.log.write(entries); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// entry appends the line as a log entry with the given tag, and starts the
// next.
func (s *logStream) entry(entries []byte, tag byte) []byte {
	entries = time.Now().UTC().AppendFormat(entries, time.RFC3339Nano)
	entries = append(entries, ' ')
	entries = append(entries, s.name...)
	entries = append(entries, ' ', tag, ' ')
	entries = append(entries, s.line...)
	s.line = s.line[:0]
	return append(entries, '\n')
}

// ReopenContainerLog opens the log of a running container anew. A kubelet calls
// it after it has rotated the log.
func (s runtimeService) ReopenContainerLog(_ context.Context, req *cri.ReopenContainerLogRequest) (*cri.ReopenContainerLogResponse, error) {
	c, err := s.running(req.GetContainerId())
	if err != nil {
		return nil, err
	}
	if err := c.process.log.reopen(); err != nil {
		return nil, status.Errorf(codes.Internal, "reopening the log of container %s: %v", c.path, err)
	}
	return &cri.ReopenContainerLogResponse{}, nil
}
