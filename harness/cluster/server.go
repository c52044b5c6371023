package cluster

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/program"
	"github.com/skewrig/skewrig/record"
)

// server is an API server as an administrator connects to it.
type server struct {
	name       string // the component's
	address    netip.AddrPort
	kubeconfig string
	rest       *rest.Config
	client     kubernetes.Interface
}

func (s server) url() string { return "https://" + s.address.String() }

// host is the rig whose control plane the rig uses: its own, or that of another one.
func (c *Cluster) host() *Cluster {
	if c.cfg.On != nil {
		return c.cfg.On
	}
	return c
}

// connect makes the administrator's clients of the API servers.
func (c *Cluster) connect() error {
	for _, comp := range c.host().cfg.Topology.ControlPlane() {
		if programOf(comp.Name) != build.APIServer {
			continue
		}
		s := server{name: comp.Name, address: netip.AddrPortFrom(c.block.member(len(c.servers)), uint16(portOf(program.APIServer)))}
		file := strings.TrimSuffix("admin-"+record.Member(s.name), "-")
		var err error
		if s.kubeconfig, err = c.creds.kubeconfig(file, administrator("skewrig-admin"), s.url()); err != nil {
			return err
		}
		if s.rest, err = restConfig(s.kubeconfig); err != nil {
			return err
		}
		if s.client, err = kubernetes.NewForConfig(s.rest); err != nil {
			return err
		}
		c.servers = append(c.servers, s)
	}
	var err error
	c.trust, err = rest.TLSConfigFor(c.servers[0].rest)
	return err
}

// programOf is the program that a component is.
func programOf(component string) build.Component {
	return build.Component(record.Program(component))
}

// up is the first API server that runs, or the first one if none does.
func (c *Cluster) up() server {
	i := slices.IndexFunc(c.servers, func(s server) bool { return c.Running(s.name) })
	return c.servers[max(i, 0)]
}

// via are the addresses of API servers: of the first one, if none is named. Of several, those
// that don't run are left out, as a load balancer does, unless none runs.
func (c *Cluster) via(members []string) (all []string) {
	if len(members) == 0 {
		return []string{c.servers[0].address.String()}
	}
	var running []string
	for _, member := range members {
		i := slices.IndexFunc(c.servers, func(s server) bool { return record.Member(s.name) == member })
		if i < 0 {
			continue
		}
		all = append(all, c.servers[i].address.String())
		if c.Running(c.servers[i].name) {
			running = append(running, c.servers[i].address.String())
		}
	}
	if len(running) > 0 && len(members) > 1 {
		return running
	}
	return all
}

// Route leads who has a link, a component or a client, to API servers, by what tells each from
// the others: to one, or to several in turn. Connections to others end.
func (c *Cluster) Route(from string, via []string) error {
	if of, _, err := c.find(from); err == nil {
		c = of
	}
	if c.linkFrom(from) == nil {
		return fmt.Errorf("this rig has no link from %q to the API server, and so no way to lead it elsewhere", from)
	}
	for _, member := range via {
		if !slices.ContainsFunc(c.servers, func(s server) bool { return record.Member(s.name) == member }) {
			return fmt.Errorf("this rig has no API server %q", member)
		}
	}
	c.mu.Lock()
	c.routes[from] = via
	c.mu.Unlock()
	c.cfg.Recorder.Append("cluster", from, record.Routed{Via: via})
	c.lead()
	return nil
}

// lead has each link lead to the API servers that it leads to, after one of them began to run
// or to stop.
func (c *Cluster) lead() {
	c.mu.Lock()
	links, routes, guests := maps.Clone(c.links), maps.Clone(c.routes), slices.Collect(maps.Keys(c.guests))
	c.mu.Unlock()
	for from, via := range routes {
		if links[from] == nil {
			continue // the rig is closed
		}
		links[from].Route(c.via(via)...)
	}
	for _, guest := range guests {
		guest.lead()
	}
}

// serverOf is the API server that a component is.
func (c *Cluster) serverOf(name string) (server, error) {
	i := slices.IndexFunc(c.servers, func(s server) bool { return s.name == name })
	if i < 0 {
		return server{}, fmt.Errorf("this rig has no API server %q", name)
	}
	return c.servers[i], nil
}

// observeElsewhere has the objects observed as another API server shows them, if there is one,
// after the one ended that showed them.
func (c *Cluster) observeElsewhere(ended string) error {
	if c.observer == nil || c.observed != ended {
		return nil
	}
	i := slices.IndexFunc(c.servers, func(s server) bool { return s.name != ended && c.Running(s.name) })
	if i < 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.ctx, StopLimit)
	defer cancel()
	return c.observe(ctx, c.servers[i])
}
