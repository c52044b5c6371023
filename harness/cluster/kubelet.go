package cluster

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/skewrig/skewrig/harness/program"
)

// kubeletDirs are the places of one node below the rig's directory.
type kubeletDirs struct{ root string }

func (c *Cluster) kubeletDirs(node string) kubeletDirs {
	return kubeletDirs{root: filepath.Join(c.guard.Dir(), "nodes", node)}
}

func (d kubeletDirs) state() string      { return filepath.Join(d.root, "state") }
func (d kubeletDirs) staticPods() string { return filepath.Join(d.root, "static-pods") }
func (d kubeletDirs) podLogs() string    { return filepath.Join(d.root, "pod-logs") }
func (d kubeletDirs) config() string     { return filepath.Join(d.root, "config.json") }
func (d kubeletDirs) bootID() string     { return filepath.Join(d.root, "boot-id") }
func (d kubeletDirs) host() string       { return filepath.Join(d.root, "host") }

// hostDirs are directories that the file system of any node has. Pods may name them as host paths
// that exist; there is nothing in them.
var hostDirs = []string{
	"dev", "etc/kubernetes", "home", "lib/modules", "mnt", "opt", "proc", "root", "run", "srv", "sys", "tmp",
	"usr/bin", "usr/lib", "usr/local", "usr/share", "var/lib/kubelet", "var/log/pods", "var/run", "var/tmp",
}

// make makes the directories of a node, and those of the file system that its pods find by host paths.
func (d kubeletDirs) make() error {
	all := []string{d.state(), d.staticPods(), d.podLogs()}
	for _, dir := range hostDirs {
		all = append(all, filepath.Join(d.host(), dir))
	}
	for _, dir := range all {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return nil
}

// KubeletDir is the directory of a node's kubelet (--root-dir).
func (c *Cluster) KubeletDir(node string) (string, error) {
	_, _, err := c.find("kubelet/" + node)
	return c.kubeletDirs(node).state(), err
}

// kubeletConfig is the KubeletConfiguration (kubelet.config.k8s.io/v1beta1) of
// a node, as a map: its typed form belongs to one release, and this file is
// read by many.
func kubeletConfig(dirs kubeletDirs, endpoint, ca string, s serving) map[string]any {
	kubelet, _ := program.Of(program.Kubelet)
	return map[string]any{
		"kind":                     kubelet.Config.Kind,
		"apiVersion":               kubelet.Config.APIVersion,
		"containerRuntimeEndpoint": endpoint,
		"address":                  s.address,
		"port":                     kubelet.Port,
		"healthzBindAddress":       s.address,
		"healthzPort":              kubelet.HealthPort,
		"tlsCertFile":              s.cert,
		"tlsPrivateKeyFile":        s.key,
		"authentication":           map[string]any{"x509": map[string]any{"clientCAFile": ca}},
		"staticPodPath":            dirs.staticPods(),
		"podLogsDir":               dirs.podLogs(),
		// No cgroups are made: the containers are not processes.
		"cgroupsPerQOS":          false,
		"enforceNodeAllocatable": []string{},
		"failSwapOn":             false,
		"failCgroupV1":           false,
		// The disk of the machine is not the node's, however full it is.
		"evictionHard": map[string]any{
			"memory.available": "0%", "nodefs.available": "0%", "nodefs.inodesFree": "0%", "imagefs.available": "0%",
		},
		"imageGCHighThresholdPercent": 100,
		// Seconds instead of a minute and 20 s: a scenario lasts seconds.
		"syncFrequency":      "1s",
		"fileCheckFrequency": "1s",
		// One pod per address of the node's range.
		"maxPods": 250,
		"logging": map[string]any{"verbosity": 4},
		// Some gates and tests write more events than the default of 50/s.
		"eventRecordQPS": 0,
		// There is no registry to spare: pods with many containers start at once.
		"registryPullQPS": 0,
		"clusterDomain":   "cluster.local",
		"clusterDNS":      []string{"10.96.0.10"},
		"resolvConf":      "",
		// The logs of the machine are not the node's.
		"enableSystemLogHandler": false,
		// A kubelet makes its default, which is outside of the rig, and runs what it finds there.
		"volumePluginDir": filepath.Join(dirs.root, "volume-plugins"),
	}
}

// kubeletFlags are the settings that a kubelet takes on its command line only.
func kubeletFlags(node, kubeconfig string, dirs kubeletDirs) flags {
	return flags{
		"config":            dirs.config(),
		"kubeconfig":        kubeconfig,
		"hostname-override": node,
		"root-dir":          dirs.state(),
		"cert-dir":          filepath.Join(dirs.state(), "pki"),
		"boot-id-file":      dirs.bootID(),
		"host-root":         dirs.host(),
		// A kubelet refuses a loopback address as its node's, but takes what a
		// cloud provider reports: the rig is the provider (addresses.go).
		"cloud-provider": "external",
	}
}

// Machine is what a simulated node's machine has.
type Machine struct {
	Cores int
	// Memory and Storage are in bytes. Storage is for what pods have that is on no volume.
	Memory, Storage int64
}

// flags are those of a kubelet that say what its machine has.
func (m *Machine) flags() flags {
	if m == nil {
		return nil
	}
	return flags{"machine": fmt.Sprintf(`{"num_cores":%d,"memory_capacity":%d,"ephemeral_storage":%d}`, m.Cores, m.Memory, m.Storage)}
}

// onHost makes the settings those of a kubelet of a node with real containers. What it would change
// of this machine that belongs to no node is left alone.
func onHost(config map[string]any, f flags, cgroup string) {
	delete(f, "boot-id-file") // it reads the kernel's, which the node has of its own
	delete(f, "host-root")
	delete(f, "machine")
	maps.Copy(config, map[string]any{
		"cgroupsPerQOS":          true,
		"cgroupDriver":           "cgroupfs",
		"cgroupRoot":             "/" + cgroup,
		"makeIPTablesUtilChains": false,
		// To be the last that is killed for memory takes CAP_SYS_RESOURCE, and is for a node's only kubelet.
		"oomScoreAdj": 0,
	})
}

// standalone makes the settings those of a kubelet that knows of no API server,
// which it can't ask who may do what.
func standalone(config map[string]any, f flags) {
	delete(f, "kubeconfig")
	delete(f, "cloud-provider")
	authentication, _ := config["authentication"].(map[string]any)
	authentication["webhook"] = map[string]any{"enabled": false}
	config["authorization"] = map[string]any{"mode": "AlwaysAllow"}
}
