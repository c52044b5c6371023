package runtime

import (
	"context"
	"errors"
	"io"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"

	"github.com/skewrig/skewrig/fakeservers/image"
)

// errHangup ends a command whose terminal is gone.
var errHangup = errors.New("the terminal hung up")

// The keys that a terminal acts on itself, and what term.Terminal sees instead:
// for the keys themselves it would stop reading.
const (
	keyInterrupt, keyEnd = 0x03, 0x04 // Ctrl-C, Ctrl-D
	seenInterrupt        = 0x1d
	seenEnd              = 0x1c
)

// terminal edits the lines that a user of kubectl exec -it types before the process
// gets them, and has a history of them.
type terminal struct {
	*term.Terminal
	// typed are lines. An empty one is the end of what is typed for now.
	typed     chan string
	interrupt func(syscall.Signal)
}

// typeAhead is how many lines can be typed before a process reads one.
const typeAhead = 100

// newTerminal returns a terminal on which Ctrl-C sends SIGINT by interrupt.
func newTerminal(in io.Reader, out io.Writer, interrupt func(syscall.Signal)) *terminal {
	device := struct {
		io.Reader
		io.Writer
	}{keyboard{in}, out}
	t := &terminal{Terminal: term.NewTerminal(device, ""), typed: make(chan string, typeAhead), interrupt: interrupt}
	t.AutoCompleteCallback = t.press
	return t
}

// press acts on the keys that are not part of a line.
func (t *terminal) press(line string, _ int, key rune) (string, int, bool) {
	switch {
	case key == seenInterrupt:
		t.interrupt(unix.SIGINT)
		return "", 0, true
	case key == seenEnd && line == "":
		t.typed <- ""
	}
	return "", 0, false
}

// readLines hands on lines until the client goes away.
func (t *terminal) readLines(stdin *image.Pipe) {
	go t.write(stdin)
	defer close(t.typed)
	for {
		line, err := t.ReadLine()
		if err != nil {
			return
		}
		t.typed <- line + "\n"
	}
}

// write writes to stdin what is typed. When the process has ended, nothing is left of it.
func (t *terminal) write(stdin *image.Pipe) {
	for line := range t.typed {
		if line == "" {
			_ = stdin.End()
		} else {
			_, _ = io.WriteString(stdin, line)
		}
	}
}

// follow keeps the size of the terminal until there is no other.
func (t *terminal) follow(ctx context.Context, sizes <-chan remotecommand.TerminalSize) {
	for {
		select {
		case size, open := <-sizes:
			if !open {
				return
			}
			if size.Width > 0 { // or the client doesn't know it
				_ = t.SetSize(int(size.Width), int(size.Height)) // or the client is gone
			}
		case <-ctx.Done():
			return
		}
	}
}

// keyboard reads what is typed, with other codes for the keys that term.Terminal
// would stop at.
type keyboard struct{ io.Reader }

func (k keyboard) Read(b []byte) (int, error) {
	n, err := k.Reader.Read(b)
	for i, key := range b[:n] {
		switch key {
		case keyInterrupt:
			b[i] = seenInterrupt
		case keyEnd:
			b[i] = seenEnd
		}
	}
	return n, err
}
