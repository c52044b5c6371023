package record

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
)

// Settings are what a component is given beside its gates, on top of what a rig gives it.
type Settings struct {
	// Flags are those of the command line, by their names without hyphens.
	Flags map[string]string `json:"flags,omitempty"`
	// Config is a JSON merge patch (RFC 7386) of the configuration file: of a kubelet,
	// KubeletConfiguration, of a scheduler, KubeSchedulerConfiguration. Others have none.
	Config map[string]any `json:"config,omitempty"`
	// EmulatedVersion is an older minor version whose gates and APIs a component of the control
	// plane has ("v1.36", or a release, "newest" or "previous" for its minor version), by its
	// flag --emulated-version (KEP-4330). If unset, its own.
	EmulatedVersion release.Version `json:"emulatedVersion,omitempty"`
	// MinCompatibilityVersion is the oldest minor version that the component expects beside it,
	// by its flag --min-compatibility-version. If unset, the one before the emulated one.
	MinCompatibilityVersion release.Version `json:"minCompatibilityVersion,omitempty"`
}

// Emulates reports whether a version is given to emulate, or to expect.
func (s Settings) Emulates() bool { return s.EmulatedVersion != "" || s.MinCompatibilityVersion != "" }

// EffectiveOf is a release with these settings: what it emulates.
func (s Settings) EffectiveOf(v release.Version) release.Effective {
	return release.Effective{Version: v, Emulated: s.EmulatedVersion, MinCompatibility: s.MinCompatibilityVersion}
}

// IsZero reports whether nothing is given.
func (s Settings) IsZero() bool { return len(s.Flags) == 0 && len(s.Config) == 0 && !s.Emulates() }

// With returns settings with others on top.
func (s Settings) With(others Settings) Settings {
	if others.IsZero() {
		return s
	}
	after := Settings{
		Flags: maps.Clone(s.Flags), Config: compose(s.Config, others.Config),
		EmulatedVersion: s.EmulatedVersion, MinCompatibilityVersion: cmp.Or(others.MinCompatibilityVersion, s.MinCompatibilityVersion),
	}
	if others.EmulatedVersion != "" { // what is expected beside it follows it
		after.EmulatedVersion, after.MinCompatibilityVersion = others.EmulatedVersion, others.MinCompatibilityVersion
	}
	if after.Flags == nil && len(others.Flags) > 0 {
		after.Flags = make(map[string]string)
	}
	maps.Copy(after.Flags, others.Flags)
	return after
}

// compose returns the merge patch that does what one does, and then another.
func compose(first, then map[string]any) map[string]any {
	if len(then) == 0 {
		return first
	}
	both := maps.Clone(first)
	if both == nil {
		both = make(map[string]any)
	}
	for key, value := range then {
		old, was := both[key].(map[string]any)
		within, is := value.(map[string]any)
		if was && is {
			value = compose(old, within)
		}
		both[key] = value
	}
	return both
}

// Merge returns an object with a JSON merge patch (RFC 7386), and leaves both as they are.
func Merge(object, patch map[string]any) map[string]any {
	merged := maps.Clone(object)
	if merged == nil {
		merged = make(map[string]any)
	}
	for key, value := range patch {
		within, is := value.(map[string]any)
		switch {
		case value == nil:
			delete(merged, key)
		case is:
			old, _ := merged[key].(map[string]any)
			merged[key] = Merge(old, within)
		default:
			merged[key] = value
		}
	}
	return merged
}

// Why a rig sets something itself.
const (
	ownAddress     = "the rig gives each component an address of its own"
	ownCertificate = "the rig makes the certificates and keys"
	ownDirectory   = "the rig has directories of its own"
	ownKubeconfig  = "the rig writes the kubeconfig, and via and links say where it leads"
	ownGates       = "give gates"
	ownEmulation   = "give emulatedVersion or minCompatibilityVersion"
	ownPeers       = "give peerProxy"
	ownElection    = "there is a leader where there are several, and only then"
)

// ownFlags are flags that a rig sets itself, and why.
var ownFlags = map[string]string{
	"bind-address": ownAddress, "advertise-address": ownAddress, "secure-port": ownAddress, "port": ownAddress,
	"address": ownAddress, "hostname-override": ownAddress, "healthz-bind-address": ownAddress, "healthz-port": ownAddress,
	"etcd-servers": ownAddress, "listen-client-urls": ownAddress, "advertise-client-urls": ownAddress,
	"listen-peer-urls": ownAddress, "initial-advertise-peer-urls": ownAddress, "initial-cluster": ownAddress,
	"container-runtime-endpoint": ownAddress, "node-ip": ownAddress, "cloud-provider": ownAddress,
	"peer-advertise-ip": ownAddress, "peer-advertise-port": ownAddress,

	"tls-cert-file": ownCertificate, "tls-private-key-file": ownCertificate, "client-ca-file": ownCertificate, "root-ca-file": ownCertificate,
	"etcd-cafile": ownCertificate, "etcd-certfile": ownCertificate, "etcd-keyfile": ownCertificate,
	"kubelet-client-certificate": ownCertificate, "kubelet-client-key": ownCertificate, "kubelet-certificate-authority": ownCertificate,
	"service-account-key-file": ownCertificate, "service-account-signing-key-file": ownCertificate, "service-account-private-key-file": ownCertificate,
	"cert-file": ownCertificate, "key-file": ownCertificate, "trusted-ca-file": ownCertificate, "client-cert-auth": ownCertificate,
	"peer-cert-file": ownCertificate, "peer-key-file": ownCertificate, "peer-trusted-ca-file": ownCertificate, "peer-client-cert-auth": ownCertificate,

	"cert-dir": ownDirectory, "data-dir": ownDirectory, "root-dir": ownDirectory, "host-root": ownDirectory, "boot-id-file": ownDirectory, "config": ownDirectory, "config-dir": ownDirectory, "name": ownDirectory,

	"kubeconfig": ownKubeconfig, "authentication-kubeconfig": ownKubeconfig, "authorization-kubeconfig": ownKubeconfig, "master": ownKubeconfig,

	"peer-ca-file": ownPeers,

	"feature-gates": ownGates, "emulated-version": ownEmulation, "min-compatibility-version": ownEmulation,
	"leader-elect": ownElection,
}

// OwnFlag says why a flag is set by the rig alone, and whether it is.
func OwnFlag(name string) (why string, own bool) {
	why, own = ownFlags[flagOf(name)]
	return why, own
}

// flagOf is the name by which a component knows a flag: those of Kubernetes take underscores for hyphens.
func flagOf(name string) string { return strings.ReplaceAll(name, "_", "-") }

const kubelet = "kubelet"

// ownConfig are the fields of configuration files that a rig sets itself, by the program.
var ownConfig = map[string]map[string]string{
	kubelet: {
		"apiVersion": "it is kubelet.config.k8s.io/v1beta1", "kind": "it is KubeletConfiguration",
		"featureGates": ownGates, "containerRuntimeEndpoint": ownAddress, "address": ownAddress, "port": ownAddress,
		"healthzBindAddress": ownAddress, "healthzPort": ownAddress, "tlsCertFile": ownCertificate, "tlsPrivateKeyFile": ownCertificate,
		"staticPodPath": ownDirectory, "podLogsDir": ownDirectory, "volumePluginDir": ownDirectory,
		"cgroupsPerQOS": "there are no cgroups", "enforceNodeAllocatable": "there are no cgroups",
	},
	"kube-scheduler": {
		"apiVersion": "it is kubescheduler.config.k8s.io/v1", "kind": "it is KubeSchedulerConfiguration",
		"clientConnection.kubeconfig": ownKubeconfig, "leaderElection.leaderElect": ownElection,
	},
}

// Configured are the programs with a configuration file, in order.
func Configured() []string { return slices.Sorted(maps.Keys(ownConfig)) }

// OwnConfig returns the first field of a patch of a program's configuration that the rig sets
// itself, and why; empty if there is none.
func OwnConfig(program string, patch map[string]any) (field, why string) {
	for _, path := range slices.Sorted(maps.Keys(ownConfig[program])) {
		if has(patch, strings.Split(path, ".")) {
			return path, ownConfig[program][path]
		}
	}
	return "", ""
}

// Owns reports whether the rig alone sets a flag of a program, or a field of its configuration: its path, with
// dots between the names.
func Owns(program, name string) bool {
	if _, own := OwnFlag(name); own {
		return true
	}
	for path := range ownConfig[program] {
		if name == path || strings.HasPrefix(name, path+".") {
			return true
		}
	}
	return false
}

func has(object map[string]any, path []string) bool {
	value, is := object[path[0]]
	if !is || len(path) == 1 {
		return is
	}
	within, _ := value.(map[string]any)
	return within != nil && has(within, path[1:])
}
