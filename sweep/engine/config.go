// Package engine runs sweeps on real components: it makes the objects of a plan, changes the control plane, and
// mutates the objects. Package trial says which objects and changes, and what is wrong with what was seen.
package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/apitypes"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/sweep/gated"
	"github.com/skewrig/skewrig/sweep/trial"
)

// Config says what to sweep.
type Config struct {
	// Release has the gates, and API its types.
	Release gated.Release
	API     *apitypes.API
	// Gates are those that are swept. If unset, all that can be set and guard fields. One that guards no field is turned
	// on and off while there are ordinary objects.
	Gates []string
	// Kinds are the kinds of objects. If unset, all that have a field, and ordinary ones.
	Kinds []string
	// Metrics are names of metrics to look for in each component. If unset, none are read.
	Metrics []string
	// Cluster is the rig of a topology, with what its nodes run.
	Cluster func(record.Topology, record.Recorder) cluster.Config
	// Binary finds the executable of a component. Builder.Binary does.
	Binary func(context.Context, build.Target) (build.Binary, error)
	// Tell is called with what the sweep does. If unset, that is not reported.
	Tell func(string)
}

// Output is where a control plane leaves what it does.
type Output struct {
	// History takes the record. It ends with the run.
	History *record.History
	// LogDir takes the components' logs.
	LogDir string
}

// On are the gates that are turned on, and off: those that are swept, with what they need.
func (cfg Config) On() release.Gates {
	on := make(release.Gates)
	for _, g := range cfg.Release.Gates {
		named := slices.Contains(cfg.Gates, g.Name)
		if named && (!g.Locked || g.Default) || len(cfg.Gates) == 0 && len(g.Fields) > 0 && !g.Locked {
			on[g.Name] = true
		}
	}
	return release.WithDependents(cfg.effective(), on)
}

func (cfg Config) effective() release.Effective {
	return release.Effective{Version: cfg.Release.Version}
}

// cluster has API servers that serve all versions of all kinds, a controller manager that is not
// held back by its own limits and whose requests are recorded, and a node, if the change is about one.
func (cfg Config) cluster(ctx context.Context, transition trial.Transition, out Output) (c cluster.Config, err error) {
	v, on := cfg.Release.Version, cfg.On()
	all := record.Settings{Flags: map[string]string{"runtime-config": "api/all=true"}}
	fast := record.Settings{Flags: map[string]string{"kube-api-qps": "1000", "kube-api-burst": "2000"}}
	t := record.Topology{
		Version: v, Gates: on, ControllerManager: true, Observed: cfg.observed(),
		Links: []record.Link{{From: transition.Manager(), To: record.APIServer}}, Inspected: []string{transition.Manager()},
	}
	for _, name := range transition.Servers() {
		t.Members = append(t.Members, record.Component{Name: name, Version: v, Gates: on, Settings: all})
	}
	manager := record.Component{Name: transition.Manager(), Version: v, Gates: on, Settings: fast}
	if transition.HasTwoServers() {
		manager.Via = []string{record.Member(trial.ControllersServer)}
	}
	t.Members = append(t.Members, manager)
	if transition.HasScheduler() {
		gates, err := cfg.known(ctx, record.Scheduler, on)
		if err != nil {
			return c, err
		}
		t.Members = append(t.Members, record.Component{Name: record.Scheduler, Version: v, Gates: gates})
	}
	if transition.HasNode() {
		t.Nodes = []record.Node{{Name: trial.Node, Version: v, Gates: on}}
	}
	if cfg.isRollback(transition) {
		downgrade(&t, transition)
	}
	c = cfg.Cluster(t, out.History)
	c.Binary, c.Purpose, c.LogDir = cfg.Binary, "sweep", out.LogDir
	return c, nil
}

// isRollback reports whether components change to an older release: then they begin as that one.
func (cfg Config) isRollback(transition trial.Transition) bool {
	return transition.To != "" && transition.To.Minor() < cfg.Release.Version.Minor()
}

// downgrade has what changes be as it is in the older release: without gates.
func downgrade(t *record.Topology, transition trial.Transition) {
	for n, c := range t.Members {
		if !slices.Contains(transition.At, c.Name) {
			continue
		}
		t.Members[n].Gates = nil
		if transition.Emulates {
			t.Members[n].EmulatedVersion = release.Version(transition.To.MajorMinor())
		} else {
			t.Members[n].Version = transition.To
		}
	}
	for n := range t.Nodes {
		if transition.Has(trial.Kubelet) {
			t.Nodes[n].Version, t.Nodes[n].Gates = transition.To, nil
		}
	}
}

// ordinary are kinds of which an object without a gated field is made if a gate guards none.
var ordinary = []string{
	"apps/v1 DaemonSet", "apps/v1 Deployment", "apps/v1 ReplicaSet", "apps/v1 StatefulSet", "autoscaling/v2 HorizontalPodAutoscaler",
	"batch/v1 CronJob", "batch/v1 Job", "policy/v1 PodDisruptionBudget", "v1 ConfigMap", "v1 PersistentVolumeClaim", "v1 Pod",
	"v1 Secret", "v1 Service",
}

// Bare are the gates that are asked for and guard no field.
func (cfg Config) Bare() (all []string) {
	for _, g := range cfg.Release.Gates {
		if len(g.Fields) == 0 && slices.Contains(cfg.Gates, g.Name) {
			all = append(all, g.Name)
		}
	}
	return all
}

// ordinaryKinds are the ordinary kinds that are swept.
func (cfg Config) ordinaryKinds() (all []string) {
	if len(cfg.Bare()) == 0 {
		return nil
	}
	for _, kind := range ordinary {
		if _, name, _ := strings.Cut(kind, " "); cfg.wantsKind(name) {
			all = append(all, kind)
		}
	}
	return all
}

// observed are the resources of kinds that are swept.
func (cfg Config) observed() []string {
	observed := make(map[string]bool)
	for _, kind := range cfg.ordinaryKinds() {
		_, name, _ := strings.Cut(kind, " ")
		observed[strings.ToLower(name)] = true
	}
	for _, f := range cfg.Release.Fields() {
		for _, p := range f.Places {
			if cfg.wantsKind(p.Kind) {
				observed[strings.ToLower(p.Kind)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(observed))
}

func (cfg Config) wantsKind(name string) bool {
	return len(cfg.Kinds) == 0 || slices.Contains(cfg.Kinds, name)
}

func (cfg Config) tell(format string, args ...any) {
	if cfg.Tell != nil {
		cfg.Tell(fmt.Sprintf(format, args...))
	}
}

// Lacks says what a release with some types lacks of objects.
func Lacks(v release.Version, api *apitypes.API) func(trial.Use) trial.Lack {
	kinds := make(map[string]apitypes.Kind)
	for _, k := range gated.Served(v, api) {
		kinds[k.String()] = k
	}
	return func(u trial.Use) trial.Lack {
		kind, is := kinds[u.APIVersion+" "+u.Kind]
		if !is {
			return trial.LacksKind
		}
		for _, f := range u.Fields() {
			if !hasPath(api, kind.Type, strings.Split(f.Path, ".")) {
				return trial.LacksField
			}
		}
		return ""
	}
}

func hasPath(api *apitypes.API, t *apitypes.Type, path []string) bool {
	f, is := api.Field(t, strings.TrimRight(path[0], "[]{}"))
	if !is || len(path) == 1 {
		return is
	}
	below, is := api.Type(api.Resolve(f.Type).Name)
	return is && hasPath(api, below, path[1:])
}
