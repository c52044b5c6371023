package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeName is what the API server calls a node of the rig.
func (c *Cluster) NodeName(node string) string { return node + c.cfg.Suffix }

// Namespace is what the API server calls a namespace of the rig.
func (c *Cluster) Namespace(name string) string { return name + c.cfg.Suffix }

// RigLabel is the label of the nodes of a rig with a Suffix whose control plane has a
// scheduler. Its value is the suffix without
// the hyphen: pods that select it come to nodes of that rig only.
const RigLabel = "skewrig.dev/rig"

// nodeLabels is the flag that gives the nodes their label, if they have one.
func (c *Cluster) nodeLabels() flags {
	if c.cfg.Suffix == "" || c.cfg.On == nil || !c.cfg.On.cfg.Topology.Scheduler {
		return nil
	}
	return flags{"node-labels": RigLabel + "=" + strings.TrimPrefix(c.cfg.Suffix, "-")}
}

// hasControllers reports whether the control plane has a controller manager.
func (c *Cluster) hasControllers() bool {
	return c.host().cfg.Topology.ControllerManager
}

// newCredentials makes the rig's directory of credentials: with an authority of its own, or
// with that of the control plane which it uses.
func (c *Cluster) newCredentials() (*credentials, error) {
	dir := filepath.Join(c.guard.Dir(), "pki")
	if c.cfg.On == nil {
		return newCredentials(dir)
	}
	creds := &credentials{dir: dir, ca: c.cfg.On.creds.ca}
	return creds, errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(creds.caFile(), creds.ca.CertPEM(), 0o600))
}

// admit has another rig use the control plane: it ends with it.
func (c *Cluster) admit(guest *Cluster) {
	c.mu.Lock()
	c.guests[guest] = true
	c.mu.Unlock()
	guest.unbind = context.AfterFunc(c.ctx, func() { guest.fail(context.Cause(c.ctx)) })
}

// leave takes the rig's nodes and pods from the control plane that it used.
func (c *Cluster) leave() error {
	on := c.cfg.On
	on.mu.Lock()
	delete(on.guests, c)
	on.mu.Unlock()
	defer func() { on.block.giveBack(c.nodes); c.nodes = nil }()
	if c.unbind != nil {
		c.unbind()
	}
	if len(c.servers) == 0 || on.ctx.Err() != nil || !c.Running(c.up().name) {
		return nil // nothing was made, or all of it goes
	}
	ctx, cancel := on.Bind(context.Background())
	defer cancel()
	ctx, timely := context.WithTimeout(ctx, StopLimit)
	defer timely()
	return c.deleteObjects(ctx)
}

// deleteObjects deletes the rig's nodes, and in its namespaces the pods and what controllers
// make pods of.
func (c *Cluster) deleteObjects(ctx context.Context) error {
	var failures []error
	c.mu.Lock()
	namespaces := c.namespaces
	c.namespaces = nil
	c.mu.Unlock()
	for _, name := range namespaces {
		for _, collection := range c.podsAndOwners(name) {
			now := int64(0)
			if err := collection.DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{}); err != nil {
				failures = append(failures, fmt.Errorf("deleting what is in namespace %s: %w", name, err))
			}
		}
	}
	for _, node := range c.cfg.Topology.Nodes {
		err := c.Client().CoreV1().Nodes().Delete(ctx, c.NodeName(node.Name), metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			failures = append(failures, fmt.Errorf("deleting node %s: %w", c.NodeName(node.Name), err))
		}
	}
	return errors.Join(failures...)
}

type collection interface {
	DeleteCollection(context.Context, metav1.DeleteOptions, metav1.ListOptions) error
}

// podsAndOwners are the collections of a namespace with pods or what makes them, owners first.
func (c *Cluster) podsAndOwners(namespace string) (all []collection) {
	if c.hasControllers() {
		apps := c.Client().AppsV1()
		all = append(all, apps.Deployments(namespace), apps.DaemonSets(namespace), apps.StatefulSets(namespace), apps.ReplicaSets(namespace))
	}
	return append(all, c.Client().CoreV1().Pods(namespace))
}
