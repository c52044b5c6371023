package main

import (
	"os"
	"path/filepath"
	"strings"

	"k8s.io/kubernetes/cmd/kubelet/app/options"
	"k8s.io/kubernetes/pkg/kubelet"
	cadvisortest "k8s.io/kubernetes/pkg/kubelet/cadvisor/testing"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/util/oom"
	"k8s.io/kubernetes/pkg/volume/util/hostutil"
	"k8s.io/kubernetes/pkg/volume/util/subpath"
	"k8s.io/mount-utils"
)

// simulateHost replaces what the kubelet asks of the machine it runs on. The
// probe manager is left nil on purpose: the kubelet then makes its real one.
func simulateHost(deps *kubelet.Dependencies, server *options.KubeletServer) {
	deps.CAdvisorInterface = &cadvisortest.Fake{NodeName: server.HostnameOverride}
	deps.ContainerManager = cm.NewStubContainerManager()
	deps.OOMAdjuster = oom.NewFakeOOMAdjuster()
	deps.Mounter = mount.NewFakeMounter(nil)
	deps.Subpather = &subpath.FakeSubpath{}
	deps.HostUtil = unsharedHost{hostutil.NewHostUtil()}
	deps.OSInterface = confinedOS{root: server.RootDirectory}
	kubelet.ContainerLogsDir = filepath.Join(server.RootDirectory, "container-logs")
}

// unsharedHost is the real host, except that it never changes a mount's
// propagation, which takes root.
type unsharedHost struct{ hostutil.HostUtils }

func (unsharedHost) MakeRShared(string) error { return nil }

// confinedOS is the real operating system below the kubelet's root directory.
// The links that a kubelet keeps for old log collectors under /var/log are not
// made: nothing may be left outside the rig's directory.
type confinedOS struct {
	kubecontainer.RealOS
	root string
}

const legacyLogLinks = "/var/log/"

func (o confinedOS) outside(path string) bool {
	return strings.HasPrefix(path, legacyLogLinks) && !strings.HasPrefix(path, o.root)
}

func (o confinedOS) Symlink(oldname, newname string) error {
	if o.outside(newname) {
		return nil
	}
	return o.RealOS.Symlink(oldname, newname)
}

func (o confinedOS) MkdirAll(path string, perm os.FileMode) error {
	if o.outside(path) {
		return nil
	}
	return o.RealOS.MkdirAll(path, perm)
}
