package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/pki"
	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/harness/program"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

// define lists the rig's components in the order in which they start, each
// with what it takes to run it. Nothing is started.
func (c *Cluster) define() error {
	if c.cfg.On == nil {
		if err := c.defineControlPlane(); err != nil {
			return err
		}
	}
	for _, node := range c.cfg.Topology.Nodes {
		number, err := c.block.take()
		if err != nil {
			return err
		}
		c.nodes = append(c.nodes, number)
		if err := c.defineKubelet(node, c.block.node(number)); err != nil {
			return fmt.Errorf("preparing node %s: %w", node.Name, err)
		}
	}
	return nil
}

func (c *Cluster) defineControlPlane() error {
	names := []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "10.96.0.1"}
	members := c.members()
	for i := 1; i < slices.Max(slices.Collect(maps.Values(members))); i++ {
		names = append(names, c.block.member(i).String())
	}
	s, err := c.creds.serve("control-plane", "control-plane", c.block.controlPlane().String(), names...)
	if err != nil {
		return err
	}
	if err := c.defineEtcd(s); err != nil {
		return err
	}
	place := make(map[build.Component]int)
	for _, comp := range c.cfg.Topology.ControlPlane() {
		kind := programOf(comp.Name)
		of := serving{address: c.block.member(place[kind]).String(), keyPair: s.keyPair}
		place[kind]++
		if err := c.defineMember(comp, of, members[kind] > 1); err != nil {
			return err
		}
	}
	return c.defineWatchdog(s)
}

// members is how many components of the control plane each program has.
func (c *Cluster) members() map[build.Component]int {
	of := make(map[build.Component]int)
	for _, comp := range c.cfg.Topology.ControlPlane() {
		of[programOf(comp.Name)]++
	}
	return of
}

// defineMember adds a component of the control plane, perhaps one of several of its program.
func (c *Cluster) defineMember(comp record.Component, s serving, several bool) error {
	switch of, _ := program.Of(record.Program(comp.Name)); of.Role {
	case program.Server:
		return c.defineAPIServer(comp, s)
	case program.Controller:
		return c.defineController(comp, s, several)
	default:
		return fmt.Errorf("a control plane has no %s", comp.Name)
	}
}

// healthOf returns the URL of the health of a program at an address.
func healthOf(name, address string) string {
	p, _ := program.Of(name)
	return p.HealthURL(address)
}

func (c *Cluster) add(comp *component) { c.components = append(c.components, comp) }

// addMember adds a component of the control plane, and returns it.
func (c *Cluster) addMember(comp record.Component, f flags, s serving) *component {
	added := &component{
		name: comp.Name, kind: programOf(comp.Name), version: comp.Version, gates: comp.Gates, settings: comp.Settings,
		flags: f, address: s.address, health: healthOf(record.Program(comp.Name), s.address),
	}
	c.add(added)
	return added
}

func (c *Cluster) defineEtcd(s serving) error {
	dir := filepath.Join(c.guard.Dir(), "etcd")
	c.add(&component{
		name: string(build.Etcd), kind: build.Etcd, version: release.Etcd, settings: c.cfg.Topology.Etcd,
		flags:  etcdFlags(dir, s, c.creds.caFile()),
		health: healthOf(program.Etcd, s.address),
	})
	return os.MkdirAll(dir, 0o700)
}

func (c *Cluster) defineAPIServer(comp record.Component, s serving) error {
	etcd, err := c.creds.issue("etcd-client", pki.Request{CommonName: "kube-apiserver"})
	if err != nil {
		return err
	}
	kubelet, err := c.creds.issue("kubelet-client", administrator("kube-apiserver-kubelet-client"))
	if err != nil {
		return err
	}
	etcdAddress, err := c.wayToEtcd(comp.Name)
	p := apiserverPaths{
		dir: c.creds.dir, ca: c.creds.caFile(), serviceAccountKey: c.creds.serviceAccountKey(),
		etcdURL: "https://" + etcdAddress, etcd: etcd, kubelet: kubelet,
	}
	added := c.addMember(comp, apiserverFlags(s, p), s)
	if err != nil || !c.cfg.Topology.PeerProxy {
		return err
	}
	proxy, err := c.creds.issue("front-proxy-client", pki.Request{CommonName: frontProxy})
	added.flags, added.peers = added.flags.with(frontProxyFlags(p.ca)), peerFlags(p.ca, proxy)
	return err
}

// defineController adds a controller manager or a scheduler.
func (c *Cluster) defineController(comp record.Component, s serving, several bool) error {
	name := record.Program(comp.Name)
	kubeconfig, err := c.kubeconfigOf(comp.Name, pki.Request{CommonName: "system:" + name}, comp.Via)
	f := controllerFlags(s, c.creds.caFile(), kubeconfig, name).with(leaderElection(several))
	if name == program.ControllerManager {
		f = f.with(controllerManagerFlags(c.creds.caFile(), c.creds.serviceAccountKey(), c.cfg.Topology.NodeMonitor))
	}
	c.addMember(comp, f, s)
	return err
}

func (c *Cluster) defineKubelet(node record.Node, addresses netip.Prefix) error {
	dirs := c.kubeletDirs(node.Name)
	if err := dirs.make(); err != nil {
		return err
	}
	name := c.NodeName(node.Name)
	s, err := c.creds.serve("kubelet-"+node.Name, name, nodeAddress(addresses).String(), name)
	if err != nil {
		return err
	}
	kubeconfig, err := c.kubeconfigOf("kubelet/"+node.Name, nodeClient(name), node.Via)
	if err != nil {
		return err
	}
	// The runtime lives as long as the rig: kubelets come and go before it.
	runtime, err := c.cfg.Runtime(c.nodeInfo(node, addresses))
	if err != nil {
		return err
	}
	c.runtimes[node.Name] = runtime
	comp := &component{
		name: "kubelet/" + node.Name, kind: build.Kubelet, version: node.Version, gates: node.Gates, settings: node.Settings,
		node: node.Name, address: s.address, standalone: node.Standalone,
		flags:  kubeletFlags(name, kubeconfig, dirs).with(c.nodeLabels()).with(c.cfg.Machine.flags()),
		config: kubeletConfig(dirs, runtime.Endpoint(), c.creds.caFile(), s),
		health: healthOf(program.Kubelet, s.address),
	}
	if c.cfg.AllowHost {
		delete(comp.flags, "host-root") // host paths are those of this machine
	}
	if host, is := runtime.(Host); is {
		comp.host = host
		onHost(comp.config, comp.flags, c.cgroup(node.Name))
	}
	if node.Standalone {
		standalone(comp.config, comp.flags)
	}
	for _, setting := range node.Defaults {
		delete(comp.config, setting)
	}
	c.add(comp)
	if err := c.boot(comp); err != nil {
		return err
	}
	if node.OwnClock {
		return c.addClock(comp, dirs.root)
	}
	return nil
}

// nodeInfo is what the container runtime of a node knows.
func (c *Cluster) nodeInfo(node record.Node, addresses netip.Prefix) NodeInfo {
	dirs := c.kubeletDirs(node.Name)
	info := NodeInfo{
		Name: node.Name, Socket: filepath.Join(dirs.root, "cri.sock"), Addresses: addresses,
		Runtime: node.Runtime, Dir: dirs.root, Pods: podAddresses(addresses), Cgroup: c.cgroup(node.Name), BootID: dirs.bootID(),
		Log:     c.logFile(record.Containerd + "/" + node.Name),
		Volumes: dirs.state(), Logs: dirs.podLogs(), HostRoot: dirs.host(), Network: c.block.network(),
		Handlers: node.RuntimeHandlers, Output: filepath.Join(c.cfg.LogDir, OutputDir),
	}
	if node.Endpoints {
		info.Reported = info.Pods
	}
	if c.cfg.AllowHost {
		info.Logs, info.HostRoot, info.Network = "", "", netip.Prefix{}
	}
	return info
}

// cgroup is the path of a node's cgroup: that of the rig has the name of its directory.
func (c *Cluster) cgroup(node string) string { return filepath.Base(c.guard.Dir()) + "/" + node }

func nodeAddress(addresses netip.Prefix) netip.Addr { return addresses.Addr().Next() }

// arguments are those of a component's program, with the gates that it has now. A
// kubelet has them in its configuration file, which is written.
func (comp *component) arguments() ([]string, error) {
	f := maps.Clone(comp.flags)
	if release.On(comp.settings.EffectiveOf(comp.version), comp.gates, release.PeerProxy) {
		maps.Copy(f, comp.peers)
	}
	maps.Copy(f, comp.settings.Flags)
	switch of, _ := program.Of(string(comp.kind)); of.Role {
	case program.Server, program.Controller:
		if len(comp.gates) > 0 {
			f["feature-gates"] = comp.gates.Flag()
		}
		f.emulate(comp.settings)
		if of.Config != nil && len(comp.settings.Config) > 0 {
			err := f.configured(comp.settings.Config)
			return f.args(), err
		}
	case program.Agent:
		config := record.Merge(comp.config, comp.settings.Config)
		config["featureGates"] = comp.gates
		return f.args(), writeConfig(f["config"], config)
	case program.Prober:
		if release.WatchdogProfiles(comp.version) {
			f["pprof-bind-addr"] = "0"
		}
		return append([]string{"prober"}, f.args()...), nil
	}
	return f.args(), nil
}

// configured has a scheduler read its configuration file, in which a patch is. Of the flags that it
// has fields for, those of the leader election would count more, and the others do not count
// (k8s.io/kubernetes, cmd/kube-scheduler/app/options/options.go).
func (f flags) configured(patch map[string]any) error {
	config := schedulerConfig(f)
	f["config"] = filepath.Join(filepath.Dir(f["kubeconfig"]), fileName("scheduler-"+filepath.Base(f["kubeconfig"]))+".config")
	maps.DeleteFunc(f, func(name, _ string) bool { return strings.HasPrefix(name, "leader-elect") })
	return writeConfig(f["config"], record.Merge(config, patch))
}

func writeConfig(path string, config map[string]any) error {
	text, err := json.MarshalIndent(config, "", "  ")
	return errors.Join(err, os.WriteFile(path, text, 0o600))
}

// environment is what components see of the user's environment: where
// temporary files go, and nothing that would change what they do. API servers that have a
// name take it for that of their host.
//
// A kubelet has a proxy at which nothing listens: a probe that asks it fails. Components of a rig that may not reach beyond
// itself ask no other machine, whatever objects name one.
//
// Components that can start no program find none: a kubelet of v1.38 ends if it finds getent and can't start it, and
// continues without it (pkg/kubelet/kubelet_pods.go, getentUserExists).
func (c *Cluster) environment(comp *component) []string {
	env := []string{"HOME=" + c.guard.Dir(), "TMPDIR=" + c.guard.Dir()}
	if c.confinement() == nil || comp.host != nil {
		env = append(env, "PATH=/usr/sbin:/usr/bin:/sbin:/bin")
	}
	real := func(n record.Node) bool { return n.Runtime != "" } // its pods are no loopback addresses
	switch {
	case !c.cfg.AllowHost && !slices.ContainsFunc(c.cfg.Topology.Nodes, real):
		env = append(env, process.Offline()...)
	case comp.kind == build.Kubelet:
		env = append(env, "HTTP_PROXY="+process.NoProxy)
	}
	if member := record.Member(comp.name); comp.kind == build.APIServer && member != "" {
		env = append(env, build.HostName(member))
	}
	return env
}
