package container

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/skewrig/skewrig/fakeservers/image"
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
		dir = "/" // it was removed, or nobody may look
	}
	return place{
		root: "/", dir: dir, file: FilePath, socket: path.Join(RecordDir, SocketName),
		ip: address(), ownNetwork: true, first: isFirst(os.DirFS("/proc"), os.Getpid()),
	}.run()
}

// place is where a process is played.
type place struct {
	// root is what the process takes for the root directory, and dir its working directory.
	root, dir string
	// file is that of the image, and socket where events go.
	file, socket string
	// ip is the pod's address, and ownNetwork says that all others are the pod's, too.
	ip         netip.Addr
	ownNetwork bool
	// first says that it is the main process, and not one that was started beside it.
	first bool
}

func (l place) run() int {
	file, err := readFile(l.file)
	if err != nil {
		return broken(err)
	}
	played, err := file.Find()
	if err != nil {
		return broken(err)
	}
	if played.Exec == nil {
		// It is a sandbox's, which the node knows nothing of until it runs.
		l.socket = ""
	}
	p, err := l.process()
	if err != nil {
		return broken(err)
	}
	switch {
	case l.first:
		return played.Run(context.Background(), p)
	case played.Exec == nil:
		fmt.Fprintf(os.Stderr, "%s: not found\n", os.Args[0])
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
func (l place) process() (*image.Process, error) {
	stdin, err := input()
	if err != nil {
		return nil, err
	}
	p := &image.Process{
		Args: os.Args, Env: environment(os.Environ(), os.Hostname), Dir: l.dir,
		UID: int64(os.Getuid()), IP: l.ip, OwnNetwork: l.ownNetwork, Started: time.Now(),
		Streams: image.Streams{
			Stdin: stdin, Stdout: os.Stdout, Stderr: os.Stderr,
			Terminal: term.IsTerminal(int(os.Stdin.Fd())), Signals: signals(),
		},
		Mounts:   []image.Mount{{ContainerPath: "/", HostPath: l.root}},
		Kill:     syscall.Kill,
		Recorder: (*record.History)(nil),
	}
	if to, name := dial(l.socket); to != nil {
		p.Recorder, p.Container = to, name
		if l.first {
			p.Up = sync.OnceFunc(to.up)
			time.AfterFunc(image.ComingUp, p.Up) // a shell never says it
		}
	}
	return p, nil
}

// environment has HOSTNAME, which a runtime for pods sets and others don't.
func environment(env []string, hostname func() (string, error)) []string {
	isHostname := func(variable string) bool { return strings.HasPrefix(variable, "HOSTNAME=") }
	name, err := hostname()
	if err != nil || slices.ContainsFunc(env, isHostname) {
		return env
	}
	return append(env, "HOSTNAME="+name)
}
