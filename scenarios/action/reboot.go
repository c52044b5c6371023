package action

import (
	"context"

	"github.com/skewrig/skewrig/scenarios/spec"
)

// Reboot reboots a node, by its name: its kubelet and all of its containers end without a
// warning, its boot ID changes, and the kubelet is started again as it was. What is on disk
// stays.
type Reboot string

func (n Reboot) Check(f spec.Field) {
	f.Refuse("", n == "", "the name of the node is empty")
}

func (n Reboot) Change(r *spec.Rig) {
	if n == "" {
		return
	}
	if _, other := r.Component(string(n)); other {
		r.Conflict("", "%s is no node: a node with a kubelet is rebooted, by its name", n)
		return
	}
	if c := r.Find("", spec.KubeletPrefix+string(n)); c != nil && !c.Running {
		r.Conflict("", "%s is not running: start it first", c.Name)
	}
}

func (n Reboot) Describe() string { return OneLine("reboot " + string(n)) }

func (n Reboot) Run(ctx context.Context, rig Rig) error { return rig.Reboot(ctx, string(n)) }

// Facts are those of a node that reboots.
func (n Reboot) Facts() Facts {
	kubelet := spec.KubeletPrefix + string(n)
	return Facts{Needs: NeedsReboots, Component: kubelet, Reach: ReachOwn, Changes: true, Ends: []string{kubelet}, Estimate: startEstimate}
}
