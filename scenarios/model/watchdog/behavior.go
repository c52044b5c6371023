package watchdog

import "golang.org/x/mod/semver"

// Behavior is what differs between releases, and between these and the text.
type Behavior struct {
	// Since is the first release that behaves so; Text for what the text says.
	Since string
	// Calls are what a probe asks for, in this order, until one fails.
	// Source: internal/prober/prober.go.
	Calls []ProbeCall
	// Exempts are the circumstances in which a node's lease is not counted.
	// Source: internal/prober/prober.go, internal/util/node.go.
	Exempts Circumstances
	// Alone is true if a single candidate decides. Where it is false, nothing is
	// scaled, in either direction, as long as there is only one.
	// Source: internal/prober/prober.go.
	Alone bool
	// Foreign is true if everything without replicas is scaled up, whether the
	// watchdog or another client had scaled it down.
	// Source: internal/prober/scaler/scale.go.
	Foreign bool
	// Marks is true if dependents have the annotation MeltdownProtection while
	// they are scaled down, which keeps Gardener from scaling them up.
	// Source: internal/prober/scaler/scale.go, api/prober/types.go.
	Marks bool
	// Waits is true if replicas are waited for also where nothing was scaled.
	// Source: internal/prober/scaler/scale.go.
	Waits bool
	// Patient is true if a prober is started only when the cluster's last operation
	// says that the cluster has been made, and is not just waking up.
	// Source: controllers/cluster/cluster_controller.go.
	Patient bool
	// Restarts is true if a prober is started anew when the node conditions of the
	// cluster's workers have changed.
	// Source: controllers/cluster/cluster_controller.go.
	Restarts bool
}

// Text is what the text says, where it says something. It is less than what any
// release does.
const Text = "text"

// Behaviors are all behaviors, the oldest first. Releases that are not there
// behave as the one before them: v1.8.0 as v1.7.0.
func Behaviors() []Behavior {
	text := Behavior{
		Since: Text,
		Calls: []ProbeCall{{GetVersion, true}, {ListLeases, true}},
		Alone: true,
		Marks: true,
	}
	v123 := Behavior{
		Since:   "v1.2.3",
		Calls:   []ProbeCall{{ReadSecret, false}, {GetVersion, true}, {ListNodes, true}, {ListLeases, true}},
		Exempts: NoNode,
		Alone:   true,
		Foreign: true,
		Waits:   true,
		Patient: true,
	}
	// A client for each of the two probes, which finds out what the API server has
	// before it lists.
	v130 := v123
	v130.Since = "v1.3.0"
	v130.Calls = []ProbeCall{
		{ReadSecret, true}, {GetVersion, true}, {ReadSecret, true},
		{Discover, true}, {ListNodes, true}, {ListMachines, true}, {ListLeases, true},
	}
	v130.Exempts |= NotManaged | Unhealthy | NoMachine
	v130.Alone = false
	v130.Restarts = true

	v150 := v130
	v150.Since = "v1.5.0"
	v150.Marks = true

	v170 := v150
	v170.Since = "v1.7.0"
	v170.Exempts |= InPlaceUpdate
	v170.Waits = false
	return []Behavior{text, v123, v130, v150, v170}
}

// BehaviorOf returns the behavior of a release, such as v1.8.0, or of Text.
// Releases before the oldest one that is known are taken for that one.
func BehaviorOf(release string) Behavior {
	all := Behaviors()
	if release == Text {
		return all[0]
	}
	of := all[1]
	for _, b := range all[2:] {
		if semver.Compare(b.Since, release) <= 0 {
			of = b
		}
	}
	return of
}
