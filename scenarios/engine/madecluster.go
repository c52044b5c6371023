package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/skewrig/skewrig/fakeservers/container/collect"
	"github.com/skewrig/skewrig/harness/existing"
	"github.com/skewrig/skewrig/harness/existing/facts"
	"github.com/skewrig/skewrig/harness/kind"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/fit"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// madeCluster is a cluster that was made for cells.
type madeCluster struct {
	kind    *Kind
	cluster *kind.Cluster
	api     *existing.Cluster // once it is there
	hub     *byNamespace
	nodes   map[string]record.Node // as they are now, by their names
	control []record.Component     // what of the control plane the cell has, as it is now
	made    record.Component       // as what all of the control plane was made
	watched map[string]float64     // the watches that the API server served when it was stopped last

	collectors map[string]*collect.Collector // of what the containers of nodes record
}

// collect begins to collect what the containers of nodes record.
func (m *madeCluster) collect(nodes []kind.Node) error {
	m.collectors = make(map[string]*collect.Collector)
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
		m.collectors[n.Name] = c
	}
	return nil
}

// close ends the cluster.
func (m *madeCluster) close() error {
	err := m.cluster.Close()
	for _, name := range slices.Sorted(maps.Keys(m.collectors)) {
		err = errors.Join(err, m.collectors[name].Close())
	}
	return err
}

// read reads what the cluster is, and which of the components of its control plane are.
func (m *madeCluster) read(ctx context.Context, controllers ...record.Component) (facts.Cluster, error) {
	now, err := m.api.Read(ctx, existing.Wanted{ServerGates: true, NodeGates: true, Unusable: true})
	if err != nil {
		return now, err
	}
	for _, c := range controllers {
		program := record.Program(c.Name)
		if program == record.APIServer {
			continue
		}
		metrics, err := m.cluster.Ask(ctx, program, "/metrics")
		if err != nil {
			return now, fmt.Errorf("reading the metrics of %s: %w", c.Name, err)
		}
		is, err := existing.ComponentOf(program, metrics)
		if err != nil {
			return now, err
		}
		now.Controllers = append(now.Controllers, is)
	}
	return now, nil
}

// restart restarts a component, as another release and with other gates if those are given. What it
// is then is read from it, and not what it was to be.
func (m *madeCluster) restart(ctx context.Context, r *run, to action.Restart) error {
	if !to.Stopped {
		if err := m.stop(ctx, r, to.Component, asked); err != nil {
			return err
		}
	}
	if !ofKubelet(to.Component) {
		return m.startComponent(ctx, r, to)
	}
	name := record.Member(to.Component)
	is, image := m.nodes[name], ""
	if to.Version != "" && to.Version != is.Version {
		is.Version, image = to.Version, m.kind.Images[to.Version]
	}
	is.Gates, is.Settings = is.Gates.With(to.Gates, to.Unset...), is.With(to.Settings)
	began := time.Now()
	if err := m.cluster.StartKubelet(ctx, kind.Node{Name: name, Image: image, Gates: is.Gates, Config: is.Config}); err != nil {
		return err
	}
	ready := time.Since(began).Seconds()
	m.nodes[name] = is
	now, err := m.read(ctx)
	if err != nil {
		return err
	}
	on, why := fit.KubeletOfMade(is, now)
	if why != "" {
		return fmt.Errorf("the kubelet of %s was restarted: the node %s", name, why)
	}
	started := kubeletOf(on, is.Gates)
	started.ReadySeconds = ready
	r.history.Append("cluster", to.Component, started)
	return nil
}

// How a component is ended: it is asked to end, or killed.
const asked, killed = false, true

// stop ends a component, and records it. While an API server is away, nothing is watched.
func (m *madeCluster) stop(ctx context.Context, r *run, component string, kill bool) error {
	end, name := m.cluster.StopComponent, record.Program(component)
	switch kubelet := ofKubelet(component); {
	case kubelet && kill:
		end, name = m.cluster.KillKubelet, record.Member(component)
	case kubelet:
		end, name = m.cluster.StopKubelet, record.Member(component)
	case kill:
		end = m.cluster.KillComponent
	}
	if record.Program(component) == record.APIServer {
		m.watched, _ = m.watches(ctx) // none if it has ended already
		r.watching.pause()
	}
	began := time.Now()
	ended, err := end(ctx, name)
	if err != nil {
		return err
	}
	stopped := stoppedBy(ended)
	stopped.Asked = true
	if !kill {
		stopped.Seconds = time.Since(began).Seconds()
	}
	r.history.Append("cluster", component, stopped)
	return nil
}

// stoppedBy is what a record has of how a component has ended.
func stoppedBy(end kind.End) record.ComponentStopped {
	return record.ComponentStopped{State: end.String(), Code: end.Code, Signal: end.Signal}
}

func ofKubelet(component string) bool { return strings.HasPrefix(component, spec.KubeletPrefix) }

// get asks the API server, or a kubelet through it, for what is at a path.
func (m *madeCluster) get(ctx context.Context, component, path, accept string) (body []byte, code int, err error) {
	if !ofKubelet(component) {
		return getFrom(ctx, m.api.RESTConfig(), path, accept)
	}
	return getFrom(ctx, m.api.RESTConfig(), "/api/v1/nodes/"+record.Member(component)+"/proxy"+path, accept)
}

// log is what a kubelet has said so far.
func (m *madeCluster) log(ctx context.Context, component string) ([]byte, error) {
	return m.cluster.KubeletLog(ctx, record.Member(component))
}

// runStaticPod has a kubelet run a pod from a file, and records it.
func (m *madeCluster) runStaticPod(r *run, node string, pod map[string]any) error {
	named := &unstructured.Unstructured{Object: r.names.object(pod)}
	manifest, err := json.Marshal(named.Object)
	if err != nil {
		return fmt.Errorf("encoding the static pod %s: %w", named.GetName(), err)
	}
	r.history.Append("cluster", named.GetNamespace()+"/"+named.GetName()+"-"+node, record.StaticPodWritten{Node: node, Pod: manifest})
	return m.cluster.PutManifest(r.ground, node, named.GetName(), manifest)
}
