package existing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/harness/existing/facts"
	"github.com/skewrig/skewrig/harness/watched"
)

// version is the part of GET /version that counts (k8s.io/apimachinery, pkg/version).
type version struct {
	GitVersion     string `json:"gitVersion"`
	EmulationMajor string `json:"emulationMajor"`
	EmulationMinor string `json:"emulationMinor"`
}

func (c *Cluster) readVersion(ctx context.Context) (v version, err error) {
	body, err := c.client.Discovery().RESTClient().Get().AbsPath("/version").Do(ctx).Raw()
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(body, &v); err != nil || v.GitVersion == "" {
		return v, errors.Join(errors.New("what answers is no API server of Kubernetes"), err)
	}
	return v, nil
}

// emulated is the minor version that is emulated, or empty if it does not say.
func (v version) emulated() string {
	if v.EmulationMajor == "" || v.EmulationMinor == "" {
		return ""
	}
	return "v" + v.EmulationMajor + "." + v.EmulationMinor
}

// Wanted says what is to be read of a cluster.
type Wanted struct {
	// Nodes selects the nodes that may be used, by their labels. If unset, all may.
	Nodes string
	// ServerGates and NodeGates have the gates of the API server and of kubelets read.
	ServerGates, NodeGates bool
	// Unusable has gates read of nodes also to which no pod is to come. If unset, those of the others only.
	Unusable bool
}

// gatesOfEach is of how many nodes of each version the gates are read. In a cluster
// with a thousand nodes, those of ten will do.
const gatesOfEach = 10

// Read reads what a cluster is.
func (c *Cluster) Read(ctx context.Context, w Wanted) (facts.Cluster, error) {
	is, err := c.readVersion(ctx)
	if err != nil {
		return facts.Cluster{}, fmt.Errorf("asking for the version: %w", err)
	}
	read := facts.Cluster{Version: is.GitVersion, Emulated: is.emulated()}
	list, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: w.Nodes})
	if err != nil {
		return read, fmt.Errorf("listing the nodes: %w", err)
	}
	slices.SortFunc(list.Items, func(a, b corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(gatesOfEach)
	if w.ServerGates {
		reading.Go(func() error {
			text, err := c.metrics(ctx, "/metrics")
			read.Gates = gatesOf(text, err, "get the path /metrics")
			return ended(ctx)
		})
	}
	read.Nodes = make([]facts.Node, len(list.Items))
	asked := make(map[string]int) // by version
	for i, node := range list.Items {
		read.Nodes[i] = nodeFacts(node)
		of := &read.Nodes[i]
		switch {
		case !w.NodeGates || of.Unusable != "" && !w.Unusable:
		case asked[of.Version] >= gatesOfEach:
			of.Gates.Unread = fmt.Sprintf("those of %d nodes of each version are read", gatesOfEach)
		default:
			asked[of.Version]++
			reading.Go(func() error {
				text, err := c.kubeletMetrics(ctx, node)
				of.Gates = gatesOf(text, err, "get nodes/proxy")
				return ended(ctx)
			})
		}
	}
	err = reading.Wait() // before what it reads is returned
	return read, err
}

// nodeFacts are those that a node says itself.
func nodeFacts(node corev1.Node) facts.Node {
	f := facts.Node{Name: node.Name, Version: node.Status.NodeInfo.KubeletVersion, Unusable: unusable(node)}
	for _, i := range node.Status.Images {
		f.Images = append(f.Images, i.Names...)
	}
	for _, a := range node.Status.Addresses {
		f.Addresses = append(f.Addresses, a.Address)
	}
	return f
}

// unusable is why no pod is to come to a node; empty if pods may.
func unusable(node corev1.Node) string {
	keepsAway := func(t corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule }
	switch {
	case !watched.IsReady(&node):
		return "not ready"
	case node.Spec.Unschedulable:
		return "cordoned"
	case slices.ContainsFunc(node.Spec.Taints, keepsAway):
		return "tainted"
	case node.Status.NodeInfo.OperatingSystem != "linux":
		return "not of Linux"
	default:
		return ""
	}
}

func (c *Cluster) metrics(ctx context.Context, path string) ([]byte, error) {
	return c.client.Discovery().RESTClient().Get().AbsPath(path).Do(ctx).Raw()
}

// kubeletMetrics are those of a kubelet, through the API server. An API server relays nothing to
// a loopback address: a kubelet on this machine is asked directly.
func (c *Cluster) kubeletMetrics(ctx context.Context, node corev1.Node) ([]byte, error) {
	for _, a := range node.Status.Addresses {
		ip, err := netip.ParseAddr(a.Address)
		if err != nil || !ip.IsLoopback() {
			continue
		}
		config := rest.CopyConfig(c.rest)
		config.Host = fmt.Sprintf("https://%s", netip.AddrPortFrom(ip, uint16(node.Status.DaemonEndpoints.KubeletEndpoint.Port)))
		direct, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		return direct.Discovery().RESTClient().Get().AbsPath("/metrics").Do(ctx).Raw()
	}
	return c.metrics(ctx, "/api/v1/nodes/"+node.Name+"/proxy/metrics")
}
