// Command image puts an OCI image together that has skewrig and the components of the
// default pair, for those who have no Linux machine, or no Go. It needs no Docker. It is
// run in the root of the repository, by make image.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/catalog"
)

func main() {
	var o options
	flag.StringVar(&o.tarball, "tarball", "", "write the image to this file, for docker load and podman load")
	flag.StringVar(&o.layout, "layout", "", "write the image to this directory, as an OCI layout")
	flag.StringVar(&o.tag, "tag", "skewrig:latest", "the tag that the image has in the tarball")
	flag.CommandLine.Init("image", flag.ContinueOnError)
	switch err := flag.CommandLine.Parse(os.Args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		os.Exit(3)
	}
	if flag.NArg() > 0 || o.tarball == "" && o.layout == "" {
		fmt.Fprintln(os.Stderr, "usage: image [--tarball FILE] [--layout DIR] [--tag NAME:TAG]")
		os.Exit(3)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := o.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

type options struct{ tarball, layout, tag string }

func (o options) run(ctx context.Context) (err error) {
	temp, err := os.MkdirTemp("", "skewrig-image-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	c := contents{Skewrig: filepath.Join(temp, "skewrig"), Cache: filepath.Join(temp, "cache"), Arch: runtime.GOARCH}
	if err := compile(ctx, c.Skewrig); err != nil {
		return err
	}
	cells, err := catalog.Cells()
	if err != nil {
		return err
	}
	if err := new(build.Builder).Export(ctx, app.Targets(catalog.OnPair(cells, release.Releases{})), c.Cache); err != nil {
		return err
	}
	image, err := assemble(c)
	if err != nil {
		return err
	}
	return o.write(os.Stdout, image)
}

// compile builds skewrig, which needs no library of the system then.
func compile(ctx context.Context, to string) error {
	_, err := process.Command{
		Path: "go", Args: []string{"build", "-buildvcs=auto", "-trimpath", "-ldflags=-s -w", "-o", to, "./cmd/skewrig"}, // reports name the commit
		Env: append(process.UserEnv(), "CGO_ENABLED=0"), Stdout: os.Stderr, Stderr: os.Stderr,
	}.Run(ctx)
	return err
}
