package app

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// kindAPIVersion is that of the cluster files of sigs.k8s.io/kind.
const kindAPIVersion = "kind.x-k8s.io/v1alpha4"

// imageRelease finds the release in the image of a kind node.
var imageRelease = regexp.MustCompile(`^kindest/node:(v[^@]+)`)

// kindCell reads a kind cluster file, and returns false for any other file. Who
// has such a file for a mixed-version cluster gets the same cluster without
// containers: the releases come from the nodes' images, feature gates are set
// on every component, as kind does. What of the file makes no difference to a
// rig is reported to w.
func kindCell(w io.Writer, path string, newest release.Version) (plan.Cell, bool, error) {
	text, err := files.Read(path, files.MaxText)
	if err != nil {
		return plan.Cell{}, false, nil //nolint:nilerr // Select says what is wrong
	}
	var fields map[string]any
	if err := yaml.Unmarshal(text, &fields); err != nil || fields["apiVersion"] != kindAPIVersion {
		return plan.Cell{}, false, nil //nolint:nilerr // the decoder of scenarios says what is wrong
	}
	var cluster v1alpha4.Cluster
	var topology record.Topology
	if err = yaml.UnmarshalStrict(text, &cluster); err == nil {
		topology, err = kindTopology(cluster, newest)
	}
	if err != nil {
		return plan.Cell{}, true, fmt.Errorf("reading the kind cluster %s: %w", path, err)
	}
	if ignored := kindIgnored(fields); len(ignored) > 0 {
		fmt.Fprintf(w, "%s: ignored, a rig does not support it: %s\n", path, strings.Join(ignored, ", "))
	}
	return plan.Cell{ID: path, File: path, Topology: topology}, true, nil
}

// kindIgnored lists the fields of a kind cluster that a rig takes no notice of.
func kindIgnored(cluster map[string]any) (fields []string) {
	unused := func(at string, object map[string]any, used ...string) {
		for _, field := range slices.Sorted(maps.Keys(object)) {
			if !slices.Contains(used, field) {
				fields = append(fields, at+field)
			}
		}
	}
	unused("", cluster, "kind", "apiVersion", "name", "nodes", "featureGates")
	nodes, _ := cluster["nodes"].([]any)
	for i, n := range nodes {
		node, _ := n.(map[string]any)
		unused(fmt.Sprintf("nodes[%d].", i), node, "role", "image")
	}
	return fields
}

func kindTopology(cluster v1alpha4.Cluster, newest release.Version) (record.Topology, error) {
	topology := record.Topology{Version: newest, Gates: cluster.FeatureGates, ControllerManager: true, Scheduler: true}
	nodes := cluster.Nodes
	if len(nodes) == 0 {
		nodes = []v1alpha4.Node{{Role: v1alpha4.ControlPlaneRole}}
	}
	var problems []error
	count := make(map[v1alpha4.NodeRole]int)
	for i, node := range nodes {
		version, err := kindVersion(node, newest)
		if err != nil {
			problems = append(problems, fmt.Errorf("nodes[%d]: %w", i, err))
			continue
		}
		if node.Role != v1alpha4.WorkerRole {
			node.Role, topology.Version = v1alpha4.ControlPlaneRole, version
		}
		count[node.Role]++
		topology.Nodes = append(topology.Nodes, record.Node{
			Name: kindName(node.Role, count[node.Role]), Version: version, Gates: maps.Clone(cluster.FeatureGates),
		})
	}
	if count[v1alpha4.ControlPlaneRole] != 1 {
		problems = append(problems, fmt.Errorf("%d nodes have the role control-plane: a rig has one", count[v1alpha4.ControlPlaneRole]))
	}
	return topology, errors.Join(append(problems, kindConflicts(topology)...)...)
}

// kindVersion is the release of a node's image. Without an image, the newest.
func kindVersion(node v1alpha4.Node, newest release.Version) (release.Version, error) {
	if node.Image == "" {
		return newest, nil
	}
	found := imageRelease.FindStringSubmatch(node.Image)
	if found == nil {
		return "", fmt.Errorf("the image %q does not name a release, like kindest/node:%s", node.Image, newest)
	}
	return release.Parse(found[1])
}

// kindName names nodes as kind does: worker, worker2, worker3.
func kindName(role v1alpha4.NodeRole, n int) string {
	if n == 1 {
		return string(role)
	}
	return fmt.Sprintf("%s%d", role, n)
}

// kindConflicts finds gates that a release of the cluster doesn't have, and
// kubelets that are too old for the control plane.
func kindConflicts(topology record.Topology) (problems []error) {
	for _, node := range topology.Nodes {
		if release.SkewOf(release.Effective{Version: topology.Version}, node.Version) == release.SkewTooOld {
			problems = append(problems, fmt.Errorf("node %s: %s with a control plane of %s: %s", node.Name, node.Version, topology.Version, release.SkewTooOld))
		}
		for gate := range node.Gates {
			if err := release.CheckGate(release.Effective{Version: node.Version}, gate); err != nil {
				problems = append(problems, fmt.Errorf("node %s: %w", node.Name, err))
			}
		}
		for _, c := range release.GateConflicts(release.Effective{Version: node.Version}, node.Gates) {
			problems = append(problems, fmt.Errorf("node %s: %s", node.Name, c.Message))
		}
	}
	return problems
}
