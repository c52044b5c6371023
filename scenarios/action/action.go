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
	// Run does it.
	Run(ctx context.Context, rig Rig) error
}

// Checker is an action with checks, which the rig watches as part of it.
type Checker interface {
	Checked() []Check
}

// Asker is an action that asks for releases.
type Asker interface {
	// Asks returns them as they are written, by the part of the action as spec.Field names it.
	// One that is empty is not asked for.
	Asks() map[string]release.Version
}

// Starter is an action that starts a program of releases, which is no component of the rig.
type Starter interface {
	Starts() (program string, of []release.Version)
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
		kind[Inline]("apply", request),
		kind[File]("file", request),
		kind[Create]("create", request),
		kind[Patch]("patch", request),
		kind[Put]("put", request),
		kind[ServerSideApply]("serverSideApply", request),
		kind[Client]("client", request),
		kind[Kubectl]("kubectl", request),
		kind[Webhook]("webhook"),
		kind[CRD]("crd"),
		kind[Conversion]("conversion"),
		kind[StaticPod]("staticPod"),
		kind[Delete]("delete", asks),
		kind[Restart]("restart", changes),
		kind[Start]("start", changes),
		kind[Roll]("roll", changes),
		kind[Stop]("stop", changes),
		kind[Kill]("kill", changes),
		kind[Reboot]("reboot", changes),
		kind[Wait]("wait"),
		kind[Scrape]("scrape"),
		kind[Log]("log"),
		kind[Get]("get"),
		kind[Stored]("stored"),
		kind[Store]("store"),
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

func request(k *spec.ActionKind) { k.Request, k.Asks = true, true }
func asks(k *spec.ActionKind)    { k.Asks = true }
func changes(k *spec.ActionKind) { k.Changes = true }
func verdict(k *spec.ActionKind) { k.Verdict = true }

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
