package cluster

import (
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/util/uuid"
)

// boot gives the node of a kubelet another boot ID, in the form of /proc/sys/kernel/random/boot_id.
func (c *Cluster) boot(comp *component) error {
	id := string(uuid.NewUUID())
	comp.boot.Store(&id)
	if err := os.WriteFile(c.kubeletDirs(comp.node).bootID(), []byte(id+"\n"), 0o600); err != nil {
		return fmt.Errorf("booting node %s: %w", comp.node, err)
	}
	return nil
}
