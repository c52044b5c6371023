package agnhost

import (
	"context"
	"io"
	"log"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/fakeservers/server"
	"github.com/skewrig/skewrig/fakeservers/shell"
)

// The exit codes that have a meaning of their own.
const (
	// exitError is that of log.Fatal, and of cobra for a wrong command line.
	exitError = 1
	// exitSignal is how the Go runtime ends as process 1 of a container on a
	// signal that the program doesn't handle: it raises the signal against
	// itself, which the kernel ignores for process 1, and then gives up with 2
	// (runtime/signal_unix.go, dieFromSignal).
	exitSignal = 2
	// exitKlog is that of klog.Fatal.
	exitKlog = 255
)

const (
	sigint  = syscall.SIGINT
	sigterm = syscall.SIGTERM
)

// process is a running program: what it was given, and what it has opened.
type process struct {
	*image.Process
	// Stdout and Stderr may be written to by several goroutines.
	Stdout, Stderr io.Writer
	log            *log.Logger

	opened  []io.Closer
	running sync.WaitGroup
}

func newProcess(p *image.Process) *process {
	var mu sync.Mutex
	stderr := shell.Locked(&mu, p.Stderr)
	return &process{
		Process: p,
		Stdout:  shell.Locked(&mu, p.Stdout),
		Stderr:  stderr,
		log:     log.New(stderr, "", log.LstdFlags),
	}
}

// close closes what the program has opened, as the end of a process does, and
// waits for what it has running.
func (p *process) close() {
	for _, opened := range slices.Backward(p.opened) {
		if err := opened.Close(); err != nil {
			p.log.Printf("closing: %v", err)
		}
	}
	p.running.Wait()
}

// serve starts a server on the pod's address.
func (p *process) serve(config server.Config) error {
	config.IP, config.OwnNetwork, config.Container = p.IP, p.OwnNetwork, p.Container
	config.Started, config.Recorder = p.Started, p.Recorder
	config.Log = p.Stderr
	s, err := server.Start(config)
	if err != nil {
		return err
	}
	p.opened = append(p.opened, s)
	return nil
}

// fatal ends a program as log.Fatal does.
func (p *process) fatal(err error) int {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		p.log.Print(line)
	}
	return exitError
}

// waitSignal waits, with all that the program has to do first done, for one of
// the given signals, and reports false if the process was killed before. Process
// 1 ignores all others.
func (p *process) waitSignal(ctx context.Context, handled ...syscall.Signal) (syscall.Signal, bool) {
	p.SayUp()
	signals := p.Signals
	for {
		select {
		case <-ctx.Done():
			return 0, false
		case sig, open := <-signals:
			if !open {
				signals = nil
			}
			if slices.Contains(handled, sig) {
				return sig, true
			}
		}
	}
}

// wait does what a Go program does that handles no signal: it runs until one
// ends it.
func (p *process) wait(ctx context.Context) int {
	if _, ok := p.waitSignal(ctx, sigterm, sigint, syscall.SIGHUP, syscall.SIGQUIT); !ok {
		return shell.ExitKilled
	}
	return exitSignal
}

// untilSignal runs a program that handles no signal and ends by itself, unless
// a signal ends it.
func (p *process) untilSignal(ctx context.Context, run func(context.Context) int) int {
	p.SayUp()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan int, 1)
	p.running.Go(func() {
		ended <- run(ctx)
		cancel()
	})
	code := p.wait(ctx)
	cancel()
	if own := <-ended; code == shell.ExitKilled {
		return own
	}
	return code
}

// uptime says how long the process has been running, as the programs print it.
func (p *process) uptime() time.Duration { return time.Since(p.Started) }
