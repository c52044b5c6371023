package simulate

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/skewrig/skewrig/harness/garden"
	"github.com/skewrig/skewrig/harness/lease"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/model/watchdog"
	"github.com/skewrig/skewrig/scenarios/model/world"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// happened records what happened in the world.
func (p *play) happened(_ time.Time, e world.Event) {
	if p.world == nil {
		return // it is being made
	}
	switch e := e.(type) {
	case world.NodeChanged:
		p.recordNode(e.Node)
	case world.Changed:
		p.recordDeployment(e.Dependent, e.Change.To(p.world.Deployment(e.Dependent)))
	case world.ReplicasReady:
		p.recordDeployment(e.Deployment, p.world.Deployment(e.Deployment))
	case world.ControllerRuns:
		p.recordController(e.Runs)
	case world.Probed:
		p.recordProbe(e.Outcome)
	}
}

// recordController records that the controller manager has started, or that it was stopped. A rig without one has none in the
// record.
func (p *play) recordController(runs bool) {
	switch t := p.cell.Topology; {
	case !t.ControllerManager:
	case runs:
		p.append("cluster", record.ControllerManager, record.ComponentStarted{Version: t.Version, Gates: t.Gates})
	default:
		p.append("cluster", record.ControllerManager, record.ComponentStopped{State: "exited", Asked: true})
	}
}

// recordProbe records the requests of a probe, as they would be seen on the
// watchdog's link to the shoot.
func (p *play) recordProbe(o watchdog.Outcome) {
	for _, c := range watchdog.BehaviorOf(string(p.cell.Topology.Garden.Watchdog)).Calls {
		if !c.Call.ToShoot() {
			continue
		}
		r := record.LinkRequest{Method: http.MethodGet, Path: pathOf(c.Call), Code: http.StatusOK}
		if c.Call == o.Failed {
			// Without a status, there was no answer.
			r.Code, r.Answered = p.faults.watchdog.Status, p.faults.watchdog.Status != 0
		}
		p.append("link", spec.WatchdogToShoot, r)
		if c.Call == o.Failed {
			return
		}
	}
}

// recordAges records the ages of leases.
func (p *play) recordAges() {
	var leases record.LeaseAges
	for _, z := range p.cell.Topology.LeaseNodes.Zones {
		nodes, _ := p.in(strings.TrimSuffix(lease.Component+"/"+z.Name, "/"))
		ages := make([]time.Duration, len(nodes))
		for k, i := range nodes {
			ages[k] = p.world.Age(i)
		}
		leases.Zones = append(leases.Zones, lease.AgesOf(z.Name, ages))
	}
	p.append("lease-nodes", lease.Component, leases)
}

// recordNode records a node as the API server shows it.
func (p *play) recordNode(i int) {
	name := nodeName(i)
	p.recordObject("", "nodes", "", name, map[string]any{
		"metadata": map[string]any{"name": name, "labels": map[string]string{"topology.kubernetes.io/zone": p.nodes[i]}},
		"status":   map[string]any{"conditions": []map[string]string{{"type": "Ready", "status": string(p.world.Node(i).Ready)}}},
	})
}

func nodeName(i int) string { return fmt.Sprintf("node-%d", i) }

// recordDeployment records a dependent as the seed's API server shows it.
func (p *play) recordDeployment(name string, d watchdog.Resource) {
	p.recordObject(garden.Seed, "deployments", garden.Namespace, name, map[string]any{
		"metadata": map[string]any{"name": name, "namespace": garden.Namespace, "annotations": d.Annotations},
		"spec":     map[string]any{"replicas": d.Replicas},
		"status":   map[string]any{"readyReplicas": d.Ready},
	})
}

func (p *play) recordObject(in, resource, namespace, name string, object map[string]any) {
	text, err := json.Marshal(object)
	if err != nil {
		return // it holds nothing that has no JSON
	}
	ref := spec.ObjectRef{Cluster: in, Resource: resource, Namespace: namespace, Name: name}
	p.append("watch", ref.String(), record.ObjectObserved{
		Cluster: in, Change: "modified", Resource: resource, Namespace: namespace, Name: name, Object: text,
	})
}
