package kind

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/harness/kind"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/fit"
	"github.com/skewrig/skewrig/scenarios/provider"
	"github.com/skewrig/skewrig/scenarios/provider/cluster"
)

// session is what a cell has on a kind cluster: what it has on any cluster, and its components.
type session struct {
	*cluster.Session
	cluster *kindCluster
	tenant  provider.Tenant
	lose    func(error)
}

var _ interface {
	provider.Session
	provider.Components
	provider.StaticPods
	provider.Logs
} = (*session)(nil)

// Start implements provider.Components. What the component is then is read from it, and not what it was to be.
func (s *session) Start(ctx context.Context, to record.Component) error {
	start := s.startComponent
	if isKubelet(to.Name) {
		start = s.startKubelet
	}
	started, err := start(ctx, to)
	if err != nil {
		return err
	}
	s.tenant.History.Append("cluster", to.Name, started)
	if record.Program(to.Name) != record.APIServer {
		return nil
	}
	if err := s.Resume(ctx); err != nil {
		return err
	}
	return s.cluster.awaitWatches(ctx)
}

func (s *session) startKubelet(ctx context.Context, to record.Component) (started record.ComponentStarted, err error) {
	node, image := record.Node{Name: record.Member(to.Name), Version: to.Version, Gates: to.Gates, Settings: to.Settings}, ""
	if s.cluster.kubelets[node.Name] != to.Version {
		image = s.cluster.provider.Images[to.Version]
	}
	began := time.Now()
	if err := s.cluster.kind.StartKubelet(ctx, kind.Node{Name: node.Name, Image: image, Gates: node.Gates, Config: node.Config}); err != nil {
		return started, err
	}
	ready := time.Since(began).Seconds()
	s.cluster.kubelets[node.Name] = to.Version
	now, err := s.cluster.read(ctx)
	if err != nil {
		return started, err
	}
	is, why := fit.KubeletOfMade(node, now)
	if why != "" {
		return started, fmt.Errorf("the kubelet of %s was restarted: the node %s", node.Name, why)
	}
	started = cluster.KubeletOf(is, node.Gates)
	started.ReadySeconds = ready
	return started, nil
}

func (s *session) startComponent(ctx context.Context, to record.Component) (started record.ComponentStarted, err error) {
	began := time.Now()
	if err := s.cluster.start(ctx, to); err != nil {
		return started, err
	}
	ready := time.Since(began).Seconds()
	now, err := s.cluster.read(ctx, to)
	if err != nil {
		return started, err
	}
	if is := fit.OfMade(record.Topology{Members: []record.Component{to}}, now); len(is.Reasons) > 0 {
		return started, fmt.Errorf("%s was restarted: %s", to.Name, is.Reason())
	}
	started = cluster.ComponentOf(to, now)
	started.ReadySeconds = ready
	return started, nil
}

// Stop implements provider.Components.
func (s *session) Stop(ctx context.Context, component string) error {
	end := s.cluster.kind.StopComponent
	if isKubelet(component) {
		end = s.cluster.kind.StopKubelet
	}
	stopped, err := s.end(ctx, component, end)
	if err == nil {
		s.tenant.History.Append("cluster", component, stopped)
	}
	return err
}

// Kill implements provider.Components.
func (s *session) Kill(component string) error {
	end := s.cluster.kind.KillComponent
	if isKubelet(component) {
		end = s.cluster.kind.KillKubelet
	}
	stopped, err := s.end(s.Context(), component, end)
	if stopped.Seconds = 0; err == nil { // it was not asked
		s.tenant.History.Append("cluster", component, stopped)
	}
	return err
}

// end ends a component. While an API server is away, nothing is watched.
func (s *session) end(ctx context.Context, component string, end func(context.Context, string) (kind.End, error)) (record.ComponentStopped, error) {
	name := record.Program(component)
	switch {
	case isKubelet(component):
		name = record.Member(component)
	case name == record.APIServer:
		s.cluster.watched, _ = s.cluster.watches(ctx) // none if it has ended already
		s.Pause()
	}
	began := time.Now()
	ended, err := end(ctx, name)
	stopped := stoppedBy(ended)
	stopped.Asked, stopped.Seconds = true, time.Since(began).Seconds()
	return stopped, err
}

// stoppedBy returns what a record has of how a component has ended.
func stoppedBy(end kind.End) record.ComponentStopped {
	return record.ComponentStopped{State: end.String(), Code: end.Code, Signal: end.Signal}
}

// ended records that a component has ended without a request. That is the end of the cell, unless its expressions look at it.
func (s *session) ended(component string, end kind.End) {
	topology := s.tenant.Cell.Topology
	for _, c := range topology.ControlPlane() {
		if record.Program(c.Name) == component {
			component = c.Name
		}
	}
	s.tenant.History.Append("cluster", component, stoppedBy(end))
	if !slices.Contains(topology.MayEnd, component) {
		s.lose(fmt.Errorf("%s %s without a request", component, end))
	}
}

// Endpoint implements provider.Session. A kubelet is asked through the API server.
func (s *session) Endpoint(component string) (*rest.Config, error) {
	config, err := s.Session.Endpoint(component)
	if err == nil && isKubelet(component) {
		config.Host += "/api/v1/nodes/" + record.Member(component) + "/proxy"
	}
	return config, err
}

// Log implements provider.Logs: kubelets have logs.
func (s *session) Log(component string) ([]byte, error) {
	return s.cluster.kind.KubeletLog(s.Context(), record.Member(component))
}

// RunStaticPod implements provider.StaticPods, and records it.
func (s *session) RunStaticPod(node string, pod map[string]any) error {
	named := &unstructured.Unstructured{Object: s.Names().Object(pod)}
	manifest, err := json.Marshal(named.Object)
	if err != nil {
		return fmt.Errorf("encoding the static pod %s: %w", named.GetName(), err)
	}
	s.tenant.History.Append("cluster", named.GetNamespace()+"/"+named.GetName()+"-"+node, record.StaticPodWritten{Node: node, Pod: manifest})
	return s.cluster.kind.PutManifest(s.Context(), node, named.GetName(), manifest)
}

// RemoveStaticPod implements provider.StaticPods.
func (s *session) RemoveStaticPod(node, name string) error {
	return s.cluster.kind.RemoveManifest(s.Context(), node, name)
}
