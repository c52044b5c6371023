package engine

import (
	"context"
	"fmt"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/fakeservers/server"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Library plays the images that a scenario maps, and those that skewrig knows.
// A scenario's own mapping comes first.
func Library(images []spec.Image) (image.Library, error) {
	var entries []image.Entry
	for _, i := range images {
		entries = append(entries, image.Entry{Pattern: i.Image, Make: func(image.Reference) (*image.Image, error) {
			return &image.Image{Entrypoint: []string{"/server"}, SizeBytes: 1 << 20, Run: play(i.Listen)}, nil
		}})
	}
	return image.NewCatalog(entries...)
}

func play(listeners []behavior.Listener) image.Program {
	return func(ctx context.Context, p *image.Process) int {
		var open []*server.Server
		defer func() {
			for _, s := range open {
				s.Close()
			}
		}()
		for _, l := range listeners {
			s, err := server.Start(server.Config{
				Listener: l, IP: p.IP, Container: p.Container, Started: p.Started, Recorder: p.Recorder,
			})
			if err != nil {
				fmt.Fprintln(p.Stderr, err)
				return 1
			}
			open = append(open, s)
		}
		select {
		case <-ctx.Done():
		case <-p.Signals:
		}
		return 2
	}
}

