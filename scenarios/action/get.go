package action

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Get asks a component for what it has at a path, and reads the answer into the
// record.
type Get struct {
	// Path is the path, with a query if there is one: /openapi/v3/api/v1.
	Path string `json:"path"`
	// Component is an API server, or kubelet/<node>. If unset, the
	// first API server.
	Component string `json:"component,omitempty"`
	// Accept is the header Accept of the request: of media types, those that are wanted. If
	// unset, it has none, and Kubernetes answers in JSON.
	Accept string `json:"accept,omitempty"`
	// Code has the component asked again until it answers with this HTTP status, for Within. Its
	// last answer is recorded. If unset, it is asked once.
	Code int `json:"code,omitempty"`
	// Within is how long it is asked again. If unset, 10 s.
	Within behavior.Duration `json:"within,omitempty"`
}

// askAgain is the default of Within.
const askAgain = 10 * time.Second

func (g Get) Check(f spec.Field) {
	f.Refuse(".path", !strings.HasPrefix(g.Path, "/"), "%s is not a path: it begins with /", strict.Quote(g.Path))
	f.Refuse(".code", f.Has(".code") && http.StatusText(g.Code) == "", "%d is no HTTP status", g.Code)
	f.Refuse(".within", f.Has(".within") && !f.Has(".code"), "within goes with code only")
	f.Duration(".within", g.Within)
	f.Refuse(".accept", !httpguts.ValidHeaderFieldValue(g.Accept), "%s can't be in a header", strict.Quote(g.Accept))
	if g.Component != "" && spec.Program(g.Component) != spec.APIServer && !strings.HasPrefix(g.Component, spec.KubeletPrefix) {
		f.Report(".component", "%s can't be asked: API servers and kubelets can", strict.Quote(g.Component))
	}
}

func (g Get) Change(r *spec.Rig) { mustRun(r, ".component", cmp.Or(g.Component, r.Servers()[0].Name)) }

func (g Get) Plan(scene Scene) (Action, error) {
	g.Component = cmp.Or(g.Component, scene.Rig.Servers()[0].Name)
	if g.Code != 0 {
		g.Within = cmp.Or(g.Within, behavior.Duration(askAgain))
	}
	return g, nil
}

func (g Get) Describe() string {
	text := "get " + g.Path + " of " + g.Component
	if g.Accept != "" {
		text += " as " + g.Accept
	}
	if g.Code != 0 {
		text += fmt.Sprintf(", for up to %s until it answers %d", g.Within, g.Code)
	}
	return OneLine(text)
}

func (g Get) Run(ctx context.Context, rig Rig) error { return rig.Get(ctx, g) }

// Facts are those of a request for a path.
func (g Get) Facts() Facts {
	return Facts{
		Needs: NeedsPaths, Component: g.Component, Reach: ofComponent(g.Component, ReachShared), Gives: gives("requests"),
		Lasts: time.Duration(g.Within),
	}
}
