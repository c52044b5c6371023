package shell

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/skewrig/skewrig/fakeservers/image"
)

const (
	// maxText bounds what a command reads as a whole, and what a shell keeps of another's output.
	maxText = image.MaxFile
	// maxLines bounds the lines of it.
	maxLines = 1 << 20
)

// boundedText keeps what is written to it, and refuses what is too much. It is safe for concurrent use.
type boundedText struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (b *boundedText) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all.Len()+len(p) > maxText {
		return 0, fmt.Errorf("more than %d bytes", maxText)
	}
	return b.all.Write(p)
}

// Bytes returns what was written.
func (b *boundedText) Bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Bytes()
}

// text is that of files, or of the standard input if there are none, and the exit code of
// who reads them.
func (s *session) text(ctx context.Context, files []string) (text []byte, code int) {
	inner := *s
	var all boundedText
	inner.stdout = &all
	code = cat(ctx, &inner, files)
	return all.Bytes(), code
}

// lines are those of files, or of the standard input if there are none, and the exit code of
// who reads them.
func (s *session) lines(ctx context.Context, files []string) (lines []string, code int) {
	text, code := s.text(ctx, files)
	for line := range strings.Lines(string(text)) {
		if len(lines) == maxLines {
			return nil, s.complain("cat", fmt.Errorf("more than %d lines", maxLines))
		}
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	return lines, code
}

// lockedWriter lets several goroutines write to the container's log.
type lockedWriter struct {
	mu  *sync.Mutex
	out io.Writer
}

// Locked returns a writer to another one that is used by one goroutine at a time.
func Locked(mu *sync.Mutex, out io.Writer) io.Writer { return &lockedWriter{mu, out} }

func (w *lockedWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(b)
}

// discard drops what is written from now on.
func (w *lockedWriter) discard() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out = io.Discard
}

// NotImplemented says that a command is not among those that are simulated, and lists these.
func NotImplemented(stderr io.Writer, args, known []string) int {
	command := ""
	if len(args) > 0 {
		command = args[0]
	}
	fmt.Fprintf(stderr, "%q: skewrig doesn't implement this command here; it implements %s\n", command, strings.Join(known, ", "))
	return exitNotFound
}
