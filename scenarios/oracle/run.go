package oracle

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"sync"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/kube"
	"github.com/skewrig/skewrig/scenarios/ledger"
	"github.com/skewrig/skewrig/scenarios/model"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// rules are those of the model, by the ledgers and the tables of gates. Their
// errors are returned to callers who ask for the statements.
var rules = sync.OnceValue(func() model.Rules {
	fields, _ := ledger.Fields()
	gates, _ := release.KnownTables()
	return model.Rules{Fields: fields, Gates: gates}
})

// run is a timeline, with the plan and the rules by which the oracles judge it.
type run struct {
	*timeline.Timeline
	model.Rules
	cell plan.Cell
	// byUID are the states of each object, in the order of their appearance. That an
	// object is gone is not among them.
	byUID [][]*timeline.Version
	// asked are the answers to the scenario's own requests that succeeded.
	asked []*timeline.Answer
	// manifests are the objects with which the scenario creates others, by the
	// step, the resource and the name, and changes its changes of others by the step.
	manifests map[[3]string]*timeline.Version
	changes   map[string]change
	// admissions are the admission webhooks, in the order of the steps that change them.
	admissions []admission
	// definitions are those of custom resources, likewise.
	definitions map[string][]definition
}

// change is what a step changes about an object.
type change struct {
	merge map[string]any
	// client is the release by whose types all of the object is written, and several is true
	// if that is done more than once. Without a client, all fields are kept.
	client  release.Version
	several bool
	// managed is true if it depends on field managers what is changed.
	managed bool
	// anything is true if anything may be changed.
	anything bool
}

// changeBy is what an action changes about an object.
func changeBy(facts action.Facts) change {
	c := change{client: facts.Types, several: facts.Times > 1, anything: facts.WritesAnything}
	w := facts.Writes
	switch {
	case w == nil:
	case w.Subresource != "" && w.Verb != action.Patches:
		return change{} // nothing but that part is written
	default:
		c.merge, c.managed = w.Body, w.Verb == action.Applies
	}
	return c
}

func newRun(rules model.Rules, cell plan.Cell, t *timeline.Timeline) *run {
	r := &run{
		Timeline: t, Rules: rules, cell: cell, byUID: groupByUID(t.Versions), admissions: admissions(cell, t.Steps), definitions: definitions(cell, t.Steps),
		manifests: make(map[[3]string]*timeline.Version), changes: make(map[string]change),
	}
	for _, a := range t.Answers {
		if a.Code < http.StatusMultipleChoices {
			r.asked = append(r.asked, a)
		}
	}
	resources := make(map[string]string) // of custom kinds
	for _, step := range cell.Steps {
		facts := step.Action.Facts()
		for _, manifest := range facts.Creates {
			if kind, resource, is := kube.Definition(manifest); is {
				resources[kind] = resource
			}
			kind, _ := manifest["kind"].(string)
			r.creates(step.Name, cmp.Or(resources[kind], kube.Resource(kind)), manifest)
		}
		r.changes[step.Name] = changeBy(facts)
	}
	return r
}

// creates takes an object into account that a step creates.
func (r *run) creates(step, resource string, manifest map[string]any) {
	body, err := json.Marshal(manifest)
	if err != nil {
		return // it was read from a file
	}
	o := timeline.NewVersion(resource, body)
	r.manifests[[3]string{step, resource, o.Meta().Name}] = o
}

// manifest returns the object with which the scenario created one.
func (r *run) manifest(a *timeline.Answer) (*timeline.Version, bool) {
	o, known := r.manifests[[3]string{a.Step, a.Response.Resource, a.Response.Meta().Name}]
	return o, known
}

// shownBy returns the process of the API server that showed an object so. Where none was
// ready, it may be the last one's or the next one's.
func (r *run) shownBy(v *timeline.Version) (*timeline.Life, bool) {
	return r.ReadyAt(v.Server, v.Place)
}

// answeredBy returns the process of the API server that gave an answer.
func (r *run) answeredBy(a *timeline.Answer) (*timeline.Life, bool) {
	return r.ReadyAt(a.By(), a.Place)
}

// creator returns the process of the API server that created an object, by a state in which it
// was seen, if only one can have.
func (r *run) creator(v *timeline.Version) (*timeline.Life, bool) {
	i := slices.IndexFunc(r.asked, func(a *timeline.Answer) bool {
		return a.Created() && a.Response.Meta().UID == v.Meta().UID
	})
	if i >= 0 {
		return r.answeredBy(r.asked[i])
	}
	server, runs := r.shownBy(v)
	return server, runs && len(r.Servers()) == 1
}

// component is a process as the model has it.
func component(l *timeline.Life) model.Component {
	return model.Component{Effective: l.Effective(), Gates: l.Gates}
}

// groupByUID returns the states of each object of the rig itself that pods may be
// about, in the order of their appearance.
func groupByUID(versions []*timeline.Version) (all [][]*timeline.Version) {
	places := make(map[string]int)
	for _, v := range versions {
		if v.Gone() || v.Cluster != "" || v.Resource == "leases" || v.Meta().UID == "" {
			continue
		}
		uid := string(v.Meta().UID)
		i, seen := places[uid]
		if !seen {
			i = len(all)
			places[uid] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], v)
	}
	return all
}

// values are the values of a field of the model in an object.
func values(f model.Field, v *timeline.Version) model.Values { return f.In(v.Resource, v.Fields()) }

// uses reports whether an object has one of the fields.
func (r *run) uses(v *timeline.Version) bool {
	for _, f := range r.Fields {
		if f.Used(v.Resource, values(f, v)) {
			return true
		}
	}
	return false
}

// handler is what a probe of an object does, in the terms of the model. Without
// defaults, a value that a release may fill in is as if it were not set.
func (r *run) handler(v *timeline.Version, p timeline.Probe, defaults bool) model.Handler {
	h := model.Handler{Kind: p.Kind, Hook: p.Hook, Values: make(map[string]string)}
	if p.Handler.HTTPGet != nil {
		h.Scheme = string(p.Handler.HTTPGet.Scheme)
	}
	for _, f := range r.FieldsOf(h.Kind) {
		value := values(f, v)[p.List+"/"+p.Container+"/"+p.Field()]
		if value != "" && (defaults || value != f.Default) {
			h.Values[f.Name()] = value
		}
	}
	return h
}

// handlersOn returns what the probes and hooks of a pod do that go to a port.
func (r *run) handlersOn(v *timeline.Version, port int32, defaults bool) (all []model.Handler) {
	for _, p := range timeline.Probes(v.PodSpec()) {
		if p.Kind != "" && p.Port == port {
			all = append(all, r.handler(v, p, defaults))
		}
	}
	return all
}
