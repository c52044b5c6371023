package oracle

import (
	"encoding/json"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/model/watchdog"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// decisions looks at each list of leases that a watchdog got, and at what it
// scaled until it probed again: that must be what the model of its release says,
// given the same leases, nodes, machines and dependents. Nothing may be scaled
// without such a list.
func decisions(r *run) finding {
	g := r.cell.Topology.Garden
	if g == nil || g.Watchdog == "" {
		return finding{}
	}
	d := &deciding{
		config: watchdog.ConfigOf(g.Prober), nodes: make(map[string]watchdog.Node),
		machines: make(map[string]string), dependents: make(map[string]watchdog.Resource),
	}
	shoot := map[string]any{"spec": map[string]any{"shoot": g.Shoot}}
	if c, err := watchdog.ClusterOf(shoot); err == nil {
		d.config = d.config.For(*c)
	}
	for _, e := range r.Events {
		d.see(e)
	}
	return d.finding
}

// deciding follows a watchdog through a record.
type deciding struct {
	finding
	behavior   watchdog.Behavior
	config     watchdog.Config
	nodes      map[string]watchdog.Node
	machines   map[string]string // phases that the scenario has set, by node
	dependents map[string]watchdog.Resource
	probe      *probe // whose consequences are awaited; nil if there is none
}

// probe is one that has seen leases.
type probe struct {
	verdict watchdog.Verdict
	// sure is true if the verdict does not depend on when it was made, and the
	// dependents were not changed by another client meanwhile.
	sure   bool
	before map[string]watchdog.Resource // the dependents as they were then
	scaled map[string]bool              // those that were scaled since
}

func (d *deciding) see(e record.Event) {
	switch e.Kind {
	case record.ComponentStarted{}.EventKind():
		if started, ok := record.As[record.ComponentStarted](e); ok && e.Subject == spec.Watchdog {
			d.behavior = watchdog.BehaviorOf(string(started.Version))
		}
	case record.ComponentStopped{}.EventKind():
		d.probe = nil // it may have been about to
	case record.ObjectObserved{}.EventKind():
		d.object(e)
	case record.APIAnswer{}.EventKind():
		d.answered(e)
	case record.LinkRequest{}.EventKind():
		d.request(e)
	}
}

// answered takes into account what the scenario has changed.
func (d *deciding) answered(e record.Event) {
	answer, _ := record.As[record.APIAnswer](e)
	ref, err := spec.ParseObjectRef(answer.Object)
	if err != nil || ref.Cluster != spec.Seed {
		return
	}
	if d.probe != nil {
		d.probe.sure = false
	}
	response, _ := answer.Response.(map[string]any)
	if ref.Resource == "machines" && response != nil {
		status, _ := response["status"].(map[string]any)
		current, _ := status["currentStatus"].(map[string]any)
		d.machines[strings.TrimPrefix(ref.Name, "machine-")], _ = current["phase"].(string)
	}
}

func (d *deciding) object(e record.Event) {
	seen, ok := record.As[record.ObjectObserved](e)
	if !ok {
		return
	}
	switch {
	case seen.Cluster == "" && seen.Resource == "nodes":
		d.nodes[seen.Name] = watchdog.NodeOf(seen.Name, seen.Object)
	case seen.Cluster == spec.Seed && seen.Resource == "deployments":
		var o appsv1.Deployment
		_ = json.Unmarshal(seen.Object, &o)
		dependent := watchdog.Resource{Exists: seen.Change != record.Deleted, Ready: int(o.Status.ReadyReplicas), Annotations: o.Annotations}
		if o.Spec.Replicas != nil {
			dependent.Replicas = int(*o.Spec.Replicas)
		}
		d.dependents[seen.Name] = dependent
	}
}

// request follows the watchdog: the version begins a probe, a list of leases
// decides it, and a scale that is written is what comes of it.
func (d *deciding) request(e record.Event) {
	r, ok := record.As[record.LinkRequest](e)
	if !ok {
		return
	}
	dependent, scales := strings.CutSuffix(r.Path, "/scale")
	switch {
	case e.Subject == spec.WatchdogToShoot && r.Path == "/version":
		d.end()
	case e.Subject == spec.WatchdogToShoot && r.Renewed != nil:
		d.begin(e.At, r.Renewed)
	case e.Subject == spec.WatchdogToSeed && scales && r.Method == http.MethodPut && r.Code == http.StatusOK:
		d.scaled(dependent[strings.LastIndex(dependent, "/")+1:])
	}
}

// leeway is by how much later than the answer a decision may have been made.
const leeway = 500 * time.Millisecond

// begin decides what a probe must come to.
func (d *deciding) begin(at time.Time, renewed map[string]time.Time) {
	early, late := d.judge(at, renewed), d.judge(at.Add(leeway), renewed)
	d.probe = &probe{verdict: early, sure: early.Do == late.Do, before: maps.Clone(d.dependents), scaled: make(map[string]bool)}
	d.lookedAt(d.probe.sure)
}

func (d *deciding) judge(at time.Time, renewed map[string]time.Time) watchdog.Verdict {
	var leases iter.Seq[watchdog.Lease] = func(yield func(watchdog.Lease) bool) {
		for name, when := range renewed {
			if !yield(watchdog.Lease{Renewed: when, Node: d.circumstances(name)}) {
				return
			}
		}
	}
	return d.behavior.Judge(d.config.WithDefaults(), at, leases)
}

func (d *deciding) circumstances(name string) watchdog.Circumstances {
	n, is := d.nodes[name]
	if !is {
		return watchdog.NoNode
	}
	phase := d.machines[name]
	if phase == "" {
		phase = "Running" // as the rig makes them
	}
	return watchdog.Of(n, []watchdog.Machine{{Node: name, Phase: phase}}, nil)
}

// scaled takes a request into account that scales a dependent.
func (d *deciding) scaled(dependent string) {
	if d.probe == nil {
		d.fault("%s was scaled by a watchdog that had listed no leases", dependent)
		return
	}
	d.probe.scaled[dependent] = true
	if d.probe.sure && !slices.Contains(d.due(), dependent) {
		d.fault("%s was scaled by a probe that should not scale it (%s)", dependent, d.probe.verdict.Why)
	}
}

// due are the dependents that a probe has to scale.
func (d *deciding) due() (names []string) {
	for _, level := range d.levels() {
		names = append(names, d.dueOf(level)...)
	}
	return names
}

func (d *deciding) levels() [][]watchdog.Dependent {
	if d.probe.verdict.Do == watchdog.Nothing {
		return nil
	}
	return watchdog.Plan(d.probe.verdict.Do, d.config.Dependents)
}

// dueOf are those of a level.
func (d *deciding) dueOf(level []watchdog.Dependent) (names []string) {
	for _, dependent := range level {
		changes, _, _ := d.behavior.Changes(d.probe.verdict.Do, dependent, d.probe.before[dependent.Name])
		if slices.ContainsFunc(changes, func(c watchdog.Change) bool { return c.Scale }) {
			names = append(names, dependent.Name)
		}
	}
	return names
}

// end is the next probe: what the first level has to scale has been scaled by
// then. Later ones are not reached if something went wrong with it.
func (d *deciding) end() {
	if d.probe != nil && d.probe.sure && len(d.levels()) > 0 {
		for _, name := range d.dueOf(d.levels()[0]) {
			if !d.probe.scaled[name] {
				d.fault("%s was not scaled, although the probe should %s (%s)", name, d.probe.verdict.Do, d.probe.verdict.Why)
			}
		}
	}
	d.probe = nil
}
