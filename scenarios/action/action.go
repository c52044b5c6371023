// Package action has one file for each kind of action that a step can be: how it
// is written, what is wrong with it, what it changes about a rig, what it says,
// and how it is done. Nothing in it knows how a rig is made.
package action

import (
	"context"
	"io/fs"
	"reflect"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Action is what a planned step does.
type Action interface {
	// Describe says it in one line.
	Describe() string
	// Facts are what is known of it beforehand.
	Facts() Facts
	// Run does it.
	Run(ctx context.Context, rig Rig) error
}

// Asker is an action that asks for releases.
type Asker interface {
	// Asks returns them as they are written, by the part of the action as spec.Field names it.
	// One that is empty is not asked for.
	Asks() map[string]release.Version
}

// Planner is an action as it stands in a scenario that is not yet what is done.
type Planner interface {
	// Plan returns what is to be done, on a rig as it is before the step.
	Plan(Scene) (Action, error)
}

// Scene is where an action has its turn.
type Scene struct {
	Scenario *spec.Scenario
	Step     spec.Step
	Name     string // of the step
	Rig      *spec.Rig
	// Line returns the line of a part of the action, which is named as in
	// spec.Field.
	Line func(part string) int
}

// Kinds returns all kinds of actions.
func Kinds() []spec.ActionKind {
	return []spec.ActionKind{
		kind[Inline]("apply", request, names(spec.Fields{Objects: spec.All})),
		kind[File]("file", request),
		kind[Create]("create", request, names(spec.Fields{Objects: "object"})),
		kind[Patch]("patch", request, names(spec.Fields{Object: "object", Merge: "merge"})),
		kind[Put]("put", request, names(spec.Fields{Object: "object", Merge: "merge"})),
		kind[ServerSideApply]("serverSideApply", request, names(spec.Fields{Objects: "object"})),
		kind[Client]("client", request, names(spec.Fields{Object: "update"})),
		kind[Kubectl]("kubectl", request, names(spec.Fields{Objects: "input"})),
		kind[Webhook]("webhook"),
		kind[CRD]("crd"),
		kind[Conversion]("conversion"),
		kind[StaticPod]("staticPod", unknown, names(spec.Fields{Pod: "pod"})),
		kind[Delete]("delete", asks, names(spec.Fields{Object: "object"})),
		kind[Restart]("restart", changes),
		kind[Start]("start", changes),
		kind[Roll]("roll", changes),
		kind[Stop]("stop", changes),
		kind[Kill]("kill", changes),
		kind[Reboot]("reboot", changes),
		kind[Wait]("wait"),
		kind[Settle]("settle"),
		kind[Scrape]("scrape"),
		kind[Log]("log"),
		kind[Get]("get"),
		kind[Stored]("stored"),
		kind[Store]("store", names(spec.Fields{Object: "object", Merge: "merge"})),
		kind[Sockets]("sockets"),
		kind[PodsAPI]("podsAPI"),
		kind[Route]("route", changes),
		shorthand[Cut]("cut", changes),
		shorthand[Slow]("slow", changes),
		shorthand[Answer]("answer", changes),
		shorthand[Lose]("lose", changes),
		shorthand[Crash]("crash", changes),
		shorthand[Stale]("stale", changes),
		shorthand[Heal]("heal", changes),
		kind[Clock]("clock", changes),
		kind[WrittenChecks]("checks", verdict),
	}
}

// kind is the kind of action whose written form is of type T.
func kind[T spec.Action](name string, options ...func(*spec.ActionKind)) spec.ActionKind {
	return kindOf(reflect.TypeFor[T](), name, options)
}

// shorthand is the kind of action for which a T stands.
func shorthand[T spec.Shorthand](name string, options ...func(*spec.ActionKind)) spec.ActionKind {
	return kindOf(reflect.TypeFor[T](), name, options)
}

func kindOf(written reflect.Type, name string, options []func(*spec.ActionKind)) spec.ActionKind {
	k := spec.ActionKind{Name: name, Type: written}
	for _, option := range options {
		option(&k)
	}
	return k
}

func request(k *spec.ActionKind) { k.Request, k.Asks, k.Unknown = true, true, true }
func unknown(k *spec.ActionKind) { k.Unknown = true }
func asks(k *spec.ActionKind)    { k.Asks = true }
func changes(k *spec.ActionKind) { k.Changes = true }
func verdict(k *spec.ActionKind) { k.Verdict = true }

// names is for an action with fields that name something of Kubernetes.
func names(fields spec.Fields) func(*spec.ActionKind) {
	return func(k *spec.ActionKind) { k.Fields = fields }
}

// Load is spec.Load for scenarios with all kinds of actions.
func Load(fsys fs.FS, paths []string) ([]*spec.File, error) {
	return LoadWith(Options{}, fsys, paths)
}

// Options are what scenarios don't say themselves.
type Options = spec.Options

// LoadWith is Load with options.
func LoadWith(options Options, fsys fs.FS, paths []string) ([]*spec.File, error) {
	return spec.Load(fsys, paths, options, Kinds()...)
}
