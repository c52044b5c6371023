package program

import (
	"maps"
	"slices"
	"strings"
)

// Why a rig sets something itself.
const (
	ownAddress     = "the rig gives each component an address of its own"
	ownCertificate = "the rig makes the certificates and keys"
	ownDirectory   = "the rig has directories of its own"
	ownMachine     = "the rig says what the machine of a simulated node has"
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

	"machine": ownMachine,

	"kubeconfig": ownKubeconfig, "authentication-kubeconfig": ownKubeconfig, "authorization-kubeconfig": ownKubeconfig, "master": ownKubeconfig,

	"peer-ca-file": ownPeers,

	"feature-gates": ownGates, "emulated-version": ownEmulation, "min-compatibility-version": ownEmulation,
	"leader-elect": ownElection,
}

// OwnFlag returns why a flag is set by the rig alone, and whether it is.
func OwnFlag(name string) (why string, own bool) {
	why, own = ownFlags[FlagName(name)]
	return why, own
}

// FlagName returns the name by which a component knows a flag: those of Kubernetes take underscores for hyphens.
func FlagName(name string) string { return strings.ReplaceAll(name, "_", "-") }

// Configured returns the programs with a configuration file, sorted.
func Configured() (names []string) {
	for _, p := range All {
		if p.Config != nil {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names
}

// ownConfig returns the fields of a program's configuration file that a rig sets, and why.
func ownConfig(program string) map[string]string {
	p, _ := Of(program)
	if p.Config == nil {
		return nil
	}
	own := map[string]string{"apiVersion": "it is " + p.Config.APIVersion, "kind": "it is " + p.Config.Kind}
	maps.Copy(own, p.Config.Own)
	return own
}

// OwnConfig returns the first field of a patch of a program's configuration that the rig sets
// itself, and why; empty if there is none.
func OwnConfig(program string, patch map[string]any) (field, why string) {
	own := ownConfig(program)
	for _, path := range slices.Sorted(maps.Keys(own)) {
		if has(patch, strings.Split(path, ".")) {
			return path, own[path]
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
	for path := range ownConfig(program) {
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
