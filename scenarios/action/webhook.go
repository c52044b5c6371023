package action

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Webhook has API servers ask an admission webhook from now on, which the rig plays, or changes
// what it answers: all of it is as the last step of that name says. Deleting
// mutatingwebhookconfigurations/<name> ends it.
type Webhook struct {
	// Name is that of the configuration.
	Name string `json:"name"`
	// Rules are about what it is asked. It never is about itself: API servers see to that.
	Rules []WebhookRule `json:"rules"`
	// Validating has it asked after all that change objects. If unset, it may change them.
	Validating bool `json:"validating,omitempty"`

	// Patch is a JSON patch (RFC 6902) of each object. It may be set if nothing of the reply is
	// but Delay. If all are unset, the webhook allows everything as it is.
	Patch []PatchOperation `json:"patch,omitempty"`
	WebhookReply

	// Timeout is how long an API server waits, in whole seconds up to 30 s. If unset, 10 s.
	Timeout behavior.Duration `json:"timeout,omitempty"`
	// FailurePolicy is what an API server does without an answer: Fail or Ignore. If unset, Fail.
	FailurePolicy string `json:"failurePolicy,omitempty"`
}

// WebhookRule is about what a webhook is asked (k8s.io/api, admissionregistration/v1).
type WebhookRule struct {
	// Operations are CREATE, UPDATE, DELETE, CONNECT or "*".
	Operations []string `json:"operations"`
	// APIGroups and APIVersions are those of the resources. If unset, all.
	APIGroups   []string `json:"apiGroups,omitempty"`
	APIVersions []string `json:"apiVersions,omitempty"`
	// Resources are plural names, with a subresource as in pods/status, or "*".
	Resources []string `json:"resources"`
}

// PatchOperation is an operation of a JSON patch (RFC 6902).
type PatchOperation struct {
	// Op is add, remove, replace or test.
	Op string `json:"op"`
	// Path is a JSON pointer (RFC 6901) into the object.
	Path string `json:"path"`
	// Value goes with all but remove.
	Value *any `json:"value,omitempty"`
}

// The failure policies, and the default timeout of a webhook.
const (
	FailPolicy     = "Fail"
	IgnorePolicy   = "Ignore"
	defaultTimeout = 10 * time.Second
	maxTimeout     = 30 * time.Second
)

var webhookName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?$`)

func (w Webhook) Check(f spec.Field) {
	f.Refuse(".name", !webhookName.MatchString(w.Name), "%s can't name a webhook: use small letters, digits and -", strict.Quote(w.Name))
	f.Refuse(".rules", len(w.Rules) == 0, "a webhook without rules is never asked")
	for i, r := range w.Rules {
		r.check(f.In(".rules" + index(i)))
	}
	w.checkReply(f, "patch")
	f.Refuse(".validating", w.Validating && len(f.Present("patch", "reserialize")) > 0, "a validating webhook changes no object")
	for i, o := range w.Patch {
		o.check(f.In(".patch" + index(i)))
	}
	f.Refuse(".patch", len(w.Patch) == 0, "the patch changes nothing")
	timeout := time.Duration(w.Timeout)
	f.Refuse(".timeout", timeout < time.Second || timeout > maxTimeout || timeout%time.Second != 0, "a timeout is 1s to 30s, in whole seconds")
	f.Refuse(".failurePolicy", w.FailurePolicy != FailPolicy && w.FailurePolicy != IgnorePolicy, "%s is no failure policy: Fail or Ignore", strict.Quote(w.FailurePolicy))
}

func (r WebhookRule) check(f spec.Field) {
	operations := []string{"CREATE", "UPDATE", "DELETE", "CONNECT", "*"}
	f.Refuse(".operations", len(r.Operations) == 0, "a rule without operations matches nothing")
	for i, o := range r.Operations {
		f.Refuse(".operations"+index(i), !slices.Contains(operations, o), "%s is no operation: %s", strict.Quote(o), strict.DidYouMean(o, operations))
	}
	f.Refuse(".resources", len(r.Resources) == 0, "a rule without resources matches nothing")
	for i, resource := range r.Resources {
		of, part, both := strings.Cut(resource, "/")
		if both && part != "*" && of != "*" {
			checkSubresourceAt(f, ".resources"+index(i), of, part)
		}
	}
}

func (o PatchOperation) check(f spec.Field) {
	f.Refuse(".op", !slices.Contains([]string{"add", "remove", "replace", "test"}, o.Op), "%s is no operation of a JSON patch: add, remove, replace or test", strict.Quote(o.Op))
	f.Refuse(".path", !strings.HasPrefix(o.Path, "/"), "%s is no JSON pointer into an object: it begins with /", strict.Quote(o.Path))
	f.Refuse("", o.Op != "remove" && o.Value == nil, "%s needs a value", o.Op)
	f.Refuse(".value", o.Op == "remove", "remove has no value")
}

func (w Webhook) Plan(s Scene) (_ Action, err error) {
	if w.Timeout == 0 {
		w.Timeout = behavior.Duration(defaultTimeout)
	}
	if w.FailurePolicy == "" {
		w.FailurePolicy = FailPolicy
	}
	w.WebhookReply, err = w.planReply(s)
	return w, err
}

// Resource is the one of its configuration.
func (w Webhook) Resource() string {
	if w.Validating {
		return "validatingwebhookconfigurations"
	}
	return "mutatingwebhookconfigurations"
}

func (w Webhook) Describe() string {
	var asked []string
	for _, r := range w.Rules {
		asked = append(asked, strings.Join(r.Operations, "|")+" of "+strings.Join(r.Resources, ", "))
	}
	text := fmt.Sprintf("webhook %s on %s: %s", w.Name, strings.Join(asked, ", "), w.does())
	if w.Delay != 0 {
		text += fmt.Sprintf(" after %s", w.Delay)
	}
	return OneLine(fmt.Sprintf("%s (timeout %s, failure policy %s)", text, w.Timeout, w.FailurePolicy))
}

// does is what it answers.
func (w Webhook) does() string {
	switch {
	case w.Patch != nil:
		return "patch " + shorten(Encode(w.Patch))
	case w.Reserialize != "":
		return "write by the types of " + string(w.Reserialize)
	case w.Refuse != "":
		return "refuse with " + strict.Quote(w.Refuse)
	case w.Away:
		return "be away"
	default:
		return "allow"
	}
}

func (w Webhook) Run(ctx context.Context, rig Rig) error { return rig.Webhook(ctx, w) }

// Facts are those of an admission webhook, which all API servers ask.
func (w Webhook) Facts() Facts {
	return Facts{Needs: NeedsWebhooks, Reach: ReachAll, Starts: w.starts(), Gives: []Reading{{"webhooks", w.Name}}}
}
