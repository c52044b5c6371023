package container

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/harness/await"
	"github.com/skewrig/skewrig/record"
)

// The exit codes of a process that its image can't play, as a shell has them.
const (
	exitBroken   = 126
	exitNotFound = 127
)

// Main plays this process of a container, and returns its exit code.
func Main() int {
	dir, err := os.Getwd()
	if err != nil {
		dir = "/" // it was removed, or can't be read
	}
	return place{
		root: "/", dir: dir, file: FilePath, socket: path.Join(RecordDir, SocketName), args: os.Args, plays: os.Getenv(Variable),
		ip: address(), ownNetwork: true, first: isFirst(os.DirFS("/proc"), os.Getpid()),
	}.run()
}

// place is where a process is played.
type place struct {
	// root is what the process takes for the root directory, and dir its working directory.
	root, dir string
	// file is that of the image, and socket where events go.
	file, socket string
	// plays is the value of Variable, instead of both. It may be empty.
	plays string
	args  []string
	// ip is the pod's address, and ownNetwork says that all others are the pod's, too.
	ip         netip.Addr
	ownNetwork bool
	// first says that it is the main process, and not one that was started beside it.
	first bool
}

func (l place) run() int {
	if l.plays != "" {
		return l.runPlays()
	}
	file, err := readFile(l.file)
	if err != nil {
		return broken(err)
	}
	played, err := file.Find()
	if err != nil {
		return broken(err)
	}
	p, err := l.process(signals(func(syscall.Signal) {}))
	if err == nil && Records(played) {
		err = l.record(p)
	}
	if err != nil {
		return broken(err)
	}
	return l.play(played, p)
}

// comesUp has a process say that its program has come up, at the latest after image.ComingUp: a shell never says it.
func comesUp(p *image.Process) {
	go func() {
		<-await.Over(context.Background(), image.ComingUp)
		p.Up()
	}()
}

// record has the node record what the process sees. Where there is no socket, nothing does.
func (l place) record(p *image.Process) error {
	to, name, err := dial(l.socket)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil: // without a record, what did not happen would look like what was not seen
		return fmt.Errorf("recording what happens: %w", err)
	}
	p.Recorder, p.Container = to, name
	if l.first {
		p.Up = sync.OnceFunc(to.up)
		comesUp(p)
	}
	return nil
}

// runPlays is run where the environment says what is played, and the output has the record.
func (l place) runPlays() int {
	plays, err := ParsePlays(l.plays)
	if err != nil {
		return broken(err)
	}
	played, err := plays.Find()
	if err != nil {
		return broken(err)
	}
	if l.first {
		l.args = toRun(l.args)
		return l.runFirst(plays, played)
	}
	to, err := dialMain(plays.socket())
	if err != nil {
		return broken(fmt.Errorf("recording a command: %w", err))
	}
	if slices.Equal(l.args, Hold) {
		to.tell(Message{Up: true}, true)
		return 0
	}
	l.args = toRun(l.args)
	p, err := l.process(signals(func(syscall.Signal) {}))
	if err != nil {
		return broken(err)
	}
	stdout, stderr := &beginning{Writer: p.Stdout}, &beginning{Writer: p.Stderr}
	p.Recorder, p.Stdout, p.Stderr = to, stdout, stderr
	return to.command(l.args, stdout, stderr, func() int { return l.play(played, p) })
}

// toRun is what is to be run of a command line that has the program run it.
func toRun(args []string) []string {
	if len(args) > 1 && args[0] == Program {
		return args[1:]
	}
	return args
}

// runFirst is runPlays of the main process.
func (l place) runFirst(plays Plays, played *image.Image) int {
	o := &output{mark: plays.Mark, to: os.Stdout, up: make(chan struct{})}
	listener, err := net.Listen("unix", plays.socket()) //nolint:noctx // it takes no time
	if err != nil {
		return broken(fmt.Errorf("listening for what commands record: %w", err))
	}
	o.begin(rand.Text())
	go o.serve(listener, plays.Container)
	p, err := l.process(signals(func(s syscall.Signal) { o.tell(0, Message{Signal: unix.SignalName(s)}) }))
	if err != nil {
		return broken(err)
	}
	p.Recorder, p.Up = o, sync.OnceFunc(func() { close(o.up) })
	comesUp(p)
	code := l.play(played, p)
	o.tell(0, Message{Ended: true})
	return code
}

// play plays the process.
func (l place) play(played *image.Image, p *image.Process) int {
	switch {
	case l.first:
		return played.Run(context.Background(), p)
	case played.Exec == nil:
		fmt.Fprintf(p.Stderr, "%s: not found\n", l.args[0])
		return exitNotFound
	default:
		return played.Exec(context.Background(), p, p.Args, p.Streams)
	}
}

func broken(err error) int {
	fmt.Fprintln(os.Stderr, "skewrig:", err)
	return exitBroken
}

// process is this process, as players know one.
func (l place) process(sent <-chan syscall.Signal) (*image.Process, error) {
	stdin, err := input()
	if err != nil {
		return nil, err
	}
	return &image.Process{
		Args: l.args, Env: environment(os.Environ(), os.Hostname), Dir: l.dir,
		UID: int64(os.Getuid()), IP: l.ip, OwnNetwork: l.ownNetwork, Started: time.Now(),
		Streams: image.Streams{
			Stdin: stdin, Stdout: os.Stdout, Stderr: os.Stderr,
			Terminal: term.IsTerminal(int(os.Stdin.Fd())), Signals: sent,
		},
		Mounts:   []image.Mount{{ContainerPath: "/", HostPath: l.root}},
		Kill:     syscall.Kill,
		Recorder: (*record.History)(nil),
	}, nil
}

// environment has HOSTNAME, which a runtime for pods sets and others don't, and nothing of skewrig's.
func environment(env []string, hostname func() (string, error)) []string {
	env = slices.DeleteFunc(env, func(variable string) bool { return strings.HasPrefix(variable, Variable+"=") })
	isHostname := func(variable string) bool { return strings.HasPrefix(variable, "HOSTNAME=") }
	name, err := hostname()
	if err != nil || slices.ContainsFunc(env, isHostname) {
		return env
	}
	return append(env, "HOSTNAME="+name)
}
