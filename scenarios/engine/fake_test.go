package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider"
)

// fakeProvider runs cells on nothing, and notes what is done to it.
type fakeProvider struct {
	refuse error // why nothing can be started

	mu    sync.Mutex
	calls []string
}

var _ provider.Provider = (*fakeProvider)(nil)

func (p *fakeProvider) Unfit(cell plan.Cell) string { return cell.Axes["unfit"] }

func (p *fakeProvider) Components() []reports.Component { return nil }

func (p *fakeProvider) Start(_ context.Context, t provider.Tenant) (provider.Session, error) {
	p.note("open %s", t.Cell.ID)
	if p.refuse != nil {
		return nil, p.refuse
	}
	s := &fakeSession{on: p, history: t.History}
	s.ctx, s.lose = context.WithCancelCause(context.Background())
	return s, nil
}

func (p *fakeProvider) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, fmt.Sprintf(format, args...))
}

// fakeSession has components, and nothing else.
type fakeSession struct {
	on      *fakeProvider
	history *record.History
	ctx     context.Context //nolint:containedctx // as a session's
	lose    context.CancelCauseFunc
	dirty   error // is found when it is closed
}

var _ interface {
	provider.Session
	provider.Components
	provider.Sockets
} = (*fakeSession)(nil)

func (s *fakeSession) Context() context.Context                      { return s.ctx }
func (s *fakeSession) Names() provider.Names                         { return provider.Names{} }
func (s *fakeSession) Endpoint(string) (*rest.Config, error)         { return new(rest.Config), nil }
func (s *fakeSession) EnsureNamespace(context.Context, string) error { return nil }
func (s *fakeSession) Settle(context.Context) error                  { return nil }

func (s *fakeSession) Close() error {
	s.lose(nil)
	s.on.note("close")
	return s.dirty
}

func (s *fakeSession) Start(_ context.Context, to record.Component) error {
	s.on.note("start %s %s %s", to.Name, to.Version, to.Gates)
	return nil
}

func (s *fakeSession) Stop(_ context.Context, component string) error {
	s.on.note("stop %s", component)
	return nil
}

func (s *fakeSession) Kill(component string) error {
	s.on.note("kill %s", component)
	return nil
}

func (s *fakeSession) Sockets(string, int) ([]record.Socket, error) { return nil, nil }

// does is an action of a test.
type does struct {
	name string
	run  func(context.Context, *run) error
}

func (d does) Describe() string { return d.name }

func (d does) Run(ctx context.Context, rig action.Rig) error {
	r, _ := rig.(*run)
	s, _ := r.session.(*fakeSession)
	s.on.note("%s", d.name)
	if d.run == nil {
		return nil
	}
	return d.run(ctx, r)
}

func (does) Facts() action.Facts { return action.Facts{} }

// fails returns an action that fails with an error.
func fails(name string, err error) does {
	return does{name, func(context.Context, *run) error { return err }}
}

// cellOf returns a cell with steps, in their order.
func cellOf(steps ...plan.Step) plan.Cell {
	cell := plan.Cell{ID: "a/b/c", Scenario: "a/b/c", Steps: steps}
	for i := range cell.Steps {
		cell.Steps[i].Number, cell.Steps[i].Name = i+1, fmt.Sprint(i+1)
	}
	return cell
}

// runOnFake runs a cell on a fake provider, and returns its result, what was done, and how its record ends.
func runOnFake(ctx context.Context, t *testing.T, e *Engine, cell plan.Cell) (reports.Cell, []string, record.CellEnded) {
	t.Helper()
	p, is := e.Provider.(*fakeProvider)
	if !is {
		p = new(fakeProvider)
	}
	e.Provider, e.Dir = p, t.TempDir()
	results, err := e.Run(ctx, []plan.Cell{cell})
	if err != nil {
		t.Fatal(err)
	}
	events, err := History(e.Dir, cell.ID, 1)
	if err != nil {
		t.Fatal(err)
	}
	var end record.CellEnded
	for _, ended := range record.All[record.CellEnded](events) {
		end = ended
	}
	if !slices.Contains(p.calls, "close") && p.refuse == nil {
		t.Error("the session is not closed")
	}
	return results[0], p.calls, end
}

var errBroken = errors.New("it broke")
