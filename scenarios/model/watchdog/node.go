package watchdog

import "slices"

// Circumstances are what there is to say of a node that may keep its lease from
// being counted. The zero Circumstances are those of a node that is well.
type Circumstances uint8

// The circumstances.
const (
	// NoNode is that the lease's node is not there.
	NoNode Circumstances = 1 << iota
	// NotManaged is that the machine-controller-manager doesn't manage the node, as
	// its annotation node.machine.sapcloud.io/not-managed-by-mcm says.
	NotManaged
	// Unhealthy is that one of the node's conditions is true for which its worker
	// has machines replaced.
	Unhealthy
	// NoMachine is that the node has no machine but such as have failed or are
	// being terminated.
	NoMachine
	// InPlaceUpdate is that the node is being updated in place.
	InPlaceUpdate
)

// Node is a node as a probe sees it.
type Node struct {
	Name string
	// Worker is the label worker.gardener.cloud/pool.
	Worker string
	// Annotations are those of the node.
	Annotations map[string]string
	// Conditions are those of the node, by their types.
	Conditions map[string]Condition
}

// Condition is a condition of a node.
type Condition struct{ Status, Reason string }

// Machine is a machine as a probe sees it.
type Machine struct {
	// Node is the label node.
	Node string
	// Phase is status.currentStatus.phase.
	Phase string
}

// Of returns the circumstances of a node. Conditions are the ones that make a
// node unhealthy, of those workers that say so; for all others there is a list in
// the code (internal/util/node.go).
func Of(n Node, machines []Machine, conditions map[string][]string) Circumstances {
	var c Circumstances
	set := func(is bool, what Circumstances) {
		if is {
			c |= what
		}
	}
	_, notManaged := n.Annotations["node.machine.sapcloud.io/not-managed-by-mcm"]
	set(notManaged, NotManaged)
	set(slices.ContainsFunc(unhealthy(n.Worker, conditions), func(kind string) bool {
		return n.Conditions[kind].Status == "True"
	}), Unhealthy)
	set(!slices.ContainsFunc(machines, func(m Machine) bool {
		return m.Node == n.Name && m.Phase != "Failed" && m.Phase != "Terminating"
	}), NoMachine)
	update := n.Conditions["InPlaceUpdate"].Reason
	set(update == "ReadyForUpdate" || update == "UpdateFailed", InPlaceUpdate)
	return c
}

func unhealthy(worker string, conditions map[string][]string) []string {
	if listed, ok := conditions[worker]; ok && worker != "" {
		return listed
	}
	return unhealthyByDefault()
}

func unhealthyByDefault() []string {
	return []string{"KernelDeadlock", "ReadonlyFilesystem", "DiskPressure", "NetworkUnavailable"}
}
