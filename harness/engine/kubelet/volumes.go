package main

import (
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/kubelet"
	"k8s.io/kubernetes/pkg/volume"
	"k8s.io/kubernetes/pkg/volume/util/hostutil"
	"k8s.io/kubernetes/pkg/volume/util/subpath"
)

// confineVolumes has the kubelet find the host paths of pods below hostRoot, a directory that stands
// for the root of its node's file system. It loses the volume plugins that start programs of this
// machine or use its devices: those of git, iSCSI and Fibre Channel, and drivers of flex volumes.
func confineVolumes(deps *kubelet.Dependencies, dir, hostRoot string) {
	var confined []volume.VolumePlugin
	for _, plugin := range deps.VolumePlugins {
		switch plugin.GetPluginName() {
		case "kubernetes.io/configmap", "kubernetes.io/csi", "kubernetes.io/downward-api", "kubernetes.io/empty-dir",
			"kubernetes.io/image", "kubernetes.io/nfs", "kubernetes.io/projected", "kubernetes.io/secret":
			confined = append(confined, plugin)
		case "kubernetes.io/host-path":
			confined = append(confined, hostPaths{plugin, hostRoot})
		case "kubernetes.io/local-volume":
			confined = append(confined, directories{plugin})
		}
	}
	deps.VolumePlugins, deps.DynamicPluginProber = confined, nil
	deps.HostUtil = confinedHost{deps.HostUtil, dir, hostRoot}
}

// directories is a plugin of volumes that are directories, and not devices.
type directories struct{ volume.VolumePlugin }

// hostPaths is the plugin of host paths, which are below root.
type hostPaths struct {
	volume.VolumePlugin
	root string
}

// NewMounter implements volume.VolumePlugin.
func (p hostPaths) NewMounter(spec *volume.Spec, pod *corev1.Pod) (volume.Mounter, error) {
	return p.VolumePlugin.NewMounter(below(p.root, spec), pod)
}

// below is a spec whose host path is below root.
func below(root string, spec *volume.Spec) *volume.Spec {
	confined := *spec
	switch {
	case spec.Volume != nil && spec.Volume.HostPath != nil:
		confined.Volume = spec.Volume.DeepCopy()
		confined.Volume.HostPath.Path = filepath.Join(root, filepath.Clean("/"+spec.Volume.HostPath.Path))
	case spec.PersistentVolume != nil && spec.PersistentVolume.Spec.HostPath != nil:
		confined.PersistentVolume = spec.PersistentVolume.DeepCopy()
		confined.PersistentVolume.Spec.HostPath.Path = filepath.Join(root, filepath.Clean("/"+spec.PersistentVolume.Spec.HostPath.Path))
	}
	return &confined
}

// confinedHost is a host whose files are below root, beside those in the kubelet's own directory.
type confinedHost struct {
	hostutil.HostUtils
	dir, root string
}

func (h confinedHost) at(path string) string {
	for _, own := range []string{h.dir, h.root} {
		if rest, err := filepath.Rel(own, path); err == nil && filepath.IsLocal(rest) {
			return path
		}
	}
	return filepath.Join(h.root, filepath.Clean("/"+path))
}

func (h confinedHost) DeviceOpened(path string) (bool, error) {
	return h.HostUtils.DeviceOpened(h.at(path))
}

func (h confinedHost) PathIsDevice(path string) (bool, error) {
	return h.HostUtils.PathIsDevice(h.at(path))
}

func (h confinedHost) GetFileType(path string) (hostutil.FileType, error) {
	return h.HostUtils.GetFileType(h.at(path))
}

func (h confinedHost) PathExists(path string) (bool, error) {
	return h.HostUtils.PathExists(h.at(path))
}

func (h confinedHost) EvalHostSymlinks(path string) (string, error) {
	return h.HostUtils.EvalHostSymlinks(h.at(path))
}

func (h confinedHost) GetOwner(path string) (int64, int64, error) {
	return h.HostUtils.GetOwner(h.at(path))
}

func (h confinedHost) GetSELinuxSupport(path string) (bool, error) {
	return h.HostUtils.GetSELinuxSupport(h.at(path))
}

func (h confinedHost) GetMode(path string) (os.FileMode, error) {
	return h.HostUtils.GetMode(h.at(path))
}

func (h confinedHost) GetSELinuxMountContext(path string) (string, error) {
	return h.HostUtils.GetSELinuxMountContext(h.at(path))
}

// unmountedSubpath mounts nothing. A path that a symbolic link leads out of its volume is an error, as it is of the
// kubelet's own.
type unmountedSubpath struct{ subpath.FakeSubpath }

// PrepareSafeSubpath implements subpath.Interface.
func (*unmountedSubpath) PrepareSafeSubpath(s subpath.Subpath) (string, func(), error) {
	rest, err := filepath.Rel(s.VolumePath, s.Path)
	if err != nil {
		return "", nil, err
	}
	root, err := os.OpenRoot(s.VolumePath)
	if err != nil {
		return "", nil, err
	}
	defer root.Close()
	_, err = root.Stat(rest)
	return s.Path, nil, err
}

// SafeMakeDir implements subpath.Interface.
func (*unmountedSubpath) SafeMakeDir(dir, volume string, mode os.FileMode) error {
	root, err := os.OpenRoot(volume)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.MkdirAll(strings.TrimPrefix(dir, "/"), mode.Perm())
}
