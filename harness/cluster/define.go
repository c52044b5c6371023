package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/pki"
	"github.com/skewrig/skewrig/harness/release"
)

// define lists the rig's components in the order in which they start, each
// with what it takes to run it. Nothing is started.
func (c *Cluster) define() error {
	controlPlane := c.block.controlPlane().String()
	cert, key, err := c.creds.issue("control-plane", pki.Request{
		CommonName: "control-plane",
		Hosts:      []string{controlPlane, "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "10.96.0.1"},
	})
	if err != nil {
		return err
	}
	s := serving{address: controlPlane, cert: cert, key: key}
	client, err := c.healthClient()
	if err != nil {
		return err
	}
	c.defineEtcd(s, client)
	if err := c.defineAPIServer(s, client); err != nil {
		return err
	}
	if err := c.defineControllers(s, client); err != nil {
		return err
	}
	if c.cfg.Watchdog != nil {
		if err := c.defineWatchdog(*c.cfg.Watchdog, client); err != nil {
			return err
		}
	}
	for i, node := range c.cfg.Nodes {
		if err := c.defineKubelet(node, c.block.node(i), client); err != nil {
			return fmt.Errorf("preparing node %s: %w", node.Name, err)
		}
	}
	return nil
}

func (c *Cluster) add(comp *component) { c.components = append(c.components, comp) }

func (c *Cluster) defineEtcd(s serving, client *http.Client) {
	dir := filepath.Join(c.guard.Dir(), "etcd")
	c.add(&component{
		name: "etcd", kind: build.Etcd, version: release.Etcd,
		prepare: func(release.Gates) ([]string, error) {
			return etcdFlags(dir, s, c.creds.caFile()).args(), os.MkdirAll(dir, 0o700)
		},
		ready: healthy(client, fmt.Sprintf("https://%s:%d/readyz", s.address, etcdPort)),
	})
}

func (c *Cluster) defineAPIServer(s serving, client *http.Client) error {
	p := apiserverPaths{
		dir: c.creds.dir, ca: c.creds.caFile(), serviceAccountKey: c.creds.serviceAccountKey(),
	}
	var err error
	if p.etcdCert, p.etcdKey, err = c.creds.issue("etcd-client", pki.Request{CommonName: "kube-apiserver"}); err != nil {
		return err
	}
	if p.kubeletClientCert, p.kubeletKey, err = c.creds.issue("kubelet-client", kubeletClientIdentity.request()); err != nil {
		return err
	}
	c.add(&component{
		name: "kube-apiserver", kind: build.APIServer, version: c.cfg.ControlPlane.Version, gates: c.cfg.ControlPlane.Gates,
		prepare: func(gates release.Gates) ([]string, error) { return apiserverFlags(s, p, gates).args(), nil },
		ready:   healthy(client, c.creds.server+"/readyz"),
	})
	return nil
}

func (c *Cluster) defineControllers(s serving, client *http.Client) error {
	cp := c.cfg.ControlPlane
	if !cp.WithoutControllerManager {
		kubeconfig, err := c.kubeconfigOf("kube-controller-manager", "controller-manager", controllerManagerIdentity)
		if err != nil {
			return err
		}
		f := controllerManagerFlags(s, kubeconfig, c.creds.caFile(), c.creds.serviceAccountKey(), cp.NodeMonitor)
		c.addController("kube-controller-manager", build.ControllerManager, f, client)
	}
	if !cp.WithoutScheduler {
		kubeconfig, err := c.kubeconfigOf("kube-scheduler", "scheduler", schedulerIdentity)
		if err != nil {
			return err
		}
		c.addController("kube-scheduler", build.Scheduler, schedulerFlags(s, kubeconfig), client)
	}
	return nil
}

func (c *Cluster) addController(name string, kind build.Component, f flags, client *http.Client) {
	c.add(&component{
		name: name, kind: kind, version: c.cfg.ControlPlane.Version, gates: c.cfg.ControlPlane.Gates,
		prepare: func(gates release.Gates) ([]string, error) {
			f := maps.Clone(f)
			if len(gates) > 0 {
				f["feature-gates"] = gates.Flag()
			}
			return f.args(), nil
		},
		ready: healthy(client, fmt.Sprintf("https://%s:%s/healthz", f["bind-address"], f["secure-port"])),
	})
}

func (c *Cluster) defineKubelet(node Node, addresses netip.Prefix, client *http.Client) error {
	dirs := c.kubeletDirs(node.Name)
	for _, dir := range []string{dirs.state(), dirs.staticPods(), dirs.podLogs()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	address := nodeAddress(addresses).String()
	cert, key, err := c.creds.issue("kubelet-"+node.Name, pki.Request{CommonName: node.Name, Hosts: []string{address, node.Name}})
	if err != nil {
		return err
	}
	kubeconfig, err := c.kubeconfigOf("kubelet/"+node.Name, "kubelet-"+node.Name, nodeIdentity(node.Name))
	if err != nil {
		return err
	}
	endpoint, err := c.startRuntime(NodeInfo{Name: node.Name, Socket: filepath.Join(dirs.root, "cri.sock"), Addresses: addresses})
	if err != nil {
		return err
	}
	s := serving{address: address, cert: cert, key: key}
	comp := &component{
		name: "kubelet/" + node.Name, kind: build.Kubelet, version: node.Version, gates: node.Gates, address: address,
		standalone: node.Standalone,
		prepare: func(gates release.Gates) ([]string, error) {
			config := kubeletConfig(dirs, endpoint, c.creds.caFile(), s, gates)
			flags := kubeletFlags(node.Name, kubeconfig, dirs)
			if node.Standalone {
				standalone(config, flags)
			}
			text, err := json.MarshalIndent(config, "", "  ")
			if err != nil {
				return nil, err
			}
			return flags.args(), os.WriteFile(dirs.config(), text, 0o600)
		},
		ready: healthy(client, fmt.Sprintf("http://%s:%d/healthz", address, kubeletHealthPort)),
	}
	c.add(comp)
	if node.Clock != nil {
		return c.addClock(comp, dirs.root, *node.Clock)
	}
	return nil
}

// startRuntime starts a node's container runtime, which lives as long as the
// rig: kubelets come and go before it.
func (c *Cluster) startRuntime(info NodeInfo) (endpoint string, err error) {
	r, err := c.cfg.Runtime(info)
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runtimes[info.Name] = r
	return r.Endpoint(), nil
}

func nodeAddress(addresses netip.Prefix) netip.Addr { return addresses.Addr().Next() }

// environment is what components see of the user's environment: where
// temporary files go, and nothing that would change what they do.
func (c *Cluster) environment() []string {
	return []string{"HOME=" + c.guard.Dir(), "TMPDIR=" + c.guard.Dir(), "PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
}

func (c *Cluster) healthClient() (*http.Client, error) {
	config, err := rest.TLSConfigFor(c.rest)
	if err != nil {
		return nil, err
	}
	return &http.Client{
		Timeout:   2 * time.Second,
		Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true},
	}, nil
}

// healthy asks a health endpoint.
func healthy(client *http.Client, url string) func(context.Context) error {
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
		if resp.StatusCode == http.StatusOK {
			return nil
		}
		return errors.Join(fmt.Errorf("%s answers %s: %s", url, resp.Status, body), err)
	}
}
