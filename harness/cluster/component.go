package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/clock"
	"github.com/skewrig/skewrig/harness/clock/page"
	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

// component is one program of a rig, and how to run it as any release with any
// gates on the same data.
type component struct {
	name   string // "kube-apiserver", "kubelet/node-a"
	kind   build.Component
	flags  flags          // without those that depend on release and gates
	config map[string]any // of a kubelet, without its gates
	health string         // the URL that answers when it is ready
	clock  *page.Page     // nil for one that shows the machine's time
	shown  clock.Clock    // what the page was set to last; the cluster's mu guards it

	address    string                 // of all but etcd and the watchdog
	node       string                 // of a kubelet
	standalone bool                   // it is a kubelet without an API server
	host       Host                   // of a kubelet on a node with real containers; nil on others
	boot       atomic.Pointer[string] // the boot ID of the node of a kubelet
	peers      flags                  // of an API server that sends requests to others; nil for one that does not

	mu       sync.Mutex
	version  release.Version
	gates    release.Gates
	settings record.Settings
	running  *process.Process // nil while stopped
	runs     release.Version  // what the running binary is
	// recorded is closed when the end of the last process is in the record.
	recorded chan struct{}
	// backOff is how long it waits before it is started again if it ends by itself.
	backOff time.Duration

	// crashed is true once a fault of its link has killed it.
	crashed atomic.Bool

	// leave cancels its next start; nil unless one is planned.
	leave atomic.Pointer[context.CancelFunc]
}

// Change says what is different about a component after a restart.
type Change struct {
	// Version is the release to run. If unset, the one that ran before.
	Version release.Version
	// Gates are set on top of the gates of before. If unset, those are kept.
	Gates release.Gates
	// Unset names gates of before that are left to the release's default: a
	// release refuses to start with a gate that it doesn't have.
	Unset []string
	// Settings are on top of those of before. If unset, those are kept.
	Settings record.Settings
}

// Restart stops a component and starts it again on the same data, as another
// release or with other gates if the change says so. Containers live on while
// a kubelet is away. It returns when the component is ready.
func (c *Cluster) Restart(ctx context.Context, name string, change Change) error {
	limited, cancel := context.WithTimeout(ctx, StopLimit)
	defer cancel()
	if err := c.Stop(limited, name); err != nil {
		return err
	}
	return c.Start(ctx, name, change)
}

// Start starts a component that was stopped or killed, and returns when the rest
// of the rig knows: the record shows objects as this API server shows them, the
// node says what its kubelet is. That a component ended which may end by itself is in
// the record, and no error.
func (c *Cluster) Start(ctx context.Context, name string, change Change) error {
	c, comp, err := c.find(name)
	if err != nil {
		return err
	}
	if err := c.start(ctx, comp, change); err != nil {
		return err
	}
	switch comp.kind {
	case build.APIServer:
		c.lead()
		if c.observer != nil && c.observed != comp.name && c.Running(c.observed) {
			return nil
		}
		s, err := c.serverOf(comp.name)
		if err != nil {
			return err
		}
		return c.observe(ctx, s)
	case build.Kubelet:
		if c.Running(c.up().name) && c.reaches(comp.name) {
			return c.whileRunning(ctx, comp, c.settle)
		}
	}
	return nil
}

// Running reports whether a component runs.
func (c *Cluster) Running(name string) bool {
	_, comp, err := c.find(name)
	return err == nil && comp.process() != nil
}

// processOf is what runs of a component now, or nil.
func (c *Cluster) processOf(name string) *process.Process {
	if _, comp, err := c.find(name); err == nil {
		return comp.process()
	}
	return nil
}

// process is what runs of a component now, or nil.
func (comp *component) process() *process.Process {
	comp.mu.Lock()
	defer comp.mu.Unlock()
	return comp.running
}

// StopLimit is how long a component has to end where nothing else is said. It is
// generous: an API server first answers the requests that it has.
const StopLimit = time.Minute

// Stop asks a component to end, kills it if it has not when the context ends, and
// returns when it is gone. The record says how it ended.
func (c *Cluster) Stop(ctx context.Context, name string) error {
	return c.end(name, func(p *process.Process) error { return p.Stop(ctx) })
}

// Kill ends a component without a warning, as a crash or a power cut would.
func (c *Cluster) Kill(name string) error { return c.end(name, (*process.Process).Kill) }

func (c *Cluster) end(name string, how func(*process.Process) error) error {
	c, comp, err := c.find(name)
	if err != nil {
		return err
	}
	err = c.stop(comp, how)
	if comp.kind != build.APIServer {
		return err
	}
	return errors.Join(err, c.observeElsewhere(name))
}

// Instance is what a component of a rig runs as.
type Instance struct {
	Name    string // "kube-apiserver", "kubelet/node-a"
	Version release.Version
	Gates   release.Gates
	PID     int // 0 while it is stopped
}

// Instances lists the components in the order in which they were started.
func (c *Cluster) Instances() []Instance {
	var all []Instance
	if c.cfg.On != nil {
		all = c.cfg.On.Instances()
	}
	for _, comp := range c.components {
		comp.mu.Lock()
		i := Instance{Name: comp.name, Version: comp.version, Gates: comp.gates.Clone()}
		if comp.running != nil {
			i.PID = comp.running.PID()
		}
		comp.mu.Unlock()
		all = append(all, i)
	}
	return all
}

// find finds a component, and the rig that it is part of: this one, or the one whose
// control plane it uses.
func (c *Cluster) find(name string) (*Cluster, *component, error) {
	var names []string
	for of := c; of != nil; of = of.cfg.On {
		for _, comp := range of.components {
			if comp.name == name {
				return of, comp, nil
			}
			names = append(names, comp.name)
		}
	}
	return nil, nil, fmt.Errorf("this rig has no component %q; it has %q", name, names)
}

func (c *Cluster) start(ctx context.Context, comp *component, change Change) error {
	comp.takeOver()
	defer comp.mu.Unlock()
	comp.backOff = 0
	return c.startLocked(ctx, comp, change)
}

// startLocked is start for who has the component's mu.
func (c *Cluster) startLocked(ctx context.Context, comp *component, change Change) error {
	ctx, cancel := c.Bind(ctx)
	defer cancel()
	if ctx.Err() != nil {
		return fmt.Errorf("starting %s: %w", comp.name, context.Cause(ctx))
	}
	if comp.running != nil {
		return fmt.Errorf("starting %s: it is running already", comp.name)
	}
	if change.Version != "" {
		comp.version = change.Version
	}
	comp.gates = comp.gates.With(change.Gates, change.Unset...)
	if err := c.cfg.checkSettings(comp.name, change.Settings); err != nil {
		return err
	}
	comp.settings = comp.settings.With(change.Settings)
	if err := c.sayRelease(comp); err != nil {
		return err
	}
	began := time.Now()
	p, what, err := c.launch(ctx, comp)
	what.Gates, what.ReadySeconds = comp.gates, time.Since(began).Seconds()
	if exit := new(process.ExitError); c.mayEnd(comp) && errors.As(err, &exit) {
		c.cfg.Recorder.Append("cluster", comp.name, what)
		c.cfg.Recorder.Append("cluster", comp.name, stopped(exit, false))
		return nil
	}
	if err != nil {
		return err
	}
	comp.running, comp.recorded, comp.runs = p, make(chan struct{}), what.Version
	what.PID = p.PID()
	c.cfg.Recorder.Append("cluster", comp.name, what)
	go c.supervise(comp, p, comp.recorded)
	return nil
}

// mayEnd reports whether a component may end by itself, for this rig or for one that uses
// its control plane.
func (c *Cluster) mayEnd(comp *component) bool {
	if slices.Contains(c.cfg.Topology.MayEnd, comp.name) {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for guest := range c.guests {
		if slices.Contains(guest.cfg.Topology.MayEnd, comp.name) {
			return true
		}
	}
	return false
}

// whileRunning does something with a component, until that ends.
func (c *Cluster) whileRunning(ctx context.Context, comp *component, do func(context.Context, *component) error) error {
	p := comp.process()
	if p == nil {
		return nil
	}
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-p.Exited():
			cancel(p.Exit())
		case <-running.Done():
		}
	}()
	if err := do(running, comp); err != nil && (p.Exit() == nil || !c.mayEnd(comp)) {
		return err
	}
	return nil
}

// launch starts the process of a component, and returns when it is ready.
func (c *Cluster) launch(ctx context.Context, comp *component) (*process.Process, record.ComponentStarted, error) {
	binary, err := c.cfg.Binary(ctx, comp.target())
	if err != nil {
		return nil, record.ComponentStarted{}, err
	}
	what := record.ComponentStarted{Version: binary.Version, Source: binary.Source, Digest: binary.Digest}
	args, err := comp.arguments()
	if err != nil {
		return nil, what, fmt.Errorf("preparing %s: %w", comp.name, err)
	}
	asker := c.newAsker()
	defer asker.CloseIdleConnections()
	readers := comp.clock.Readers()
	in, err := comp.namespaces()
	if err != nil {
		return nil, what, err
	}
	p, err := process.Start(ctx, process.Config{
		In:       in,
		Confined: c.confinement(),
		Name:     fmt.Sprintf("%s %s", comp.name, binary.Version),
		Path:     binary.Path,
		Args:     args,
		Env:      append(c.environment(comp), comp.clockEnvironment()...),
		Dir:      c.guard.Dir(),
		Log:      c.logFile(comp.name),
		Ready:    func(ctx context.Context) error { return healthy(ctx, asker, comp.health) },
	})
	if err != nil {
		return nil, what, err
	}
	if err := errors.Join(comp.checkClock(readers), comp.readEmulation(ctx, asker, &what)); err != nil {
		return nil, what, errors.Join(err, p.Kill())
	}
	return p, what, nil
}

// confinement is what components may do with the files of this machine: they have the rig's directory, unless the rig may
// reach beyond itself.
func (c *Cluster) confinement() *process.Confinement {
	if c.cfg.AllowHost {
		return nil
	}
	return &process.Confinement{Dir: c.guard.Dir()}
}

// namespaces are those that a component runs in: nil for those of skewrig, which no component of a node with
// real containers may have. That such a node has none is an error.
func (comp *component) namespaces() (*process.Namespaces, error) {
	if comp.host == nil {
		return nil, nil
	}
	in := comp.host.Namespaces()
	if in == nil {
		return nil, fmt.Errorf("starting %s: its node does not run, as its last boot has failed", comp.name)
	}
	return in, nil
}

// supervise records the end of a process, and ends the rig's context if it was
// neither asked for nor expected.
func (c *Cluster) supervise(comp *component, p *process.Process, recorded chan<- struct{}) {
	<-p.Exited()
	defer close(recorded)
	comp.mu.Lock()
	asked := comp.running != p
	again, leave := context.WithCancel(c.ctx)
	defer leave()
	if !asked {
		comp.running = nil
		comp.leave.Store(&leave)
	}
	comp.mu.Unlock()
	c.cfg.Recorder.Append("cluster", comp.name, stopped(p.Exit(), asked))
	switch {
	case asked:
	case comp.startsAgain():
		c.startAgain(again, comp)
	case !c.mayEnd(comp):
		c.fail(p.Exit())
	case comp.kind == build.APIServer:
		c.lead()
		if err := c.observeElsewhere(comp.name); err != nil {
			c.fail(err)
		}
	}
}

func stopped(exit *process.ExitError, asked bool) record.ComponentStopped {
	return record.ComponentStopped{
		State: exit.State, Code: exit.Code, Signal: exit.Signal, Asked: asked, Seconds: exit.Took.Round(time.Millisecond).Seconds(), Overdue: exit.Overdue,
	}
}

func (c *Cluster) stop(comp *component, end func(*process.Process) error) error {
	comp.takeOver()
	p, recorded := comp.running, comp.recorded
	comp.running = nil
	comp.mu.Unlock()
	if p == nil {
		return nil
	}
	if comp.kind == build.APIServer {
		c.lead()
	}
	err := end(p)
	<-recorded // what happens next must not be recorded before
	return err
}

// stopAll ends all components, the last one started first. They are killed: a
// rig that is closed has nothing to save, and asking takes a second.
func (c *Cluster) stopAll() error {
	var failures []error
	for _, comp := range slices.Backward(c.components) {
		failures = append(failures, c.stop(comp, (*process.Process).Kill))
	}
	return errors.Join(failures...)
}

// fileName is what a component's files are called: "kubelet/node-a" is
// kubelet-node-a.
func fileName(component string) string { return strings.ReplaceAll(component, "/", "-") }

// LogName is the name of the file in LogDir that has a component's log.
func LogName(component string) string { return fileName(component) + ".log" }

func (c *Cluster) logFile(name string) string { return filepath.Join(c.cfg.LogDir, LogName(name)) }

// Log returns what a component has said so far.
func (c *Cluster) Log(name string) ([]byte, error) {
	c, _, err := c.find(name)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(c.logFile(name))
}
