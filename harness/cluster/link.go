package cluster

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/skewrig/skewrig/harness/link"
	"github.com/skewrig/skewrig/harness/pki"
	"github.com/skewrig/skewrig/harness/program"
	"github.com/skewrig/skewrig/record"
)

// kubeconfigOf writes the kubeconfig of who connects to the API server, which
// leads to one of the servers, or to the link that there is on the way.
func (c *Cluster) kubeconfigOf(from string, who pki.Request, via []string) (string, error) {
	address := c.via(via)[0]
	i := slices.IndexFunc(c.cfg.Links, func(l Link) bool { return l.From == from })
	if i >= 0 {
		l, err := c.newLink(c.cfg.Links[i], via)
		if err != nil {
			return "", err
		}
		c.mu.Lock()
		c.links[from], c.routes[from] = l, via
		c.mu.Unlock()
		address = l.Address()
	}
	return c.creds.kubeconfig(fileName(from), who, "https://"+address)
}

// wayToEtcd is the address by which an API server connects to etcd: etcd's, or that of the link
// that there is on the way.
func (c *Cluster) wayToEtcd(from string) (string, error) {
	etcd := netip.AddrPortFrom(c.block.controlPlane(), uint16(portOf(program.Etcd))).String()
	if !slices.ContainsFunc(c.cfg.Links, func(l Link) bool { return l.From == from }) {
		return etcd, nil
	}
	l, err := link.New(link.Config{
		Name: from + "->etcd", Targets: []string{etcd}, Recorder: c.cfg.Recorder,
		Listen: c.linkAddress(),
	})
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	c.links[from] = l
	c.mu.Unlock()
	return l.Address(), nil
}

// linkAddress is where links listen, at any port that is free: the certificates of etcd and of each
// API server are for it.
func (c *Cluster) linkAddress() string { return netip.AddrPortFrom(c.block.controlPlane(), 0).String() }

func (c *Cluster) newLink(l Link, via []string) (*link.Link, error) {
	config := link.Config{
		Name:     l.From + "->kube-apiserver",
		Listen:   c.linkAddress(),
		Targets:  c.via(via),
		Crash:    func() { c.crash(l.From) },
		Recorder: c.cfg.Recorder,
	}
	if l.HTTP {
		pair, err := c.creds.ca.Issue(pki.Request{CommonName: "control-plane", Hosts: []string{c.block.controlPlane().String()}})
		if err != nil {
			return nil, err
		}
		identity, err := pair.TLS()
		if err != nil {
			return nil, err
		}
		config.HTTP = &link.HTTP{Identity: identity, ClientCA: c.creds.ca.Pool(), Server: c.servers[0].rest}
	}
	return link.New(config)
}

// checkLinks reports links of components that there aren't, or that connect to nothing.
func (c *Cluster) checkLinks() error {
	var mistakes []error
	for _, l := range c.cfg.Links {
		if c.linkFrom(l.From) == nil {
			mistakes = append(mistakes, fmt.Errorf("this rig has no link from %q", l.From))
		}
	}
	return errors.Join(mistakes...)
}

// SetLink gives a link to the API server, or that of an API server to etcd, a fault, or none.
func (c *Cluster) SetLink(from string, f record.LinkFault) error {
	l := c.linkFrom(from)
	if l == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		return fmt.Errorf("this rig has no link from %q; it has links from %q", from, slices.Sorted(maps.Keys(c.links)))
	}
	return l.Set(f)
}

// linkFrom is the link of a component or client, nil if it has none.
func (c *Cluster) linkFrom(from string) *link.Link {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.links[from]
}

// reaches reports whether a component's packets get to the API server and back.
func (c *Cluster) reaches(component string) bool {
	l := c.linkFrom(component)
	return l == nil || l.Fault().Cut == ""
}
