package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/skewrig/skewrig/fakeservers/container/collect"
	"github.com/skewrig/skewrig/harness/existing"
	"github.com/skewrig/skewrig/harness/existing/facts"
	"github.com/skewrig/skewrig/harness/kind"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/fit"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// madeNodes are the nodes of a cluster that was made for cells.
type madeNodes struct {
	kind    *Kind
	cluster *kind.Cluster
	api     *existing.Cluster // once it is there
	hub     *byNamespace
	nodes   map[string]record.Node // as they are now, by their names

	collectors []*collect.Collector // of what their containers record
}

// collect begins to collect what the containers of nodes record.
func (m *madeNodes) collect(nodes []kind.Node) error {
	for _, n := range nodes {
		c, err := collect.Listen(collect.Config{Dir: m.cluster.Recorded(n.Name), Recorder: m.hub, Path: func(_ context.Context, id string) (string, error) {
			path, known := m.cluster.Path(n.Name, id)
			if !known {
				return "", errors.New("no kubelet made it")
			}
			return path, nil
		}})
		if err != nil {
			return err
		}
		m.collectors = append(m.collectors, c)
	}
	return nil
}

// close ends the cluster. What its containers recorded and is lost is an error.
func (m *madeNodes) close() error {
	err := m.cluster.Close()
	for _, c := range m.collectors {
		err = errors.Join(err, c.Close())
	}
	return err
}

// read reads what the cluster is.
func (m *madeNodes) read(ctx context.Context) (facts.Cluster, error) {
	return m.api.Read(ctx, existing.Wanted{ServerGates: true, NodeGates: true})
}

// restart restarts a kubelet, as another release and with other gates if those are given. What it
// is then is read from it, and not what it was to be.
func (m *madeNodes) restart(ctx context.Context, r *run, to action.Restart) error {
	name := strings.TrimPrefix(to.Component, spec.KubeletPrefix)
	is := m.nodes[name]
	if !to.Stopped {
		if err := m.stop(ctx, r, name, m.cluster.StopKubelet); err != nil {
			return err
		}
	}
	image := ""
	if to.Version != "" && to.Version != is.Version {
		is.Version, image = to.Version, m.kind.Images[to.Version]
	}
	is.Gates = is.Gates.With(to.Gates, to.Unset...)
	began := time.Now()
	if err := m.cluster.StartKubelet(ctx, name, image, is.Gates); err != nil {
		return err
	}
	ready := time.Since(began).Seconds()
	m.nodes[name] = is
	now, err := m.read(ctx)
	if err != nil {
		return err
	}
	cell := plan.Cell{Topology: record.Topology{Version: r.cell.Topology.Version, Nodes: []record.Node{is}}}
	on := fit.OfMade(cell, now)
	if len(on.Reasons) > 0 {
		return fmt.Errorf("the kubelet was restarted: %s", on.Reason())
	}
	started := kubeletOf(on.Nodes[name], is.Gates)
	started.ReadySeconds = ready
	r.history.Append("cluster", to.Component, started)
	return nil
}

// stop ends a kubelet, and records it.
func (m *madeNodes) stop(ctx context.Context, r *run, name string, end func(context.Context, string) error) error {
	began := time.Now()
	if err := end(ctx, name); err != nil {
		return err
	}
	r.history.Append("cluster", spec.KubeletPrefix+name, record.ComponentStopped{State: "stopped by systemd", Asked: true, Seconds: time.Since(began).Seconds()})
	return nil
}

// get asks the API server, or a kubelet through it, for what is at a path.
func (m *madeNodes) get(ctx context.Context, component, path, accept string) (body []byte, code int, err error) {
	if component == spec.APIServer {
		return getFrom(ctx, m.api.RESTConfig(), path, accept)
	}
	node := strings.TrimPrefix(component, spec.KubeletPrefix)
	return getFrom(ctx, m.api.RESTConfig(), "/api/v1/nodes/"+node+"/proxy"+path, accept)
}

// log is what a kubelet has said so far.
func (m *madeNodes) log(ctx context.Context, component string) ([]byte, error) {
	return m.cluster.KubeletLog(ctx, strings.TrimPrefix(component, spec.KubeletPrefix))
}
