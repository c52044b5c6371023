package action

import (
	"cmp"
	"context"
	"fmt"
	"regexp"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Conversion has API servers ask a conversion webhook about a custom resource from now on, which
// the rig plays, or changes how it converts: all of it is as the last step for that resource says.
// Only the version of an object changes, unless the reply says more.
type Conversion struct {
	// Of is the name of the CustomResourceDefinition: runners.example.com.
	Of string `json:"of"`

	// WebhookReply is what it does. If all of it is unset, it keeps everything. API servers wait for
	// 30 s.
	WebhookReply

	// At is where Reserialize finds pod templates. A list has [] at its end, as in
	// "spec.jobs[].template". If unset, spec.template.
	At string `json:"at,omitempty"`
}

// fieldPath is a path to fields of an object, also within lists.
var fieldPath = regexp.MustCompile(`^[a-zA-Z]\w*(\[\])?(\.[a-zA-Z]\w*(\[\])?)*$`)

func (c Conversion) Check(f spec.Field) {
	f.Refuse(".of", !f.Creates("CustomResourceDefinition", c.Of), "the scenario has no CustomResourceDefinition %s", strict.Quote(c.Of))
	c.checkReply(f)
	f.Refuse(".at", !fieldPath.MatchString(c.At), "%s is no path of a field: write it like spec.template, or spec.jobs[].template", strict.Quote(c.At))
	f.Refuse(".at", !f.Has(".reserialize"), "at goes with reserialize only")
}

func (c Conversion) Plan(s Scene) (_ Action, err error) {
	if c.Reserialize != "" {
		c.At = cmp.Or(c.At, "spec.template")
	}
	c.WebhookReply, err = c.planReply(s)
	return c, err
}

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

func (c Conversion) Run(ctx context.Context, rig Rig) error { return rig.Convert(ctx, c) }

// Facts are those of a conversion webhook, which all API servers ask.
func (c Conversion) Facts() Facts {
	return Facts{Needs: NeedsWebhooks, Reach: ReachAll, Starts: c.starts(), Gives: []Reading{{"conversions", c.Of}}}
}
