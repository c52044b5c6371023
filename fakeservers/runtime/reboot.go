package runtime

import (
	"context"
	"fmt"
	"strings"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/record"
)

// What containerd reports for a container that ran when it was last there, and whose process
// is gone (internal/cri/server/restart.go).
const (
	lostCode   = 255
	lostReason = "Unknown"
)

// Reboot ends all containers at once, as a power cut does: no program is asked to end, or runs
// a hook. What is left is what containerd finds when the machine is up again: the sandboxes are
// not ready, what ran has ended for a reason that is not known, and images, logs and host paths
// are as they were. It returns when all programs have ended.
func (r *Runtime) Reboot(context.Context) error {
	sandboxes, processes := r.cutPower()
	for _, p := range processes {
		p.kill()
	}
	patience, cancel := context.WithTimeout(r.alive, r.patience)
	defer cancel()
	for _, p := range processes {
		if p.wait(patience) != nil {
			return fmt.Errorf("rebooting node %s: killed, but still running: %s", r.config.Node, strings.Join(r.survivors(), ", "))
		}
	}
	for _, b := range sandboxes {
		if r.retireSandbox(b) {
			r.record(b.path, record.SandboxStopped{ID: b.id, Attempt: b.config.Metadata.Attempt})
		}
	}
	return nil
}

// cutPower has nothing start in the sandboxes that there are, and returns them with what runs.
func (r *Runtime) cutPower() (sandboxes []*sandbox, processes []*process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range r.selectSandboxes(nil) {
		b.stopping = true
		sandboxes = append(sandboxes, b)
	}
	for _, c := range r.selectContainers(nil) {
		if c.state == cri.ContainerState_CONTAINER_RUNNING {
			c.process.lost = true
			processes = append(processes, c.process)
		}
	}
	return sandboxes, processes
}
