package layer

import (
	"archive/tar"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nameAnnotation is where an image in an archive has the name under which containerd imports
// it (images/annotations.go of containerd v1.6).
const nameAnnotation = "io.containerd.image.name"

// Image puts an image together for machines like this one. The same layers give the same image.
func Image(config v1.Config, layers ...v1.Layer) (v1.Image, error) {
	oci := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	made, err := mutate.ConfigFile(oci, &v1.ConfigFile{
		OS: "linux", Architecture: runtime.GOARCH, RootFS: v1.RootFS{Type: "layers"}, Config: config,
	})
	if err != nil {
		return nil, err
	}
	return mutate.AppendLayers(made, layers...)
}

// Named is an image with the name that an archive has it under.
type Named struct {
	Name  string
	Image v1.Image
}

// WriteArchive writes images to a file in the format of the OCI image layout, for "ctr images
// import".
func WriteArchive(to string, images []Named) (err error) {
	dir, err := os.MkdirTemp(filepath.Dir(to), ".images-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	index, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	for _, i := range images {
		if err := index.AppendImage(i.Image, layout.WithAnnotations(map[string]string{nameAnnotation: i.Name})); err != nil {
			return fmt.Errorf("writing image %s: %w", i.Name, err)
		}
	}
	return writeTar(dir, to)
}

// writeTar writes a directory as a tar archive.
func writeTar(dir, to string) (err error) {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := tar.NewWriter(f)
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		return err
	}
	return w.Close()
}
