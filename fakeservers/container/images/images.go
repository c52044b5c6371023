// Package images makes the images that containers of skewrig's nodes run: for a real container
// runtime, without a builder and without a registry.
package images

import (
	"encoding/json"
	"errors"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/harness/layer"
	"github.com/skewrig/skewrig/harness/release"
)

// environment is that of every image.
var environment = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}

// Set is what to make.
type Set struct {
	// Program is the path of the program that plays images (package build makes it).
	Program string
	// Library says what plays which image.
	container.Library
	// HealthProbes are the paths of the released grpc_health_probe that the library has.
	HealthProbes map[release.Version]string
	// Images are those to make, sandboxes' own among them.
	Images []Image
}

// Image is one image.
type Image struct {
	// Reference is as pods have it.
	Reference string
	// Commands are what pods run of it besides its own entrypoint, each by the first word of
	// its command line. The image has the names that skewrig knows, and these.
	Commands []string
}

// Write writes an archive in the format of the OCI image layout, for "ctr images import". The
// error has every image that can't be played.
func (s Set) Write(to string) error {
	if err := s.checkProbes(); err != nil {
		return err
	}
	program, err := s.programs().Plain()
	if err != nil {
		return err
	}
	catalog, err := s.Catalog()
	if err != nil {
		return err
	}
	var made []layer.Named
	var failed []error
	for _, i := range s.Images {
		played, err := catalog.Find(i.Reference)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		image, err := s.image(i, played, program)
		if err != nil {
			return fmt.Errorf("making image %s: %w", i.Reference, err)
		}
		made = append(made, layer.Named{Name: played.Reference, Image: image})
	}
	if len(failed) > 0 {
		return errors.Join(failed...)
	}
	return layer.WriteArchive(to, made)
}

// checkProbes is an error if a program is missing that images are to have.
func (s Set) checkProbes() error {
	for _, v := range s.Library.HealthProbes() {
		if s.HealthProbes[v] == "" {
			return fmt.Errorf("there is no grpc_health_probe %s to put into images", v)
		}
	}
	return nil
}

// programs is the layer that all images share.
func (s Set) programs() layer.Layer {
	shared := append(directories(),
		layer.File(container.Program, s.Program, 0o755),
		layer.Text("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"),
		layer.Text("/etc/group", "root:x:0:\nnobody:x:65534:\n"),
	)
	for _, v := range s.Library.HealthProbes() {
		shared = append(shared, layer.File(container.HealthProbePath(v), s.HealthProbes[v], 0o755))
	}
	return shared
}

// image puts one image together.
func (s Set) image(i Image, played *image.Image, program v1.Layer) (v1.Image, error) {
	file, err := json.Marshal(container.File{Reference: i.Reference, Library: s.Library})
	if err != nil {
		return nil, err
	}
	own, err := append(layer.Layer{layer.Text(container.FilePath, string(file))}, links(played, i.Commands)...).Plain()
	if err != nil {
		return nil, err
	}
	config := v1.Config{Entrypoint: played.Entrypoint, Cmd: played.Cmd, WorkingDir: "/", Env: environment}
	return layer.Image(config, program, own)
}
