package cluster

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/skewrig/skewrig/record"
)

// RemoveStaticPod takes the manifest of a static pod away. It returns before the
// pod has ended. The name is the one in the manifest, without the node's.
func (c *Cluster) RemoveStaticPod(node, name string) error {
	if _, _, err := c.find("kubelet/" + node); err != nil {
		return err
	}
	if name != filepath.Base(name) {
		return fmt.Errorf("%q can't be the name of a static pod", name)
	}
	dirs := c.kubeletDirs(node)
	return os.Remove(filepath.Join(dirs.staticPods(), name+".json"))
}

// RunStaticPod puts a pod's manifest where the node's kubelet looks for static
// pods, in place of one of the same name. It returns before the pod runs. The
// kubelet appends the node's name to the pod's.
func (c *Cluster) RunStaticPod(node string, pod map[string]any) error {
	if _, _, err := c.find("kubelet/" + node); err != nil {
		return err
	}
	metadata, _ := pod["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	if name == "" || name != filepath.Base(name) {
		return fmt.Errorf("the static pod has the name %q, which can't be a file's", name)
	}
	namespace, _ := metadata["namespace"].(string)
	if namespace == "" {
		namespace = "default"
	}
	if c.cfg.Suffix != "" {
		pod, metadata = maps.Clone(pod), maps.Clone(metadata)
		metadata["namespace"], pod["metadata"] = c.Namespace(namespace), metadata
	}
	manifest, err := json.Marshal(pod)
	if err != nil {
		return fmt.Errorf("encoding the static pod %s: %w", name, err)
	}
	// The kubelet reads whatever appears in the directory: the file has to be
	// whole from the beginning.
	dirs := c.kubeletDirs(node)
	whole := filepath.Join(dirs.root, name+".static-pod")
	if err := os.WriteFile(whole, manifest, 0o600); err != nil {
		return err
	}
	c.cfg.Recorder.Append("cluster", namespace+"/"+name+"-"+node, record.StaticPodWritten{Node: node, Pod: manifest})
	return os.Rename(whole, filepath.Join(dirs.staticPods(), name+".json"))
}
