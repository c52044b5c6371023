// Package agnhost plays the public images that tests of Kubernetes use: the
// agnhost test image with its subcommands, pause, busybox (package shell), and an image of
// skewrig's own that serves any behavior. Each program has the flags, defaults,
// endpoints and exit codes of the original, whose source is test/images/agnhost
// in the Kubernetes repository, v1.37.1, and runs inside this process on the
// pod's loopback address.
package agnhost

import (
	"context"
	"fmt"
	"path"
	"syscall"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/fakeservers/shell"
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

// Entries returns what an image catalog needs to play the images.
func Entries() []image.Entry {
	agnhost := image.Image{SizeBytes: sizeAgnhost, Entrypoint: []string{"/agnhost"}, Links: []string{"/agnhost-2"}, Cmd: []string{"pause"}, Run: playAgnhost, Exec: shell.Exec}
	// There is nothing in the pause image to run beside it.
	pause := image.Image{SizeBytes: sizePause, Entrypoint: []string{"/pause"}, Run: playPause}
	busybox := image.Image{SizeBytes: sizeBusybox, Cmd: []string{"sh"}, Run: shell.Main, Exec: shell.Exec}
	// What nginx serves is not played: that it answers is.
	nginx := Any(behavior.Listener{Port: 80, Protocol: behavior.HTTP1})
	own := image.Image{SizeBytes: sizeServer, Entrypoint: []string{"/server"}, Run: playServer, Exec: shell.Exec}
	return []image.Entry{
		{Pattern: "registry.k8s.io/e2e-test-images/agnhost", Image: agnhost},
		{Pattern: "registry.k8s.io/e2e-test-images/busybox", Image: busybox},
		{Pattern: "registry.k8s.io/e2e-test-images/glibc-dns-testing", Image: busybox},
		{Pattern: "registry.k8s.io/e2e-test-images/nginx", Image: nginx},
		{Pattern: "registry.k8s.io/pause", Image: pause},
		{Pattern: "busybox", Image: busybox},
		{Pattern: ServerImage, Image: own},
	}
}

// playAgnhost plays what runs in the agnhost image: its own program under its two
// names, or one of the commands of the Alpine system in it.
func playAgnhost(ctx context.Context, p *image.Process) int {
	if len(p.Args) > 0 {
		if name := path.Base(p.Args[0]); name == "agnhost" || name == "agnhost-2" {
			process := newProcess(p)
			defer process.close()
			return execute(ctx, process)
		}
	}
	return shell.Main(ctx, p)
}

// playPause plays registry.k8s.io/pause, whose source is build/pause/linux/pause.c.
func playPause(ctx context.Context, p *image.Process) int {
	if len(p.Args) == 0 || path.Base(p.Args[0]) != "pause" {
		return shell.NotImplemented(p.Stderr, p.Args, []string{"pause"})
	}
	process := newProcess(p)
	defer process.close()
	sig, ok := process.waitSignal(ctx, sigint, sigterm)
	if !ok {
		return shell.ExitKilled
	}
	names := map[syscall.Signal]string{sigint: "Interrupt", sigterm: "Terminated"} // as of strsignal
	fmt.Fprintf(process.Stderr, "Shutting down, got signal: %s\n", names[sig])
	return 0
}
