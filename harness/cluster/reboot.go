package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/skewrig/skewrig/record"
)

// Reboot reboots a node: its kubelet and all of its containers end without a warning, as with
// a power cut, and the kubelet is started again as it was, with another boot ID. What is on
// disk stays. It returns when the kubelet is ready, as Start does.
func (c *Cluster) Reboot(ctx context.Context, node string) error {
	c, comp, err := c.find("kubelet/" + node)
	if err != nil {
		return err
	}
	before := comp.boot.Load()
	if err := errors.Join(c.Kill(comp.name), c.Runtime(node).Reboot(ctx), c.boot(comp)); err != nil {
		return err
	}
	c.cfg.Recorder.Append("cluster", node, record.NodeRebooted{Before: *before, BootID: *comp.boot.Load()})
	return c.Start(ctx, comp.name, Change{})
}

// boot gives the node of a kubelet another boot ID, in the form of /proc/sys/kernel/random/boot_id.
func (c *Cluster) boot(comp *component) error {
	id := string(uuid.NewUUID())
	comp.boot.Store(&id)
	if err := os.WriteFile(c.kubeletDirs(comp.node).bootID(), []byte(id+"\n"), 0o600); err != nil {
		return fmt.Errorf("booting node %s: %w", comp.node, err)
	}
	return nil
}
