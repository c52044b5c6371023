package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sys/unix"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/skewrig/skewrig/fakeservers/image"
)

// errInterrupted is Ctrl-C: what is typed is dropped, and what runs ends.
var errInterrupted = errors.New("interrupted")

// interactive is a shell that reads commands and runs one line at a time.
type interactive struct {
	*session
	runner *interp.Runner
	typed  *byteReader

	mu        sync.Mutex
	interrupt context.CancelFunc // ends the line that is typed, or runs
}

// interact runs the commands on the standard input, with set's options in flags. At a
// terminal it prompts, goes on after what can't be played, and Ctrl-C drops the command
// that is typed or runs.
func interact(ctx context.Context, s *session, flags []string) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.limit(cancel)
	runner, end, err := newRunner(s, append(flags, "--"))
	if err != nil {
		return s.refuse(err)
	}
	defer end()
	i := &interactive{session: s, runner: runner, typed: new(byteReader), interrupt: func() {}}
	if s.signals != nil {
		s.traps = newTraps(s.signals)
		if s.terminal {
			s.signals.handle(unix.SIGINT, i.interrupted)
		}
	}
	for {
		code, err := i.read(ctx)
		switch {
		case err == nil:
			return code
		case errors.Is(err, errInterrupted):
			_ = i.runner.Run(ctx, parsed("(exit 130)")[0]) // as SIGINT ends a command
		case s.terminal:
			i.refuse(err)
			i.typed.skipLine()
		default:
			return i.refuse(err)
		}
	}
}

// read runs what is typed until its end, or until it is interrupted or can't be
// understood.
func (i *interactive) read(ctx context.Context) (code int, _ error) {
	parser := syntax.NewParser()
	line := i.begin(ctx)
	for statements, err := range parser.InteractiveSeq(i.typed) {
		if err == nil && parser.Incomplete() {
			i.say("> ")
			continue
		}
		if err != nil && line.Err() != nil {
			break // it was interrupted, and what is typed has no end
		}
		for _, statement := range statements {
			if err == nil {
				err = check(statement)
			}
			if err != nil {
				return 0, err
			}
			withRoom(statement)
			if code, ended := i.execute(ctx, line, statement); ended {
				return code, nil
			}
			if line.Err() != nil {
				return 0, errInterrupted
			}
		}
		if err != nil {
			return 0, err
		}
		line = i.begin(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return ExitKilled, nil
	case line.Err() != nil:
		return 0, errInterrupted
	}
	i.say("\n")
	return i.status(ctx, i.runner.Run(ctx, parsed(`exit "$?"`)[0])), nil // with the trap on EXIT
}

// begin begins a line. What is typed and runs there ends with its context, if it is
// interrupted; otherwise that ends with the shell, as do jobs in the background.
func (i *interactive) begin(ctx context.Context) (line context.Context) {
	line, cancel := context.WithCancel(ctx)
	i.typed.from = i.input(line)
	i.mu.Lock()
	i.interrupt = cancel
	i.mu.Unlock()
	i.prompt()
	return line
}

// execute runs one statement of a line, and reports whether the shell ends with it.
func (i *interactive) execute(ctx, line context.Context, statement *syntax.Stmt) (code int, ended bool) {
	one := line
	if statement.Background {
		one = ctx
	}
	err := i.runner.Run(one, statement)
	if pipe, is := i.stdin.(*image.Pipe); is {
		pipe.Resume() // if the shell's own read saw an end
	}
	_, exited := errors.AsType[interp.ExitStatus](err)
	switch {
	case ctx.Err() != nil:
		return ExitKilled, true
	case line.Err() != nil:
		return 0, false
	case err == nil || exited:
		return i.status(ctx, err), i.runner.Exited()
	default: // it can't be played
		return i.status(ctx, err), !i.terminal
	}
}

// interrupted is what Ctrl-C does.
func (i *interactive) interrupted() {
	i.say("^C\n")
	i.mu.Lock()
	defer i.mu.Unlock()
	i.interrupt()
}

func (i *interactive) prompt() { i.say(i.runner.Dir + " # ") }

// say prints what only a terminal shows.
func (i *interactive) say(text string) {
	if i.terminal {
		fmt.Fprint(i.stdout, text)
	}
}

// byteReader reads no more than a shell needs: the rest is its commands' input.
type byteReader struct {
	from io.Reader
	last byte
}

// Read ends the last line, if no one else has.
func (r *byteReader) Read(b []byte) (int, error) {
	n, err := r.from.Read(b[:min(1, len(b))])
	if n == 0 && errors.Is(err, io.EOF) && r.last != 0 && r.last != '\n' {
		n, b[0] = 1, '\n'
	}
	if n > 0 {
		r.last = b[0]
	}
	return n, err
}

// skipLine reads to the end of a line that has begun.
func (r *byteReader) skipLine() {
	for err := error(nil); err == nil && r.last != '\n'; {
		_, err = r.Read(make([]byte, 1))
	}
}
