package action

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Conversion has API servers ask a conversion webhook about a custom resource from now on, which
// the rig plays, or changes how it converts: all of it is as the last step for that resource says.
// It changes the version of an object, and nothing else unless it is told to.
type Conversion struct {
	// Of is the name of the CustomResourceDefinition: runners.example.com.
	Of string `json:"of"`

	// At most one of Reserialize, Refuse and Away is set. If all are unset, it keeps everything.

	// Reserialize has it read pod templates into the types of a release and write them again, as a
	// webhook does that was built with them. It is a release, "newest", "previous" or a minor
	// version ("v1.36").
	Reserialize release.Version `json:"reserialize,omitempty"`
	// At is where Reserialize finds pod templates. A list has [] at its end, as in
	// "spec.jobs[].template". If unset, spec.template.
	At string `json:"at,omitempty"`
	// Refuse is the message with which it refuses everything.
	Refuse string `json:"refuse,omitempty"`
	// Away has it end connections without an answer.
	Away bool `json:"away,omitempty"`

	// Delay is how long each answer takes. If unset, no time. API servers wait for 30 s.
	Delay behavior.Duration `json:"delay,omitempty"`
}

// fieldPath is a path to fields of an object, also within lists.
var fieldPath = regexp.MustCompile(`^[a-zA-Z]\w*(\[\])?(\.[a-zA-Z]\w*(\[\])?)*$`)

// Check implements spec.Action.
func (c Conversion) Check(f spec.Field) {
	f.Refuse(".of", !f.Creates("CustomResourceDefinition", c.Of), "the scenario has no CustomResourceDefinition %s", strict.Quote(c.Of))
	if does := f.Present("reserialize", "refuse", "away"); len(does) > 1 {
		f.Report("."+does[1], "a webhook does one thing at a time, and this one has %s", strings.Join(does, " and "))
	}
	f.Refuse(".at", !fieldPath.MatchString(c.At), "%s is no path of a field: write it like spec.template, or spec.jobs[].template", strict.Quote(c.At))
	f.Refuse(".at", !f.Has(".reserialize"), "at goes with reserialize only")
	f.Refuse(".refuse", c.Refuse == "", "a refusal has a message")
	f.Duration(".delay", c.Delay)
}

// Asks implements Asker.
func (c Conversion) Asks() map[string]release.Version {
	return map[string]release.Version{".reserialize": c.Reserialize}
}

// Change implements spec.Changer.
func (c Conversion) Change(r *spec.Rig) {
	if c.Reserialize != "" {
		r.Resolve(".reserialize", c.Reserialize)
	}
	mustRun(r, "", r.Servers()[0].Name)
}

// Plan implements Planner.
func (c Conversion) Plan(s Scene) (Action, error) {
	if c.Reserialize == "" {
		return c, nil
	}
	v, err := spec.ResolveVersion(c.Reserialize)
	c.Reserialize, c.At = s.Rig.On(spec.TypedClient, v), cmp.Or(c.At, "spec.template")
	return c, err
}

// Starts implements Starter.
func (c Conversion) Starts() (string, []release.Version) {
	if c.Reserialize == "" {
		return "", nil
	}
	return spec.TypedClient, []release.Version{c.Reserialize}
}

// Describe implements Action.
func (c Conversion) Describe() string {
	text := fmt.Sprintf("conversion of %s: %s", c.Of, c.does())
	if c.Delay != 0 {
		text += fmt.Sprintf(" after %s", c.Delay)
	}
	return OneLine(text)
}

// does is how it converts.
func (c Conversion) does() string {
	switch {
	case c.Reserialize != "":
		return fmt.Sprintf("write %s by the types of %s", c.At, c.Reserialize)
	case c.Refuse != "":
		return "refuse with " + strict.Quote(c.Refuse)
	case c.Away:
		return "be away"
	default:
		return "keep everything"
	}
}

// Run implements Action.
func (c Conversion) Run(ctx context.Context, rig Rig) error { return rig.Convert(ctx, c) }
