package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/skewrig/skewrig/harness/layer"
)

const (
	// user is the user ID of all processes. group may write where the user may: a container that
	// is started as another user has this group, too.
	user, group = 65532, 0
	home        = "/home/skewrig"
	// cacheDir is where skewrig looks for components.
	cacheDir = home + "/.cache/skewrig"
	// workDir is where a container starts: its report goes below it.
	workDir = "/work"
	program = "/usr/bin/skewrig"
)

// contents are what an image is put together from.
type contents struct {
	// Skewrig is the path of the program.
	Skewrig string
	// Cache is the directory of the components, as build.Builder.Export writes it.
	Cache string
	// Arch is the architecture of both, as Go names it.
	Arch string
}

// assemble puts the image together. The same contents give the same image.
func assemble(c contents) (v1.Image, error) {
	oci := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.ConfigFile(oci, &v1.ConfigFile{
		OS: "linux", Architecture: c.Arch, RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User: "65532:0", WorkingDir: workDir, Entrypoint: []string{program}, Volumes: map[string]struct{}{workDir: {}},
			Env:    []string{"PATH=" + path.Dir(program), "HOME=" + home},
			Labels: map[string]string{"org.opencontainers.image.source": "https://github.com/skewrig/skewrig", "org.opencontainers.image.licenses": "Apache-2.0"},
		},
	})
	if err != nil {
		return nil, err
	}
	layers := []layer.Layer{system()}
	components, err := cacheLayers(c.Cache)
	if err != nil {
		return nil, err
	}
	layers = append(append(layers, components...), layer.Layer{layer.File(program, c.Skewrig, 0o755)})
	for _, entries := range layers {
		packed, err := entries.Compressed()
		if err != nil {
			return nil, err
		}
		if image, err = mutate.AppendLayers(image, packed); err != nil {
			return nil, err
		}
	}
	return image, nil
}

// system is what a program expects of any system: users, and where to write.
func system() layer.Layer {
	return layer.Layer{
		dir("/etc", 0o755, 0),
		layer.Text("/etc/passwd", "root:x:0:0::/:/none\nskewrig:x:65532:0::"+home+":/none\n"),
		layer.Text("/etc/group", "root:x:0:\n"),
		dir("/tmp", 0o1777, 0),
		dir("/usr", 0o755, 0),
		dir(path.Dir(program), 0o755, 0),
		dir("/home", 0o755, 0),
		dir(home, 0o775, user),
		dir(path.Dir(cacheDir), 0o775, user),
		dir(cacheDir, 0o775, user),
		dir(workDir, 0o775, user),
	}
}

// cacheLayers are a layer for each component, so that a new release changes only those
// that it is of, one with the types of releases, and one with the files that all of them share.
func cacheLayers(from string) (layers []layer.Layer, _ error) {
	top, err := os.ReadDir(from)
	if err != nil {
		return nil, err
	}
	shared := layer.Layer{}
	for _, e := range top {
		if e.Type().IsRegular() {
			shared = append(shared, layer.File(path.Join(cacheDir, e.Name()), filepath.Join(from, e.Name()), 0o664))
		}
	}
	components, err := filepath.Glob(filepath.Join(from, "bin", "*", "*", "*"))
	if err != nil {
		return nil, err
	}
	apis, err := filepath.Glob(filepath.Join(from, "apis"))
	if err != nil {
		return nil, err
	}
	layers = append(layers, shared)
	for _, component := range append(components, apis...) {
		packed, err := below(from, component)
		if err != nil {
			return nil, err
		}
		layers = append(layers, packed)
	}
	return layers, nil
}

// below is a directory of the cache, with the directories that lead to it.
func below(cache, component string) (added layer.Layer, _ error) {
	rel, err := filepath.Rel(cache, component)
	if err != nil {
		return nil, err
	}
	to := cacheDir
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		to = path.Join(to, part)
		added = append(added, dir(to, 0o775, user))
	}
	err = filepath.WalkDir(component, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if info.Mode()&0o100 != 0 {
			mode = 0o755 // the cache's own are for its owner alone
		}
		added = append(added, layer.File(path.Join(to, e.Name()), name, mode))
		return nil
	})
	return added, err
}

// dir is a directory that the group may write to as its owner may.
func dir(name string, mode int64, owner int) layer.Entry {
	e := layer.Dir(name, mode)
	e.UID, e.GID = owner, group
	return e
}
