package nodeimage

import (
	"context"
	"fmt"
	"path"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/layer"
	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/harness/release"
)

// controlPlaneImages writes an archive with the images that kubeadm wants, under the names that it
// has for them, each with one program.
func controlPlaneImages(ctx context.Context, v release.Version, binaries map[build.Component]string, to string) error {
	names, err := process.Command{Path: binaries[build.Kubeadm], Args: []string{"config", "images", "list", "--kubernetes-version", string(v)}}.Output(ctx)
	if err != nil {
		return fmt.Errorf("asking kubeadm which images it wants: %w", err)
	}
	var images []layer.Named
	for name := range strings.FieldsSeq(names) {
		component, _, _ := strings.Cut(path.Base(name), ":")
		program := binaries[build.Component(component)]
		if program == "" {
			continue // kube-proxy, CoreDNS and the sandbox
		}
		image, err := withProgram(component, program)
		if err != nil {
			return fmt.Errorf("making image %s: %w", name, err)
		}
		images = append(images, layer.Named{Name: name, Image: image})
	}
	if len(images) == 0 {
		return fmt.Errorf("kubeadm wants no image that is known: %s", names)
	}
	return layer.WriteArchive(to, images)
}

// withProgram is an image with one program. Its manifest names it.
func withProgram(name, path string) (v1.Image, error) {
	const dir = "/usr/local/bin"
	files := layer.Layer{layer.Dir("/tmp", 0o1777), layer.Dir("/usr", 0o755), layer.Dir("/usr/local", 0o755), layer.Dir(dir, 0o755), layer.File(dir+"/"+name, path, 0o755)}
	plain, err := files.Plain()
	if err != nil {
		return nil, err
	}
	return layer.Image(v1.Config{Env: []string{"PATH=" + dir}}, plain)
}
