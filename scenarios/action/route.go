package action

import (
	"context"
	"strings"

	"github.com/skewrig/skewrig/scenarios/spec"
)

// Route leads a component to other API servers.
type Route struct {
	// From is who connects: kubelet/<node>, a controller manager, a scheduler or lease-nodes, and
	// of a garden dependency-watchdog.
	From string `json:"from"`
	// To is an API server, or several that get the connections in turn, by the names of
	// controlPlane.servers. Connections to others are reset.
	To spec.Via `json:"to"`
}

// Check implements spec.Action. The rig judges the rest.
func (s Route) Check(f spec.Field) {
	f.Named(".from", s.From)
	f.Refuse(".to", len(s.To) == 0, "the list is empty")
}

func (s Route) Change(r *spec.Rig) {
	c := r.Find(".from", s.From)
	if c == nil || !connects(r, ".from", *c) {
		return
	}
	if !strings.HasPrefix(c.Name, spec.KubeletPrefix) && !spec.IsController(c.Name) && c.Name != spec.Watchdog && c.Name != spec.LeasingNodes {
		r.Conflict(".from", "%s always connects to the first API server", c.Name)
		return
	}
	r.CheckVia(".to", s.To)
	c.Via = s.To
	r.CheckSkew(".to", *c)
}

func (s Route) Describe() string {
	return OneLine("route " + s.From + " to " + strings.Join(s.To, ", "))
}

func (s Route) Run(_ context.Context, rig Rig) error { return rig.Route(s.From, s.To) }

// Facts are those of a link that leads elsewhere. A link of the control plane is part of it from the beginning.
func (s Route) Facts() Facts {
	f := Facts{Needs: NeedsRoutes, Component: s.From, Reach: ofComponent(s.From, ReachAll), Changes: true}
	if s.From != spec.Watchdog { // which has a link anyway
		f.Links = []spec.Link{{From: s.From, To: spec.APIServer}}
	}
	return f
}
