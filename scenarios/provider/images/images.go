// Package images says what the images of pods are played by: fake servers in this process, or programs in real containers.
package images

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/skewrig/skewrig/fakeservers/agnhost"
	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/fakeservers/shell"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/provider"
)

// Library returns what plays the images that a scenario maps, and those that skewrig knows.
// A scenario's own mapping comes first. The executables that images have are found by
// binary.
func Library(ctx context.Context, images []record.Image, binary provider.Binary) (*image.Catalog, error) {
	probes := make(map[release.Version]shell.HealthProbe)
	for _, i := range images {
		if i.HealthProbe == "" {
			continue
		}
		b, err := binary(ctx, build.Target{Component: build.HealthProbe, Version: i.HealthProbe})
		if err != nil {
			return nil, err
		}
		probes[i.HealthProbe] = shell.HealthProbe{Path: b.Path, Program: string(b.Component) + "@" + string(b.Version)}
	}
	return agnhost.NewCatalog(images, probes)
}

// Played says what the images of a cluster are played by, besides those that skewrig
// knows.
type Played struct {
	// Images are mapped as in a scenario. Earlier ones come first.
	Images []record.Image
	// Default is where an image that is not mapped and not known listens. If unset,
	// such an image can't be pulled.
	Default []behavior.Listener
	// Archives are files with images that nodes with real containers have, by their references. If
	// unset, there are none.
	Archives map[string]string
}

// ParseImage reads a mapping, IMAGE=PROTOCOL:PORT[,PROTOCOL:PORT...].
func ParseImage(text string) (record.Image, error) {
	name, listen, found := strings.Cut(text, "=")
	if !found || name == "" {
		return record.Image{}, fmt.Errorf("%q is not IMAGE=PROTOCOL:PORT, such as nginx=http1:8080", text)
	}
	listeners, err := ParseListeners(listen)
	if err == nil {
		_, err = image.NewCatalog(image.Entry{Pattern: name})
	}
	return record.Image{Image: name, Listen: listeners}, err
}

// ParseArchive reads the file of an image, IMAGE=FILE. The file must be there.
func ParseArchive(text string) (reference, file string, _ error) {
	name, file, found := strings.Cut(text, "=")
	if !found || name == "" {
		return "", "", fmt.Errorf("%q is not IMAGE=FILE, such as registry.example/web:1=web.tar", text)
	}
	parsed, err := image.Parse(name)
	if err != nil {
		return "", "", err
	}
	archive, err := files.Open(file)
	if err != nil {
		return "", "", err
	}
	return parsed.String(), file, archive.Close()
}

// ParseListeners reads PROTOCOL:PORT[,PROTOCOL:PORT...]. The error says everything that
// is wrong.
func ParseListeners(text string) (listeners []behavior.Listener, _ error) {
	var problems []error
	for part := range strings.SplitSeq(text, ",") {
		protocol, digits, _ := strings.Cut(part, ":")
		port, err := strconv.ParseInt(digits, 10, 32)
		if err != nil {
			problems = append(problems, fmt.Errorf("%q is not PROTOCOL:PORT, such as http1:8080", part))
			continue
		}
		listener := behavior.Listener{Port: int32(port), Protocol: behavior.Protocol(protocol)}
		for _, problem := range listener.Validate() {
			problems = append(problems, fmt.Errorf("%q: %w", part, problem))
		}
		if slices.ContainsFunc(listeners, func(other behavior.Listener) bool { return other.Port == listener.Port }) {
			problems = append(problems, fmt.Errorf("%q: port %d has a protocol already", part, listener.Port))
		}
		listeners = append(listeners, listener)
	}
	return listeners, errors.Join(problems...)
}

// Library is what plays the images of a cluster.
func (p Played) Library(ctx context.Context, builder *build.Builder) (image.Library, error) {
	catalog, err := Library(ctx, p.Images, builder.Binary)
	if err != nil || p.Default == nil {
		return hinting{catalog}, err
	}
	catalog.SetDefault(agnhost.Any(p.Default...))
	return catalog, nil
}

// hinting is a library that says in the events of a pod how its image can be played.
type hinting struct{ image.Library }

// Find implements image.Library.
func (h hinting) Find(ref string) (*image.Image, error) {
	found, err := h.Library.Find(ref)
	if errors.Is(err, image.ErrUnknown) {
		err = fmt.Errorf("%w; skewrig cluster up --default-image http1:8080 has a server in place of every other image", err)
	}
	return found, err
}

// KnownImages are patterns of the images that run without a mapping.
func KnownImages() (patterns []string) {
	for _, entry := range agnhost.Entries() {
		patterns = append(patterns, entry.Pattern)
	}
	return patterns
}

// KnownCommands are those that can be run in a container, sorted.
func KnownCommands() []string { return shell.Commands() }
