package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	"k8s.io/kubernetes/pkg/kubelet"
	"k8s.io/kubernetes/pkg/kubelet/cadvisor"
	cadvisortest "k8s.io/kubernetes/pkg/kubelet/cadvisor/testing"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/util/oom"
	"k8s.io/kubernetes/pkg/volume/util/hostutil"
	"k8s.io/mount-utils"
)

// simulateHost replaces what the kubelet asks of the machine it runs on. The
// probe manager is left nil on purpose: the kubelet then makes its real one.
//
// What is said of its machine is JSON, on top of what cAdvisor's fake says. The host paths of pods are below hostRoot. If that is unset, they are those of this machine.
func simulateHost(deps *kubelet.Dependencies, server *options.KubeletServer, said []string, hostRoot string) (err error) {
	fake := &cadvisortest.Fake{NodeName: server.HostnameOverride}
	deps.CAdvisorInterface, err = described(newHost(fake, fake.ContainerInfoV2, fake.VersionInfo), said, cadvisor.CapacityFromMachineInfo, utilruntime.HandleErrorWithLogger)
	if err == nil {
		deps.ContainerManager, err = withStorage(cm.NewStubContainerManager(), said)
	}
	deps.OOMAdjuster = oom.NewFakeOOMAdjuster()
	deps.Mounter = mount.NewFakeMounter(nil)
	deps.Subpather = &unmountedSubpath{}
	deps.HostUtil = unsharedHost{hostutil.NewHostUtil()}
	deps.OSInterface = confinedOS{root: server.RootDirectory}
	if hostRoot != "" {
		confineVolumes(deps, server.RootDirectory, hostRoot)
	}
	kubelet.ContainerLogsDir = filepath.Join(server.RootDirectory, "container-logs")
	return err
}

// osImage is the operating system that a node's status shows. The kernel beside it is
// the one that the kubelet runs on.
const osImage = "skewrig (fake OS)"

// host is a cAdvisor that knows of one control group, the root, in which nothing
// is used. Without it a kubelet has no summary of stats, and evicts no pod.
type host[Options, Info, Versions any] struct{ *cadvisortest.Fake }

// newHost has the types inferred: they are not in the same package in every
// release.
func newHost[Options, Info, Versions any](fake *cadvisortest.Fake, _ func(string, Options) (map[string]Info, error), _ func() (*Versions, error)) host[Options, Info, Versions] {
	return host[Options, Info, Versions]{fake}
}

// ContainerInfoV2 implements cadvisor.Interface.
func (host[Options, Info, Versions]) ContainerInfoV2(name string, _ Options) (map[string]Info, error) {
	if name != "/" {
		return nil, nil
	}
	now, err := time.Now().MarshalJSON()
	if err != nil {
		return nil, err
	}
	var root Info
	err = json.Unmarshal(fmt.Appendf(nil, `{"stats": [{"timestamp": %s}]}`, now), &root)
	return map[string]Info{name: root}, err
}

// VersionInfo implements cadvisor.Interface.
func (host[Options, Info, Versions]) VersionInfo() (*Versions, error) {
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(map[string]string{"kernel_version": strings.TrimSpace(string(kernel)), "container_os_version": osImage})
	if err != nil {
		return nil, err
	}
	info := new(Versions)
	return info, json.Unmarshal(text, info)
}

// described is a cAdvisor that knows what is said of the machine, such as which boot it is. Types are inferred, as
// newHost's are.
func described[Info, Capacity, Logger any](of cadvisor.Interface, said []string, _ func(*Info) Capacity, _ func(Logger, error, string, ...any)) (cadvisor.Interface, error) {
	for _, form := range []any{machine[Info]{of, said}, loggingMachine[Info, Logger]{of, said}} {
		if m, is := form.(cadvisor.Interface); is {
			return m, nil
		}
	}
	return nil, errors.New("cAdvisor has neither of the forms that are known")
}

// machine is the form that cAdvisor has until v1.36, loggingMachine the one since v1.37.
type (
	machine[Info any] struct {
		cadvisor.Interface
		said []string
	}
	loggingMachine[Info, Logger any] struct {
		cadvisor.Interface
		said []string
	}
)

// MachineInfo implements cadvisor.Interface.
func (m machine[Info]) MachineInfo() (*Info, error) {
	of := m.Interface.(interface{ MachineInfo() (*Info, error) })
	info, err := of.MachineInfo()
	return describe(info, m.said, err)
}

// MachineInfo implements cadvisor.Interface.
func (m loggingMachine[Info, Logger]) MachineInfo(logger Logger) (*Info, error) {
	of := m.Interface.(interface{ MachineInfo(Logger) (*Info, error) })
	info, err := of.MachineInfo(logger)
	return describe(info, m.said, err)
}

func describe[Info any](info *Info, said []string, err error) (*Info, error) {
	for _, text := range said {
		if err == nil {
			err = json.Unmarshal([]byte(text), info)
		}
	}
	return info, err
}

// withStorage is a container manager of a node with the ephemeral storage that is said, in bytes.
func withStorage(of cm.ContainerManager, said []string) (cm.ContainerManager, error) {
	var machine struct {
		EphemeralStorage int64 `json:"ephemeral_storage"`
	}
	for _, text := range said {
		if err := json.Unmarshal([]byte(text), &machine); err != nil {
			return nil, fmt.Errorf("reading what is said of the machine: %w", err)
		}
	}
	if machine.EphemeralStorage == 0 {
		return of, nil
	}
	has := corev1.ResourceList{corev1.ResourceEphemeralStorage: *resource.NewQuantity(machine.EphemeralStorage, resource.BinarySI)}
	for _, form := range []any{manager{of, has}, loggingManager{of, has}} {
		if m, is := form.(cm.ContainerManager); is {
			return m, nil
		}
	}
	return nil, errors.New("the container manager has neither of the forms that are known (GetCapacity in harness/engine/kubelet/host.go)")
}

// manager is the form that a container manager has until v1.36, loggingManager the one since v1.37.
type (
	manager struct {
		cm.ContainerManager
		has corev1.ResourceList
	}
	loggingManager struct {
		cm.ContainerManager
		has corev1.ResourceList
	}
)

func (m manager) GetCapacity(isolated bool) corev1.ResourceList { return capacity(m.has, isolated) }

func (m loggingManager) GetCapacity(_ klog.Logger, isolated bool) corev1.ResourceList {
	return capacity(m.has, isolated)
}

func capacity(has corev1.ResourceList, isolated bool) corev1.ResourceList {
	if !isolated {
		return corev1.ResourceList{}
	}
	return has.DeepCopy()
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
