package cluster

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/skewrig/skewrig/harness/program"
	"github.com/skewrig/skewrig/record"
)

// flags are command-line flags by name. They are rendered in order of their
// names, so that the same configuration always gives the same command line.
type flags map[string]string

// with adds others.
func (f flags) with(others flags) flags {
	maps.Copy(f, others)
	return f
}

func (f flags) args() []string {
	var args []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		args = append(args, "--"+name+"="+f[name])
	}
	return args
}

// keyPair are the files of a certificate and its key.
type keyPair struct{ cert, key string }

// serving is a server's address, and what it shows for it.
type serving struct {
	address string
	keyPair
}

// etcdURL is where the clients of an etcd connect to.
func etcdURL(address string) string {
	return fmt.Sprintf("https://%s:%d", address, portOf(program.Etcd))
}

func etcdFlags(dir string, s serving, ca string) flags {
	etcd, _ := program.Of(program.Etcd)
	client, peer := etcdURL(s.address), fmt.Sprintf("https://%s:%d", s.address, etcd.PeerPort)
	return flags{
		"name":                        "rig",
		"data-dir":                    filepath.Join(dir, "data"),
		"listen-client-urls":          client,
		"advertise-client-urls":       client,
		"listen-peer-urls":            peer,
		"initial-advertise-peer-urls": peer,
		"initial-cluster":             "rig=" + peer,
		"cert-file":                   s.cert,
		"key-file":                    s.key,
		"trusted-ca-file":             ca,
		"client-cert-auth":            "true",
		"peer-cert-file":              s.cert,
		"peer-key-file":               s.key,
		"peer-trusted-ca-file":        ca,
		"peer-client-cert-auth":       "true",
		// A rig's data need not survive the machine; syncing each write to disk
		// would make every rig as slow as the slowest disk in CI.
		"unsafe-no-fsync": "true",
		"log-level":       "warn",
	}
}

// apiserverPaths are the files that an API server reads.
type apiserverPaths struct {
	dir, ca, serviceAccountKey, etcdURL string
	etcd, kubelet                       keyPair // as a client of theirs
}

func apiserverFlags(s serving, p apiserverPaths) flags {
	return flags{
		"bind-address":                     s.address,
		"advertise-address":                s.address,
		"secure-port":                      strconv.Itoa(portOf(program.APIServer)),
		"tls-cert-file":                    s.cert,
		"tls-private-key-file":             s.key,
		"client-ca-file":                   p.ca,
		"cert-dir":                         p.dir,
		"etcd-servers":                     p.etcdURL,
		"etcd-cafile":                      p.ca,
		"etcd-certfile":                    p.etcd.cert,
		"etcd-keyfile":                     p.etcd.key,
		"authorization-mode":               "Node,RBAC",
		"enable-admission-plugins":         "NodeRestriction",
		"allow-privileged":                 "true",
		"service-cluster-ip-range":         "10.96.0.0/16",
		"service-account-issuer":           "https://kubernetes.default.svc.cluster.local",
		"service-account-key-file":         p.serviceAccountKey,
		"service-account-signing-key-file": p.serviceAccountKey,
		"kubelet-client-certificate":       p.kubelet.cert,
		"kubelet-client-key":               p.kubelet.key,
		"kubelet-certificate-authority":    p.ca,
		"kubelet-preferred-address-types":  "InternalIP",
		// The endpoints of the kubernetes service may not be loopback
		// addresses, so reconciling them would only log errors.
		"endpoint-reconciler-type": "none",
		// Without it a stopping API server waits a minute for watches to end,
		// which is longer than most scenarios last.
		"shutdown-watch-termination-grace-period": "2s",
		"profiling": "false",
	}
}

// frontProxy is who an API server is to another one to which it sends a request.
const frontProxy = "front-proxy-client"

// frontProxyFlags are those by which an API server believes another one who a request is from.
func frontProxyFlags(ca string) flags {
	return flags{
		"requestheader-client-ca-file":       ca,
		"requestheader-allowed-names":        frontProxy,
		"requestheader-username-headers":     "X-Remote-User",
		"requestheader-uid-headers":          "X-Remote-Uid",
		"requestheader-group-headers":        "X-Remote-Group",
		"requestheader-extra-headers-prefix": "X-Remote-Extra-",
	}
}

// peerFlags are those by which an API server sends others the requests that only they can answer.
func peerFlags(ca string, proxy keyPair) flags {
	return flags{"peer-ca-file": ca, "proxy-client-cert-file": proxy.cert, "proxy-client-key-file": proxy.key}
}

// controllerManagerFlags are those that a scheduler does not have.
func controllerManagerFlags(ca, serviceAccountKey string, monitor record.NodeMonitor) flags {
	f := flags{
		"root-ca-file":                     ca,
		"service-account-private-key-file": serviceAccountKey,
		"use-service-account-credentials":  "true",
		// The default of 20 requests a second makes a start-up of seconds one of
		// ten: each controller waits for its turn.
		"kube-api-qps":   "500",
		"kube-api-burst": "1000",
	}
	if monitor.Period != 0 {
		f["node-monitor-period"] = time.Duration(monitor.Period).String()
	}
	if monitor.Grace != 0 {
		f["node-monitor-grace-period"] = time.Duration(monitor.Grace).String()
	}
	return f
}

// portOf returns the port where a program serves, at an address of the rig's own block, so that it is the one that users know.
func portOf(name string) int {
	p, _ := program.Of(name)
	return p.Port
}

// controllerFlags are what controller manager and scheduler have in common. Clients show
// certificates of the CA.
func controllerFlags(s serving, ca, kubeconfig, of string) flags {
	return flags{
		"bind-address":              s.address,
		"secure-port":               strconv.Itoa(portOf(of)),
		"tls-cert-file":             s.cert,
		"tls-private-key-file":      s.key,
		"client-ca-file":            ca,
		"kubeconfig":                kubeconfig,
		"authentication-kubeconfig": kubeconfig,
		"authorization-kubeconfig":  kubeconfig,
		"profiling":                 "false",
	}
}

// leaderElection are the flags of a component that is one of several, or the only one. The
// times are a quarter of the defaults (k8s.io/component-base/config/v1alpha1/defaults.go): when
// a leader ends without giving up its lease, a scenario waits for that time.
func leaderElection(several bool) flags {
	if !several {
		return flags{"leader-elect": "false"}
	}
	return flags{
		"leader-elect":                "true",
		"leader-elect-lease-duration": "4s",
		"leader-elect-renew-deadline": "3s",
		"leader-elect-retry-period":   "500ms",
	}
}

// schedulerConfig is the KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1) that says
// what flags do.
func schedulerConfig(f flags) map[string]any {
	election := map[string]any{"leaderElect": f["leader-elect"] == "true"}
	for flag, field := range map[string]string{
		"leader-elect-lease-duration": "leaseDuration", "leader-elect-renew-deadline": "renewDeadline", "leader-elect-retry-period": "retryPeriod",
	} {
		if f[flag] != "" {
			election[field] = f[flag]
		}
	}
	scheduler, _ := program.Of(program.Scheduler)
	return map[string]any{
		"kind": scheduler.Config.Kind, "apiVersion": scheduler.Config.APIVersion,
		"clientConnection": map[string]any{"kubeconfig": f["kubeconfig"]}, "leaderElection": election,
	}
}
