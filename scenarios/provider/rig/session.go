package rig

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/provider"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Session is the rig of a cell, or what it has on a control plane.
type Session struct {
	*Rig
	tenant     provider.Tenant
	place      *place // nil: all of the rig is the cell's own
	names      provider.Names
	namespaces map[string]bool // that exist, by the cell's names
	ctx        context.Context //nolint:containedctx // ends with the rig
	unbind     context.CancelFunc
}

// What a rig can do: everything.
var _ interface {
	provider.Session
	provider.Components
	provider.Ender
	provider.Rebooter
	provider.StaticPods
	provider.Links
	provider.Clocks
	provider.Logs
	provider.Sockets
	provider.Etcd
	provider.Kubeconfigs
	provider.Definer
	provider.KubeletDirs
} = (*Session)(nil)

// Own returns the rig if all of it is the cell's own, or else nil.
func (s *Session) Own() *Rig {
	if s.place != nil {
		return nil
	}
	return s.Rig
}

// Context implements provider.Session.
func (s *Session) Context() context.Context { return s.ctx }

// Names implements provider.Session.
func (s *Session) Names() provider.Names { return s.names }

// Settle implements provider.Session. What happens on a rig is recorded as it happens.
func (s *Session) Settle(context.Context) error { return nil }

// Close ends the rig. What is deleted then from a control plane that other cells use goes into no record.
func (s *Session) Close() error {
	defer s.unbind()
	if s.place == nil {
		return s.Rig.Close()
	}
	s.place.leave()
	return errors.Join(s.Rig.Close(), s.place.keepLogs(s, s.tenant.Dir))
}

// Endpoint implements provider.Session.
func (s *Session) Endpoint(component string) (*rest.Config, error) {
	c, name := s.where(component)
	return c.Endpoint(name)
}

// Kubeconfig implements provider.Kubeconfigs.
func (s *Session) Kubeconfig(server string) (string, error) {
	c, name := s.where(server)
	return c.KubeconfigOf(name)
}

// EnsureNamespace implements provider.Session.
func (s *Session) EnsureNamespace(ctx context.Context, name string) error {
	if s.namespaces[name] {
		return nil
	}
	if err := s.Rig.EnsureNamespace(ctx, name); err != nil {
		return err
	}
	s.namespaces[name] = true
	return nil
}

// Start implements provider.Components.
func (s *Session) Start(ctx context.Context, to record.Component) error {
	if z, is := spec.Zone(to.Name); is {
		return s.fleet.Start(z)
	}
	c, name := s.where(to.Name)
	change := cluster.Change{Version: to.Version, Gates: to.Gates, Settings: to.Settings}
	for _, i := range c.Instances() {
		for _, gate := range i.Gates.Names() {
			if _, set := to.Gates[gate]; i.Name == name && !set {
				change.Unset = append(change.Unset, gate)
			}
		}
	}
	return c.Start(ctx, name, change)
}

// Stop implements provider.Components. A component that does not end in time is killed.
func (s *Session) Stop(ctx context.Context, component string) error {
	ctx, cancel := s.tenant.Machine.WithTimeout(ctx, cluster.StopLimit, context.DeadlineExceeded)
	defer cancel()
	return s.End(ctx, component)
}

// End implements provider.Ender.
func (s *Session) End(ctx context.Context, component string) error {
	if z, is := spec.Zone(component); is {
		return s.fleet.Stop(z)
	}
	c, name := s.where(component)
	return c.Stop(ctx, name)
}

// Kill implements provider.Components.
func (s *Session) Kill(component string) error {
	if z, is := spec.Zone(component); is {
		return s.fleet.Stop(z)
	}
	c, name := s.where(component)
	return c.Kill(name)
}

// Log returns what a component has logged so far, as far as it is about this cell.
func (s *Session) Log(component string) ([]byte, error) {
	c, name := s.where(component)
	text, err := c.Log(name)
	if err != nil || s.place == nil {
		return text, err
	}
	return s.place.own(component, text), nil
}

// Sockets implements provider.Sockets.
func (s *Session) Sockets(component string, port int) ([]record.Socket, error) {
	c, name := s.where(component)
	return c.Sockets(name, port)
}

// Stored implements provider.Etcd.
func (s *Session) Stored(ctx context.Context, of, key string) (cluster.Stored, bool, error) {
	c, _ := s.where(path.Join(of, spec.Etcd))
	return c.Stored(ctx, key)
}

// Store implements provider.Etcd.
func (s *Session) Store(ctx context.Context, of, key string, value []byte, since int64) (bool, error) {
	c, _ := s.where(path.Join(of, spec.Etcd))
	return c.Store(ctx, key, value, since)
}

// SetLink implements provider.Links.
func (s *Session) SetLink(which spec.Link, f record.LinkFault) error {
	if z, is := spec.Zone(which.From); is {
		return s.fleet.SetLink(z, f)
	}
	if which.To == spec.Runtime {
		return s.setRuntimeLink(strings.TrimPrefix(which.From, spec.KubeletPrefix), f)
	}
	c, _ := s.where(which.To)
	return c.SetLink(which.From, f)
}

// setRuntimeLink gives the link of a node's kubelet to its container runtime a fault, or none.
func (s *Session) setRuntimeLink(node string, f record.LinkFault) error {
	r, is := s.Runtime(node).(interface {
		SetFault(context.Context, record.LinkFault) error
	})
	if !is {
		return fmt.Errorf("node %q has no container runtime whose link can be faulty", node)
	}
	return r.SetFault(s.ctx, f)
}

// SetClock implements provider.Clocks.
func (s *Session) SetClock(c action.Clock) error {
	z, simulated := spec.Zone(c.Of)
	node := strings.TrimPrefix(c.Of, spec.KubeletPrefix)
	to := c.From(time.Now())
	switch {
	case simulated && c.Step != 0:
		return s.fleet.StepClock(z, time.Duration(c.Step))
	case simulated:
		return s.fleet.SetClock(z, to)
	case c.Step != 0:
		return s.StepClock(node, time.Duration(c.Step))
	default:
		return s.Rig.SetClock(node, to)
	}
}
