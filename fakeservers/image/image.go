// Package image says what stands in for what an image's entrypoint would run. It
// holds the contract between the programs that play images and what starts and
// stops them: the fake container runtime, inside skewrig, or a process of a real
// container (package container).
package image

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/skewrig/skewrig/record"
)

// ErrUnknown is returned by a Library for an image that it can't play. The
// runtime turns it into the error of the image pull, which a user reads in the
// pod's events.
var ErrUnknown = errors.New("no program implements this image")

// Library resolves image references, as a registry would.
type Library interface {
	// Find returns the image for a reference as written in a pod's spec, with
	// or without registry, tag or digest. An image that can't be played is an
	// error that wraps ErrUnknown and says what can be.
	Find(ref string) (*Image, error)
}

// Image is what a reference resolves to.
type Image struct {
	// Reference is the reference that was asked for, with the registry and the
	// tag spelled out.
	Reference string
	// Digest identifies the content: "sha256:" and 64 hex digits.
	Digest string
	// SizeBytes is the size that the image service reports.
	SizeBytes uint64
	// Entrypoint and Cmd are the image's own, used as the OCI image
	// specification says: a container's command replaces both, its args
	// replace Cmd.
	Entrypoint, Cmd []string
	// Links are other paths at which the entrypoint's program is. If unset, there are none.
	Links []string
	// Run plays the container's main process.
	Run Program
	// Exec plays a command that is run beside the main process: an exec probe,
	// a lifecycle hook, or kubectl exec. If unset, every command is reported as
	// not found (exit code 127).
	Exec Command
}

// Program plays the main process of a container and returns its exit code. It
// must return soon after ctx is done (the process was killed), and on a signal
// as the program that it plays would.
type Program func(ctx context.Context, p *Process) int

// Command plays a command run in the container of p: its arguments, its streams,
// its exit code. It must return soon after ctx is done.
type Command func(ctx context.Context, p *Process, args []string, streams Streams) int

// Streams are what a process reads from and writes to, and how it is interrupted.
type Streams struct {
	// Stdin ends when the process is killed. If unset, there is nothing in it.
	Stdin io.Reader
	// Stdout and Stderr, for a main process, go to the container's log.
	Stdout, Stderr io.Writer
	// Terminal says that a person sits at the other end: a shell prompts.
	Terminal bool
	// Signals delivers what is sent to the process, other than the kill that
	// ends the context: SIGTERM when the container is asked to stop, SIGINT from
	// the keyboard of a terminal. If unset, none comes.
	Signals <-chan syscall.Signal
}

// Process is what a program is given: its arguments, its container's address
// and files, and where it reports to.
type Process struct {
	// Args is the whole command line, the program's own name first.
	Args []string
	// Env holds the environment, as "NAME=value".
	Env []string
	// Dir is the working directory, from which relative paths lead. If unset, "/".
	Dir string
	// UID is the number of the user that it runs as. If unset, that is root.
	UID int64
	// Container is the path of the container, "namespace/pod/container". It is
	// the subject under which the program records what it sees.
	Container string
	// IP is the pod's own address. A server listens there, on the port that its
	// arguments or defaults name.
	IP netip.Addr
	// OwnNetwork says that no one else has the addresses of the process, so that servers
	// listen on all of them, as those of real images do. If unset, the pod has one
	// loopback address among those of other pods.
	OwnNetwork bool
	// Network has the addresses that the process can reach. If unset, it reaches what this
	// machine can.
	Network netip.Prefix
	// Started is when the process began. Behaviour over time counts from here.
	Started time.Time
	// Streams are those of the main process.
	Streams
	// Mounts are the volumes that the container sees.
	Mounts []Mount
	// VolumeSpace is the room on the volumes of the node. If unset, it has no end.
	VolumeSpace *Space
	// Files are the container's files that are on no volume. The main process
	// and the commands that run beside it share them. The zero value will do.
	Files Files
	// Recorder takes what the program sees.
	Recorder record.Recorder
	// Kill sends a signal to a process of the container, by its number there, as kill(2)
	// does, and returns its errors: number 1 is the main process. If unset, there is no
	// such process.
	Kill func(pid int, signal syscall.Signal) error
	// Up is called when the program has come up: the ports that it listens on
	// are open. It may be called again. It may be unset.
	Up func()
}

// ComingUp is how long the start of a container waits for its program to come up, as await.Over has it. A
// real program takes a moment too, but one that depends on how busy the machine is with
// everything else: a probe that comes before it says nothing of what is tested.
const ComingUp = time.Second

// SayUp calls Up, if it is set.
func (p *Process) SayUp() {
	if p.Up != nil {
		p.Up()
	}
}

// Hostname returns the pod's host name: its own name, unless the environment
// knows better.
func (p *Process) Hostname() string {
	if name, found := p.Getenv("HOSTNAME"); found {
		return name
	}
	parts := strings.Split(p.Container, "/")
	if len(parts) < 2 {
		return p.Container
	}
	return parts[1]
}

// Getenv returns a variable of the environment: of several with one name, the
// last.
func (p *Process) Getenv(name string) (value string, found bool) {
	for _, entry := range slices.Backward(p.Env) {
		if value, found := strings.CutPrefix(entry, name+"="); found {
			return value, true
		}
	}
	return "", false
}
