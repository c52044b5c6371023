// Package container plays an image as the processes of a real container: the players are
// those of the fake container runtime, and what they are given is the container's own
// arguments, environment, address, files and signals.
//
// The image has one program, under the names of all that can be run in it, and a file that
// says what it plays. What the players record goes to a socket of the node, if there is one.
// On nodes of an existing cluster, one image simulates all others: the environment says which, and
// the record goes into the output of the container.
package container

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/skewrig/skewrig/fakeservers/agnhost"
	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/fakeservers/shell"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

// Where things are in a container.
const (
	// Dir is the directory of all that images for skewrig have and others don't.
	Dir = "/.skewrig"
	// Program is the program that plays the image.
	Program = Dir + "/container"
	// FilePath is the file that says what the image plays, a File as JSON.
	FilePath = Dir + "/image.json"
	// RecordDir is where the node mounts the directory of a collect.Collector.
	RecordDir = Dir + "/record"
	// SocketName is the name of the socket in it.
	SocketName = "socket"
)

// Library says as data what images are played by.
type Library struct {
	// Images are mapped as in a scenario. Earlier ones come first, and before those that
	// skewrig knows.
	Images []record.Image `json:"images,omitempty"`
	// Default is where an image that is not mapped and not known listens. If unset,
	// such an image can't be played.
	Default []behavior.Listener `json:"default,omitempty"`
}

// Catalog returns what plays the images in a container.
func (l Library) Catalog() (*image.Catalog, error) {
	probes := make(map[release.Version]shell.HealthProbe)
	for _, v := range l.HealthProbes() {
		probes[v] = shell.HealthProbe{Path: HealthProbePath(v), Program: "grpc-health-probe@" + string(v)}
	}
	catalog, err := agnhost.NewCatalog(l.Images, probes)
	if err == nil && l.Default != nil {
		catalog.SetDefault(agnhost.Any(l.Default...))
	}
	return catalog, err
}

// HealthProbes are the releases of grpc_health_probe that images have.
func (l Library) HealthProbes() (releases []release.Version) {
	for _, i := range l.Images {
		if i.HealthProbe != "" && !slices.Contains(releases, i.HealthProbe) {
			releases = append(releases, i.HealthProbe)
		}
	}
	return releases
}

// HealthProbePath is where an image has a release of grpc_health_probe.
func HealthProbePath(v release.Version) string {
	return Dir + "/grpc-health-probe-" + string(v)
}

// File says what an image plays.
type File struct {
	// Reference is the image, as a pod's spec has it.
	Reference string `json:"reference"`
	// Library is where it is looked up.
	Library
}

// Find returns what plays the image.
func (f File) Find() (*image.Image, error) {
	catalog, err := f.Catalog()
	if err != nil {
		return nil, err
	}
	return catalog.Find(f.Reference)
}

// Records reports whether the processes of an image have the node record what they see. Those of an image
// without commands don't: they may be of a sandbox, which the node knows nothing of until it runs.
func Records(played *image.Image) bool { return played.Exec != nil }

// readFile reads the file of an image.
func readFile(path string) (f File, _ error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return f, fmt.Errorf("reading %s: %w", filepath.Base(path), err)
	}
	return f, nil
}
