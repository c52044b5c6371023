package app

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/reports"
)

// ProviderConfigKind is the kind of a ProviderConfig.
const ProviderConfigKind = "ProviderConfig"

// ProviderConfig is a file of settings of what cells run on. Of several sections, a run reads those of its provider. The
// paths in it begin in the directory of the file.
type ProviderConfig struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Rig has the settings of rigs.
	Rig RigSettings `json:"rig,omitzero"`
	// KindClusters has the settings of kind clusters (--provider kind).
	KindClusters KindSettings `json:"kindClusters,omitzero"`
	// Cluster names an existing cluster, and has its settings (--provider cluster and --jobs).
	Cluster ClusterSettings `json:"cluster,omitzero"`
	// Jobs has the settings of the Job whose indexes are shards (--jobs).
	Jobs JobSettings `json:"jobs,omitzero"`
}

// RigSettings are the settings of rigs.
type RigSettings struct {
	// Isolate gives each cell a control plane of its own. If unset, cells share one where they can't notice.
	Isolate bool `json:"isolate,omitempty"`
}

// KindSettings are the settings of kind clusters.
type KindSettings struct {
	// NodeImages are the node images of releases. A release that is not among them has the image that skewrig build
	// node-image built, or kindest/node of that release.
	NodeImages map[string]string `json:"nodeImages,omitempty"`
}

// ClusterSettings are the settings of an existing cluster.
type ClusterSettings struct {
	// Kubeconfig is the path of the kubeconfig. If unset, it is the one that kubectl uses.
	Kubeconfig string `json:"kubeconfig,omitempty"`
	// Context is the context in the kubeconfig. If unset, it is the current one.
	Context string `json:"context,omitempty"`
	// Nodes selects the nodes that cells may use, by their labels. If unset, all that are ready are used.
	Nodes string `json:"nodes,omitempty"`
	// Images are patterns of images that the nodes can pull, of those that scenarios have fake servers for; * matches
	// all but /. If unset, there are none.
	Images []string `json:"images,omitempty"`
	// MockImage is an image that the nodes can pull, which mocks those of scenarios (skewrig build mock-image). If unset,
	// nodes pull the images of scenarios.
	MockImage string `json:"mockImage,omitempty"`
}

// JobSettings are the settings of a Job.
type JobSettings struct {
	// Image is the image that runs, with skewrig and its components.
	Image string `json:"image,omitempty"`
	// Namespace is the namespace of the Job. If unset, it is that of the context.
	Namespace string `json:"namespace,omitempty"`
	// Patch is the path of a patch of the Job, such as resources or imagePullSecrets. If unset, there is none.
	Patch string `json:"patch,omitempty"`
}

// ReadProviderConfig reads a file of settings. Everything that is wrong with it is reported.
func ReadProviderConfig(name string) (c ProviderConfig, _ error) {
	text, err := files.Read(name, files.MaxText)
	if errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	if err != nil {
		return c, Failed(err)
	}
	document := strict.ReadDocument(name, text, &c)
	document.Constant("apiVersion", c.APIVersion, reports.APIVersion)
	document.Constant("kind", c.Kind, ProviderConfigKind)
	for _, path := range []*string{&c.Cluster.Kubeconfig, &c.Jobs.Patch} {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(filepath.Dir(name), *path)
		}
	}
	return c, document.Err()
}

// Values returns the settings that are given, each as its values on a command line, by their paths in the file.
func (c ProviderConfig) Values() map[string][]string {
	values := map[string][]string{
		"cluster.kubeconfig": {c.Cluster.Kubeconfig}, "cluster.context": {c.Cluster.Context}, "cluster.nodes": {c.Cluster.Nodes},
		"cluster.images": c.Cluster.Images, "cluster.mockImage": {c.Cluster.MockImage},
		"jobs.image": {c.Jobs.Image}, "jobs.namespace": {c.Jobs.Namespace}, "jobs.patch": {c.Jobs.Patch},
	}
	if c.Rig.Isolate {
		values["rig.isolate"] = []string{"true"}
	}
	for _, release := range slices.Sorted(maps.Keys(c.KindClusters.NodeImages)) {
		values["kindClusters.nodeImages"] = append(values["kindClusters.nodeImages"], release+"="+c.KindClusters.NodeImages[release])
	}
	maps.DeleteFunc(values, func(_ string, v []string) bool { return len(v) == 0 || v[0] == "" })
	return values
}
