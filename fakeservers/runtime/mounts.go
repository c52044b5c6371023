package runtime

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/fakeservers/image"
)

// mounts are what a container sees of its node.
func (r *Runtime) mounts(config *cri.ContainerConfig) ([]image.Mount, error) {
	var all []image.Mount
	for _, m := range config.GetMounts() {
		path, root := r.config.place(m.GetHostPath())
		if root != "" && root == r.config.HostRoot {
			if err := makeMissing(root, path); err != nil {
				return nil, err
			}
		}
		all = append(all, image.Mount{ContainerPath: m.GetContainerPath(), HostPath: path, ReadOnly: m.GetReadonly(), Root: root})
	}
	return all, nil
}

// place returns where a path of the node is on this machine, and the directory that it is in. That is empty if it may be
// anywhere.
func (c Config) place(hostPath string) (path, root string) {
	if c.HostRoot == "" {
		return hostPath, ""
	}
	for _, own := range []string{c.Volumes, c.HostRoot} {
		if rest, err := filepath.Rel(own, hostPath); err == nil && filepath.IsLocal(rest) {
			return hostPath, own
		}
	}
	return filepath.Join(c.HostRoot, filepath.Clean("/"+hostPath)), c.HostRoot
}

// makeMissing makes a directory in root if nothing is at its path, as container runtimes do.
func makeMissing(root, path string) error {
	host, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer host.Close()
	rest, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	if _, err = host.Stat(rest); errors.Is(err, fs.ErrNotExist) {
		err = host.MkdirAll(rest, 0o755)
	}
	return err
}

// measure returns how much is on the volumes of the node.
func (c Config) measure() (bytes, files int64) {
	for _, dir := range []string{c.Volumes, c.HostRoot} {
		_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // it went away
			}
			files++
			if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
				bytes += info.Size()
			}
			return nil
		})
	}
	return bytes, files
}
