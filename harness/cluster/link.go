package cluster

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/skewrig/skewrig/harness/link"
)

// kubeconfigOf writes the kubeconfig of a component, which leads to the API
// server, or to the component's link to it.
func (c *Cluster) kubeconfigOf(component, file string, who identity) (string, error) {
	server := c.creds.server
	if slices.Contains(c.cfg.Links, component) {
		l, err := link.New(link.Config{
			Name: LinkName(component),
			// The address is the one that the API server's certificate is for.
			Listen:   netip.AddrPortFrom(c.block.controlPlane(), 0).String(),
			Target:   netip.AddrPortFrom(c.block.controlPlane(), apiserverPort).String(),
			Recorder: c.cfg.Recorder,
		})
		if err != nil {
			return "", err
		}
		c.links[component] = l
		server = "https://" + l.Address()
	}
	return c.creds.kubeconfig(file, who, server)
}

// LinkName is what a component's link to the API server is called in the record.
func LinkName(component string) string { return component + "->kube-apiserver" }

// checkLinks reports links of components that there aren't, or that don't
// connect to the API server.
func (c *Cluster) checkLinks() error {
	var mistakes []error
	for _, component := range c.cfg.Links {
		if c.links[component] == nil {
			mistakes = append(mistakes, fmt.Errorf("this rig has no link from %q to the API server", component))
		}
	}
	return errors.Join(mistakes...)
}

// SetLink gives a component's link to the API server a fault, or none.
func (c *Cluster) SetLink(component string, f link.Fault) error {
	l, ok := c.links[component]
	if !ok {
		return fmt.Errorf("this rig has no link from %q to the API server; it has links from %q", component, slices.Sorted(maps.Keys(c.links)))
	}
	return l.Set(f)
}

// reaches reports whether a component's packets get to the API server and back.
func (c *Cluster) reaches(component string) bool {
	l, ok := c.links[component]
	return !ok || l.Fault().Cut == ""
}

func (c *Cluster) closeLinks() error {
	var failures []error
	for _, component := range slices.Sorted(maps.Keys(c.links)) {
		failures = append(failures, c.links[component].Close())
	}
	clear(c.links)
	return errors.Join(failures...)
}
