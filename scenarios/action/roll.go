package action

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Roll restarts components as another release or with other gates, one after the other, as an
// upgrade or a rollback of a cluster does.
type Roll struct {
	// To is a release, "newest", "previous" or a minor version ("v1.36"). A component that is
	// of it stays as it is, unless its gates change. If unset, each stays of its release.
	To release.Version `json:"to,omitempty"`
	// Order is which components come when: servers, controllerManagers, schedulers and
	// kubelets. Those of a kind come in the order of their names, and what is left out stays
	// as it is. If unset, an upgrade takes all in this order, and a rollback the other way
	// round, as the version skew policy asks for.
	Order []string `json:"order,omitempty"`
	// Gates are set on top of the gates of before.
	Gates release.Gates `json:"gates,omitempty"`
	// Unset are gates that are no longer set to anything, where they are.
	Unset []string `json:"unset,omitempty"`
	// EmulatedVersion is the minor version that the control plane emulates: a release,
	// "newest", "previous" or a minor version ("v1.36"). If unset, unchanged.
	EmulatedVersion release.Version `json:"emulatedVersion,omitempty"`

	// Restarts are the restarts, one by one.
	Restarts []Restart `json:"-"`
}

// ordered are the programs by what an order calls them, in the order of an upgrade.
var ordered = []struct{ name, program string }{
	{"servers", spec.APIServer},
	{"controllerManagers", spec.ControllerManager},
	{"schedulers", spec.Scheduler},
	{"kubelets", "kubelet"},
}

func orderedNames() (names []string) {
	for _, o := range ordered {
		names = append(names, o.name)
	}
	return names
}

func (s Roll) Check(f spec.Field) {
	if s.To == "" && len(s.Gates) == 0 && len(s.Unset) == 0 && s.EmulatedVersion == "" {
		f.Report("", "nothing would change: give to, gates, unset or emulatedVersion")
	}
	for i, name := range s.Order {
		at := ".order" + index(i)
		f.Refuse(at, !slices.Contains(orderedNames(), name), "%s can't be rolled: %s", strict.Quote(name), strict.DidYouMean(name, orderedNames()))
		f.Refuse(at, slices.Contains(s.Order[:i], name), "%s are rolled before", name)
	}
}

func (s Roll) Asks() map[string]release.Version { return map[string]release.Version{".to": s.To} }

// restarts are the restarts that roll a rig, as it is before the step.
func (s Roll) restarts(r *spec.Rig) (all []Restart) {
	to, err := r.Meant(s.To)
	if err != nil {
		r.Conflict(".to", "%v", err)
		return nil
	}
	order := s.Order
	if len(order) == 0 {
		order = orderedNames()
		if s.To != "" && to.Minor() < newest(r.Servers()).Minor() {
			slices.Reverse(order)
		}
	}
	for _, name := range order {
		for _, c := range r.Components() {
			if !c.Running || strings.HasPrefix(c.Name, spec.Seed+"/") || !isOrdered(name, c) {
				continue
			}
			restart := Restart{Component: c.Name, Gates: s.Gates, Unset: slices.DeleteFunc(slices.Clone(s.Unset), func(gate string) bool { _, set := c.Asked[gate]; return !set })}
			if s.To != "" && r.On(c.Name, to) != c.Version {
				restart.Version = s.To
			}
			if spec.Emulates(c.Name) {
				restart.EmulatedVersion = r.Minor(".emulatedVersion", c.Name, s.EmulatedVersion)
			}
			emulates := restart.EmulatedVersion != "" && restart.EmulatedVersion != c.EmulatedVersion
			if restart.Version != "" || emulates || !maps.Equal(c.Asked, c.Asked.With(restart.Gates, restart.Unset...)) {
				all = append(all, restart)
			}
		}
	}
	return all
}

// newest is the newest release of components.
func newest(of []spec.Component) (v release.Version) {
	for _, c := range of {
		if v == "" || v.Compare(c.Version) < 0 {
			v = c.Version
		}
	}
	return v
}

// isOrdered reports whether a name of an order stands for a component.
func isOrdered(name string, c spec.Component) bool {
	for _, o := range ordered {
		if o.name == name {
			return spec.Program(c.Name) == o.program
		}
	}
	return false
}

func (s Roll) Change(r *spec.Rig) {
	restarts := s.restarts(r)
	if len(restarts) == 0 {
		r.Conflict("", "nothing would change about this rig")
	}
	for _, restart := range restarts {
		restart.Change(r)
		r.CheckRules(".order")
	}
}

func (s Roll) Plan(scene Scene) (Action, error) {
	var err error
	s.Restarts = nil
	for _, restart := range s.restarts(scene.Rig) {
		planned, wrong := restart.Plan(scene)
		if wrong != nil {
			err = wrong
			continue
		}
		s.Restarts = append(s.Restarts, planned.(Restart)) //nolint:forcetypeassert // a Restart plans itself
	}
	s.EmulatedVersion = scene.Rig.Minor(".emulatedVersion", spec.APIServer, s.EmulatedVersion)
	if err == nil && s.To != "" {
		s.To, err = scene.Rig.Meant(s.To)
	}
	return s, err
}

// Describe implements Action: what is restarted, in this order, and as what.
func (s Roll) Describe() string {
	var names []string
	for _, restart := range s.Restarts {
		names = append(names, restart.Component)
	}
	return OneLine(fmt.Sprintf("roll %s: %s", Restart{Version: s.To, Gates: s.Gates, Unset: s.Unset, Settings: spec.Settings{EmulatedVersion: s.EmulatedVersion}}.to(), strings.Join(names, ", ")))
}

func (s Roll) Run(ctx context.Context, rig Rig) error {
	for _, restart := range s.Restarts {
		if err := rig.Restart(ctx, restart); err != nil {
			return fmt.Errorf("%s: %w", restart.Describe(), err)
		}
	}
	return nil
}

// Facts are those of components that start one after the other. The kubelets are the cell's own, and the control plane
// is not.
func (s Roll) Facts() Facts {
	f := Facts{Needs: NeedsRestarts, Changes: true, Restarts: s.Restarts, Estimate: time.Duration(len(s.Restarts)) * startEstimate / 2}
	kubelets := 0
	for _, restart := range s.Restarts {
		f.Ends = append(f.Ends, restart.Component)
		if strings.HasPrefix(restart.Component, spec.KubeletPrefix) {
			kubelets++
		}
	}
	switch kubelets {
	case 0:
		f.Reach = ReachChanges
	case len(s.Restarts):
		f.Reach = ReachOwn
	default:
		f.Reach = ReachAll
	}
	return f
}
