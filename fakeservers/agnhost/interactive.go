package agnhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sys/unix"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// interactive is a shell that reads commands and runs one line at a time.
type interactive struct {
	*session
	runner *interp.Runner
	typed  *byteReader

	mu        sync.Mutex
	interrupt context.CancelFunc // nil: nothing runs
}

// interact runs the commands on the standard input, with set's options in flags. At a
// terminal it prompts, goes on after what can't be played, and Ctrl-C ends the command
// that runs.
func interact(ctx context.Context, s *session, flags []string) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	runner, end, err := newRunner(s, append(flags, "--"))
	if err != nil {
		return s.refuse(err)
	}
	defer end()
	i := &interactive{session: s, runner: runner, typed: &byteReader{from: s.input()}}
	if s.signals != nil {
		s.traps = newTraps(s.signals)
		if s.terminal {
			s.signals.handle(unix.SIGINT, i.interrupted)
		}
	}
	for {
		code, err := i.read(ctx)
		if err == nil {
			return code
		}
		if code = i.refuse(err); !s.terminal {
			return code
		}
		i.typed.skipLine()
	}
}

// read runs what is typed until its end, or until it can't be understood.
func (i *interactive) read(ctx context.Context) (code int, _ error) {
	parser := syntax.NewParser()
	i.prompt()
	for statements, err := range parser.InteractiveSeq(i.typed) {
		if err == nil && parser.Incomplete() {
			i.say("> ")
			continue
		}
		for _, statement := range statements {
			if err == nil {
				err = check(statement)
			}
			if err != nil {
				return 0, err
			}
			var ended bool
			if code, ended = i.execute(ctx, statement); ended {
				return code, nil
			}
		}
		if err != nil {
			return 0, err
		}
		i.prompt()
	}
	i.say("\n")
	return code, nil
}

// execute runs one statement, and reports whether the shell ends with it.
func (i *interactive) execute(ctx context.Context, statement *syntax.Stmt) (code int, ended bool) {
	one, cancel := context.WithCancel(ctx)
	defer cancel()
	i.mu.Lock()
	i.interrupt = cancel
	i.mu.Unlock()
	err := i.runner.Run(one, statement)
	i.mu.Lock()
	i.interrupt = nil
	i.mu.Unlock()
	_, exited := errors.AsType[interp.ExitStatus](err)
	switch {
	case ctx.Err() != nil:
		return exitKilled, true
	case one.Err() != nil:
		return i.status(ctx, i.runner.Run(ctx, parsed("(exit 130)")[0])), false // as SIGINT ends it
	case err == nil || exited:
		return i.status(ctx, err), i.runner.Exited()
	default: // it can't be played
		return i.status(ctx, err), !i.terminal
	}
}

// interrupted ends what runs, as Ctrl-C does.
func (i *interactive) interrupted() {
	i.say("^C\n")
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.interrupt != nil {
		i.interrupt()
		return
	}
	i.prompt()
}

func (i *interactive) prompt() { i.say(i.runner.Dir + " # ") }

// say prints what nobody reads who doesn't sit at a terminal.
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

// Read ends the last line, if nobody has.
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
