package rig

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sync/semaphore"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider"
	"github.com/skewrig/skewrig/scenarios/provider/images"
)

// Provider runs each cell on a rig of its own.
type Provider struct {
	// Binary finds the executable of a component. Builder.Binary does.
	Binary provider.Binary
	// ReportDir is the report directory that rigs name as theirs.
	ReportDir string
	// AllowHost lets cells reach beyond their rigs, as cluster.Config.AllowHost says. If unset, they can't.
	AllowHost bool
	// TempDir is where rigs have their data while they run. If unset, the system's directory for temporary files.
	TempDir string
}

var _ provider.Provider = (*Provider)(nil)

// Unfit implements provider.Provider.
func (p *Provider) Unfit(cell plan.Cell) string { return plan.Untestable(cell) }

// Components implements provider.Provider. The builder has them.
func (p *Provider) Components() []reports.Component { return nil }

// Start starts the rig of a cell.
func (p *Provider) Start(ctx context.Context, t provider.Tenant) (provider.Session, error) {
	s, err := p.start(ctx, t, nil)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// startLimit is how long a rig may take to start.
const startLimit = 5 * time.Minute

// starts are the rigs of this process that start at the same time. One that starts keeps a core busy, and one that runs is
// mostly idle: with more, all are late.
var starts = semaphore.NewWeighted(int64(runtime.NumCPU()))

// mayStart waits until a rig may start, and returns what says that it has.
func mayStart(ctx context.Context) (started func(), err error) {
	if err := starts.Acquire(ctx, 1); err != nil {
		return nil, context.Cause(ctx)
	}
	return func() { starts.Release(1) }, nil
}

// start starts all of a cell's rig, or its nodes at its place on a control plane.
func (p *Provider) start(ctx context.Context, t provider.Tenant, at *place) (*Session, error) {
	if err := provider.Built(ctx, t.Cell, p.Binary); err != nil {
		return nil, err
	}
	library, err := images.Library(ctx, t.Cell.Images, p.Binary)
	if err != nil {
		return nil, err
	}
	config := WithContainers(ctx, ClusterConfig(t.Cell.Topology, library, t.History), images.NewContainers(images.Played{Images: t.Cell.Images}, p.Binary, t.Cell))
	config.AllowHost, config.Binary, config.TempDir, config.LogDir = p.AllowHost, p.Binary, p.TempDir, filepath.Join(t.Dir, reports.LogsDir)
	config.Purpose, config.ReportDir = t.Cell.ID, p.ReportDir
	s := &Session{tenant: t, place: at, namespaces: map[string]bool{metav1.NamespaceDefault: true}}
	if at != nil {
		config.On, config.Suffix, s.names = at.rig, at.suffix, at.names(t.Cell)
	}
	started, err := mayStart(ctx)
	if err != nil {
		return nil, err
	}
	defer started()
	ctx, cancel := t.Machine.WithTimeout(ctx, startLimit, fmt.Errorf("not up within %s", startLimit))
	defer cancel()
	if s.Rig, err = Start(ctx, t.Cell.Topology, config); err != nil {
		return nil, fmt.Errorf("starting the rig: %w", err)
	}
	s.ctx, s.unbind = s.Bind(context.Background())
	return s, nil
}
