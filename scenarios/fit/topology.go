package fit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

// topology are the reasons that are in the topology of a cell.
func (u Use) topology(t record.Topology) (reasons []string) {
	say := func(is bool, format string, args ...any) {
		if is {
			reasons = append(reasons, fmt.Sprintf(format, args...))
		}
	}
	say(len(t.Members) > 0 && (!u.Components || !isSimple(t)), "it wants a control plane of its own: %s", strings.Join(membersOf(t), ", "))
	say(t.LeaseNodes != nil, "it wants simulated nodes")
	say(t.Garden != nil, "it wants a seed with dependency-watchdog")
	say(len(t.Links)+len(t.Inspected) > 0, "it wants links between components that can be cut or looked into")
	say(t.NodeMonitor != record.NodeMonitor{}, "it wants a controller manager with other times than the default")
	say(!t.Etcd.IsZero(), "it wants an etcd with settings of its own")
	for _, n := range t.Nodes {
		say(n.Standalone, "%s is a kubelet without an API server", n.Name)
		say(n.OwnClock, "%s has a clock of its own", n.Name)
		say(len(n.RuntimeHandlers.Names) > 0, "%s has runtime handlers of its own", n.Name)
		say(n.Endpoints, "the pods of %s report addresses that nothing reaches", n.Name)
		say(!n.IsZero() && (!u.Components || !isDropIn(n.Settings)), "the kubelet of %s has settings of its own", n.Name)
		say(len(n.Defaults) > 0, "the kubelet of %s wants the defaults of %s, and what a cluster gives it can't be read", n.Name, strings.Join(n.Defaults, ", "))
		say(n.Version == release.Reference, "%s is the reference kubelet, which is no release", n.Name)
	}
	return reasons
}

// isDropIn reports whether a drop-in file of a kubelet's configuration can express settings: they set fields of the
// configuration and remove none, and have neither flags nor an emulated version.
func isDropIn(settings record.Settings) bool {
	return len(settings.Flags) == 0 && !settings.Emulates() && !takesAway(settings.Config)
}

func takesAway(patch map[string]any) bool {
	for _, value := range patch {
		within, _ := value.(map[string]any)
		if value == nil || takesAway(within) {
			return true
		}
	}
	return false
}

// isSimple reports whether a control plane has at most one component of each program, and none with a
// configuration file.
func isSimple(t record.Topology) bool {
	var programs []string
	for _, c := range t.ControlPlane() {
		program := record.Program(c.Name)
		if slices.Contains(programs, program) || len(c.Config) > 0 {
			return false
		}
		programs = append(programs, program)
	}
	return !t.PeerProxy
}

func membersOf(t record.Topology) (all []string) {
	for _, m := range t.Members {
		all = append(all, m.Name+" "+string(m.Version))
	}
	return all
}
