// Package provider says what cells run on, without saying how: a rig, kind clusters, or an existing cluster. A provider
// gives each cell a session. What not every provider can do is an interface of its own, which its sessions have or lack.
package provider

import (
	"context"
	"crypto/tls"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/schedule"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Provider is what cells run on.
type Provider interface {
	// Unfit returns why a cell can't run there. It is empty if it can.
	Unfit(plan.Cell) string
	// Start starts what a cell runs on. If it can't, nothing is left.
	Start(context.Context, Tenant) (Session, error)
	// Components returns what ran there, for the report.
	Components() []reports.Component
}

// Pool is a provider that creates clusters, each for several cells.
type Pool interface {
	Provider
	// Groups returns the groups of cells that share a cluster, in the order in which they begin.
	Groups([]plan.Cell) []schedule.Group
	// Create creates a cluster for the cells of a group, and returns what deletes it. If it can't be created, its sessions
	// say why.
	Create(context.Context, []plan.Cell) (on Provider, remove func() error)
}

// Tenant is a cell that runs on something, alone or beside other cells.
type Tenant struct {
	Cell plan.Cell
	// History is the record of the cell. It gets what happens there.
	History *record.History
	Machine *Machine
	// Dir is where the cell has its files.
	Dir string
}

// Session is what one cell runs on, while it does.
type Session interface {
	// Context ends when what the cell runs on is lost, with that as its cause, and when the session is closed.
	Context() context.Context
	// Names returns the names that the API server knows.
	Names() Names
	// Endpoint is an administrator's client configuration for what a component serves: an API server, or a kubelet.
	Endpoint(component string) (*rest.Config, error)
	// EnsureNamespace creates a namespace of the cell, if it is missing.
	EnsureNamespace(ctx context.Context, name string) error
	// Settle returns when all that has happened until now is in the history.
	Settle(context.Context) error
	// Close ends it. The history has then all that happened.
	Close() error
}

// Bind returns a context that ends with ctx, and also as soon as what a cell runs on is lost, with that as its cause.
func Bind(ctx context.Context, s Session) (context.Context, context.CancelFunc) {
	bound, cancel := context.WithCancelCause(ctx)
	lost := s.Context()
	stop := context.AfterFunc(lost, func() { cancel(context.Cause(lost)) })
	return bound, func() { stop(); cancel(nil) }
}

// Components is a session whose components can be stopped and started.
type Components interface {
	// Start starts a component that is stopped, as it is to be from now on, and returns when it is ready.
	Start(ctx context.Context, to record.Component) error
	// Stop asks a component to end, and returns when it has ended.
	Stop(ctx context.Context, component string) error
	// Kill ends a component without a warning.
	Kill(component string) error
}

// Ender is a session that asks a component to end, and kills it when the context ends.
type Ender interface {
	End(ctx context.Context, component string) error
}

// Rebooter is a session whose nodes can be rebooted.
type Rebooter interface {
	Reboot(ctx context.Context, node string) error
}

// StaticPods is a session whose kubelets run pods from files.
type StaticPods interface {
	RunStaticPod(node string, pod map[string]any) error
	RemoveStaticPod(node, name string) error
}

// Links is a session whose links can be faulty, or lead to other API servers.
type Links interface {
	SetLink(spec.Link, record.LinkFault) error
	Route(component string, servers []string) error
}

// Clocks is a session whose clocks can be set.
type Clocks interface {
	SetClock(action.Clock) error
}

// Logs is a session whose components have logs.
type Logs interface {
	Log(component string) ([]byte, error)
}

// Sockets is a session that shows the TCP sockets of components.
type Sockets interface {
	Sockets(component string, port int) ([]record.Socket, error)
}

// Etcd is a session that shows and changes what etcd has, by the cluster that references name.
type Etcd interface {
	Stored(ctx context.Context, of, key string) (cluster.Stored, bool, error)
	Store(ctx context.Context, of, key string, value []byte, since int64) (bool, error)
}

// Kubeconfigs is a session with kubeconfigs of administrators, by the API server.
type Kubeconfigs interface {
	Kubeconfig(server string) (path string, err error)
}

// Definer is a session on which resources can be defined and webhooks answer: its API servers reach this machine.
type Definer interface {
	// Serving returns where a server can listen that API servers ask, with a certificate and the authority that they trust.
	Serving(name string) (host string, certificate tls.Certificate, trust []byte, err error)
	Running(component string) bool
	// Observe begins to record the objects of resources that the API server serves only now.
	Observe(context.Context) error
}

// KubeletDirs is a session that shows the directories of kubelets, in which they have their sockets.
type KubeletDirs interface {
	KubeletDir(node string) (string, error)
}

// As returns a session as one that can do what an interface says, or an error that says that it can't.
func As[Ability any](s Session) (Ability, error) {
	can, is := s.(Ability)
	if !is {
		return can, fmt.Errorf("what the cell runs on has no %s", strings.ToLower(reflect.TypeFor[Ability]().Name()))
	}
	return can, nil
}

// Binary finds the executable of a component.
type Binary = func(context.Context, build.Target) (build.Binary, error)

// Target returns the binary that a target of plans is built to.
func Target(t plan.Target) build.Target {
	return build.Target{Component: build.Component(t.Component), Version: t.Version, Clock: t.OwnClock, Unmodified: t.Unmodified}
}

// Built builds what a cell needs, and returns why a component can't be had: then nothing is started for it.
func Built(ctx context.Context, cell plan.Cell, binary Binary) error {
	for _, t := range plan.Targets([]plan.Cell{cell}) {
		if _, err := binary(ctx, Target(t)); err != nil {
			return err
		}
	}
	return nil
}
