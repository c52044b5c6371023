// Package agnhost plays the public images that tests of Kubernetes use: the
// agnhost test image with its subcommands, pause, busybox, and an image of
// skewrig's own that serves any behavior. Each program has the flags, defaults,
// endpoints and exit codes of the original, whose source is test/images/agnhost
// in the Kubernetes repository, v1.37.1, and runs inside this process on the
// pod's loopback address.
package agnhost

import (
	"context"
	"fmt"
	"io"
	"path"

	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/fakeservers/server"
)

// Sizes that the image service reports, about those of the originals in bytes.
const (
	sizeAgnhost = 53 << 20
	sizePause   = 310 << 10
	sizeBusybox = 2 << 20
	sizeServer  = 1 << 20
)

// ServerImage is the name of the image that serves what its --listen arguments
// say.
const ServerImage = "skewrig.dev/server"

// Entries returns what an image catalog needs to play the images. The servers
// that they run can be found in the directory, if there is one.
func Entries(directory *server.Directory) []image.Entry {
	player := player{directory}
	fixed := func(pattern string, made image.Image) image.Entry {
		return image.Entry{Pattern: pattern, Make: func(image.Reference) (*image.Image, error) {
			made := made
			return &made, nil
		}}
	}
	agnhost := image.Image{SizeBytes: sizeAgnhost, Entrypoint: []string{"/agnhost"}, Cmd: []string{"pause"}, Run: player.agnhost, Exec: player.exec}
	// There is nothing in the pause image to run beside it.
	pause := image.Image{SizeBytes: sizePause, Entrypoint: []string{"/pause"}, Run: player.pause}
	busybox := image.Image{SizeBytes: sizeBusybox, Cmd: []string{"sh"}, Run: player.busybox, Exec: player.exec}
	own := image.Image{SizeBytes: sizeServer, Entrypoint: []string{"/server"}, Run: player.server, Exec: player.exec}
	return []image.Entry{
		fixed("registry.k8s.io/e2e-test-images/agnhost", agnhost),
		fixed("registry.k8s.io/e2e-test-images/busybox", busybox),
		fixed("registry.k8s.io/pause", pause),
		fixed("busybox", busybox),
		fixed(ServerImage, own),
	}
}

// player holds what all programs share.
type player struct{ directory *server.Directory }

// start sets a process up. Its close must be called.
func (pl player) start(p *image.Process) *process { return newProcess(p, pl.directory) }

// agnhost plays what runs in the agnhost image: its own program under its two
// names, or one of the commands of the Alpine system in it.
func (pl player) agnhost(ctx context.Context, p *image.Process) int {
	if len(p.Args) > 0 {
		if name := path.Base(p.Args[0]); name == "agnhost" || name == "agnhost-2" {
			process := pl.start(p)
			defer process.close()
			return execute(ctx, process)
		}
	}
	return pl.busybox(ctx, p)
}

// pause plays registry.k8s.io/pause, whose source is build/pause/linux/pause.c.
func (pl player) pause(ctx context.Context, p *image.Process) int {
	if len(p.Args) == 0 || path.Base(p.Args[0]) != "pause" {
		return notPlayed(p.Stderr, p.Args, []string{"pause"})
	}
	process := pl.start(p)
	defer process.close()
	sig, ok := process.waitSignal(ctx, sigint, sigterm)
	if !ok {
		return exitKilled
	}
	fmt.Fprintf(process.Stderr, "Shutting down, got signal: %s\n", describe(sig))
	return 0
}

// busybox plays a command of a Unix system as the main process of a container.
// Process 1 of a container ignores the signals that it has no handler for, so
// only the kill ends it early.
func (pl player) busybox(ctx context.Context, p *image.Process) int {
	return pl.exec(ctx, p, p.Args, p.Stdout, p.Stderr)
}

// exec plays a command beside the main process.
func (player) exec(ctx context.Context, p *image.Process, args []string, stdout, stderr io.Writer) int {
	return runCommand(ctx, newSession(p, stdout, stderr), args)
}
