package kind

import (
	"fmt"
	"maps"
	"path/filepath"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/harness/release"
)

// shared is where nodes have the directory that they share with this machine, and what is in it:
// the socket that the kubelet takes for its container runtime's, its drop-in configuration
// (kubelet --config-dir), and the directory that containers have for what they record.
const (
	shared       = "/skewrig"
	socketFile   = "runtime.sock"
	kubeletDir   = "kubelet.d"
	kubeletFile  = "50-skewrig.conf"
	recordFolder = "record"
	kubeadmFile  = "kubeadm"
)

// kubeadmPath is where node images have kubeadm.
const kubeadmPath = "/usr/bin/kubeadm"

// clusterConfig is the configuration of a cluster: a control plane of which the kubelet is no node of
// the cell, and a worker for each node.
func clusterConfig(c Config) (*v1alpha4.Cluster, error) {
	kubeadm, err := controlPlanePatches(c.ControlPlane.Gates, c.Bare)
	if err != nil {
		return nil, err
	}
	config := &v1alpha4.Cluster{
		TypeMeta:             v1alpha4.TypeMeta{Kind: "Cluster", APIVersion: "kind.x-k8s.io/v1alpha4"},
		Nodes:                []v1alpha4.Node{{Role: v1alpha4.ControlPlaneRole, Image: c.ControlPlane.Image}},
		KubeadmConfigPatches: kubeadm,
	}
	if c.Bare {
		config.Networking = v1alpha4.Networking{DisableDefaultCNI: true, KubeProxyMode: "none"}
	}
	for _, n := range c.Nodes {
		join, err := patch("JoinConfiguration", map[string]any{"nodeRegistration": map[string]any{
			"name":             n.Name,
			"criSocket":        "unix://" + filepath.Join(shared, socketFile),
			"kubeletExtraArgs": map[string]any{"config-dir": filepath.Join(shared, kubeletDir)},
		}})
		if err != nil {
			return nil, err
		}
		mounts := []v1alpha4.Mount{{HostPath: c.nodeDir(n.Name), ContainerPath: shared}}
		if n.Newer {
			mounts = append(mounts, v1alpha4.Mount{HostPath: filepath.Join(c.nodeDir(n.Name), kubeadmFile), ContainerPath: kubeadmPath, Readonly: true})
		}
		config.Nodes = append(config.Nodes, v1alpha4.Node{Role: v1alpha4.WorkerRole, Image: n.Image, KubeadmConfigPatches: []string{join}, ExtraMounts: mounts})
	}
	v1alpha4.SetDefaultsCluster(config)
	return config, nil
}

// controlPlanePatches give the components of a control plane gates, and each kubelet what it needs
// where cgroups are those of version 1, and to see the files of static pods soon where there are no inotify
// instances left. kind's own featureGates would reach all kubelets, and older
// ones refuse gates that they don't know. There is one controller manager and one scheduler, which need
// not be elected: one that is ends when it finds no API server for a while, and one that is started has to wait
// for the lease of the one before.
func controlPlanePatches(gates release.Gates, bare bool) (all []string, _ error) {
	add := func(kind string, fields map[string]any) error {
		text, err := patch(kind, fields)
		all = append(all, text)
		return err
	}
	if err := add("KubeletConfiguration", map[string]any{"failCgroupV1": false, "fileCheckFrequency": "1s"}); err != nil {
		return nil, err
	}
	if bare { // kind skips the first one itself, and the last one where there is no kube-proxy
		skipped := []string{"preflight", "addon/coredns", "addon/kube-proxy"}
		if err := add("InitConfiguration", map[string]any{"skipPhases": skipped}); err != nil {
			return nil, err
		}
	}
	of := func(args map[string]any) map[string]any {
		if len(gates) > 0 {
			args[gatesFlag] = gates.Flag()
		}
		return map[string]any{"extraArgs": args}
	}
	alone := func() map[string]any { return of(map[string]any{"leader-elect": "false"}) }
	return all, add("ClusterConfiguration", map[string]any{"apiServer": of(map[string]any{watchGrace: "2s"}), "controllerManager": alone(), "scheduler": alone()})
}

// watchGrace is the flag of how long an API server lets watches go on when it is asked to end. Without it they keep it from
// ending for a minute, and its kubelet kills it after half of one.
const watchGrace = "shutdown-watch-termination-grace-period"

// patch is a merge patch of one of kubeadm's objects, of whatever version.
func patch(kind string, fields map[string]any) (string, error) {
	fields["kind"] = kind
	text, err := yaml.Marshal(fields)
	if err != nil {
		return "", fmt.Errorf("writing a patch of %s: %w", kind, err)
	}
	return string(text), nil
}

// kubeletConfig is the drop-in configuration of a kubelet with gates and other fields.
func kubeletConfig(gates release.Gates, others map[string]any) ([]byte, error) {
	fields := map[string]any{"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
	maps.Copy(fields, others)
	if len(gates) > 0 {
		fields["featureGates"] = gates
	}
	return yaml.Marshal(fields)
}
