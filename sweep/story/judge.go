package story

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/law/rest"
	"github.com/skewrig/skewrig/sweep/trial"
)

// Result is what a sweep of stories came to.
type Result struct {
	Version    release.Version `json:"version"`
	Dimensions []string        `json:"dimensions"`
	Shard      reports.Shard   `json:"shard,omitzero"`
	// Partial is true until the sweep has run to its end, and Left are the batches for which the budget was too small.
	Partial bool     `json:"partial,omitempty"`
	Left    []string `json:"left,omitempty"`
	// Batches are those that ran.
	Batches []BatchResult `json:"batches"`
	// Findings were seen again alone, and not in their controls. NotConfirmed are others.
	Findings     []Finding `json:"findings"`
	NotConfirmed []Finding `json:"notConfirmed,omitempty"`
}

// BatchResult is a batch that ran.
type BatchResult struct {
	ID      string  `json:"id"`
	Stories int     `json:"stories"`
	Objects int     `json:"objects"`
	Seconds float64 `json:"seconds"`
	// Error is why it can't be judged, if it can't.
	Error string `json:"error,omitempty"`
	// Restless are the steps after which all was not at rest in time.
	Restless []string `json:"restless,omitempty"`
}

// Finding is a law that objects of a kind break.
type Finding struct {
	// Law is the breach, Class the kind of harm, and Components are the programs of which one breaks it.
	Law        string   `json:"law"`
	Class      string   `json:"class"`
	Components []string `json:"components"`
	// Resource is the kind of the objects in the plural. If unset, it is about a component.
	Resource string `json:"resource,omitempty"`
	// Found are the stories that show it, sorted by name.
	Found []Found `json:"found"`
}

// Found is a story that shows a finding.
type Found struct {
	Dimension string `json:"dimension"`
	Story     string `json:"story"`
	// Act is the act after which it was seen first, counted from 1, or 0 if the objects only had to be there. Healed is true if
	// it was seen once its fault had ended.
	Act    int  `json:"act"`
	Healed bool `json:"healed,omitempty"`
	// Words say what was done.
	Words  string `json:"words"`
	Object string `json:"object"`
	Detail string `json:"detail"`
	// Scenario is the id of the scenario with which it was looked for again alone. That of the control has ControlSuffix.
	Scenario string `json:"scenario,omitempty"`
	// Alone is how often it was seen again alone, and Control how often without that act. If unset, it was not tried.
	Alone   *trial.Rate `json:"alone,omitempty"`
	Control *trial.Rate `json:"control,omitempty"`
}

// StoryID is the ID of the story.
func (f Found) StoryID() string { return Story{Dimension: f.Dimension, Name: f.Story}.ID() }

// Confirmed reports whether it was seen each time alone, and not once in the control, if there is one.
func (f Found) Confirmed() bool {
	return f.Alone != nil && f.Alone.Runs > 0 && f.Alone.Red == f.Alone.Runs && (f.Control == nil || f.Control.Runs > 0 && f.Control.Red == 0)
}

// Unconfirmed is the place of the story that is to be tried next: the first one that was not, unless another one is confirmed.
func (f Finding) Unconfirmed() (place int, is bool) {
	place = slices.IndexFunc(f.Found, func(of Found) bool { return of.Alone == nil })
	return place, place >= 0 && !slices.ContainsFunc(f.Found, Found.Confirmed)
}

// Signature is what stories have in common that show one finding.
func (f Finding) Signature() string { return strings.TrimPrefix(f.Resource+": "+f.Law, ": ") }

// refusals are the breaches of changes that are refused for what was not asked for, by the patch and the message of the refusal.
var refusals = []struct {
	breach string
	is     func(patch, message string) bool
}{
	{"a change is refused for what it leaves alone", isAboutOthers},
	{"a change is refused for a value that was not sent", isNegated},
}

// failed reports the requests of stories that an API server answers with 500 while there is no fault.
func (b Batch) failed(t *timeline.Timeline, report func(Finding, Found)) {
	for _, a := range t.Answers {
		s, of := b.At(a.Object)
		faulty := slices.ContainsFunc(t.Faults, func(f *timeline.Fault) bool { return f.LastsAt(a.Place) })
		if !of || faulty || a.Code != http.StatusInternalServerError {
			continue
		}
		act, _ := actIn(a.Step)
		report(
			Finding{Law: "a request is answered with 500", Class: "500", Components: []string{record.APIServer}, Resource: resourceOf(a.Object)},
			Found{Dimension: s.Dimension, Story: s.Name, Act: act, Words: s.String(), Object: a.Object, Detail: a.Message},
		)
	}
}

// refused reports the patches that were refused, and whose refusal is not about what they change.
func (b Batch) refused(t *timeline.Timeline, report func(Finding, Found)) {
	patches := make(map[string]string) // by step
	for _, step := range b.steps("") {
		if name, named := step["name"].(string); named && step["patch"] != nil {
			patches[name] = fmt.Sprint(step["patch"])
		}
	}
	for _, a := range t.Answers {
		s, of := b.At(a.Object)
		act, is := actIn(a.Step)
		if patches[a.Step] == "" || !of || !is || a.Code != http.StatusForbidden && a.Code != http.StatusUnprocessableEntity {
			continue
		}
		for _, r := range refusals {
			if r.is(patches[a.Step], a.Message) {
				report(
					Finding{Law: r.breach, Class: "valid thing refused", Components: []string{record.APIServer}, Resource: resourceOf(a.Object)},
					Found{Dimension: s.Dimension, Story: s.Name, Act: act, Words: s.String(), Object: a.Object, Detail: fmt.Sprintf("%d %s", a.Code, a.Message)},
				)
			}
		}
	}
}

// resourceOf is the resource of an object, by its key.
func resourceOf(key string) string {
	resource, _, _ := strings.Cut(key, "/")
	return ofStory.ReplaceAllString(resource, "")
}

// ofStory is the namespace of a story in the name of a resource that it defines.
var ofStory = regexp.MustCompile("^story-[0-9]+")

// units are the resources of which a refusal can be about.
var units = []string{"cpu", "memory", "storage"}

// isAboutOthers reports whether a message is about resources, and none of them is in the patch.
func isAboutOthers(patch, message string) bool {
	about := func(text string) []string {
		return slices.DeleteFunc(slices.Clone(units), func(unit string) bool { return !strings.Contains(text, unit) })
	}
	named := about(message)
	return len(named) > 0 && !slices.ContainsFunc(named, func(unit string) bool { return slices.Contains(about(patch), unit) })
}

var negative = regexp.MustCompile(`Invalid value: "?-[0-9]`)

// isNegated reports whether a message is about a negative value, and the patch has none.
func isNegated(patch, message string) bool {
	return negative.MatchString(message) && !strings.Contains(patch, ":-")
}

// panics is the breach of a component that panics or ends.
const panics = "it panics or ends by itself"

// Judge says which laws the stories of a batch break, by their record.
func Judge(b Batch, t *timeline.Timeline) []Finding {
	found := make(map[string]*Finding)
	seen := make(map[string]bool) // by law and object
	report := func(f Finding, of Found) {
		if id := f.Law + "\n" + of.Object; seen[id] {
			return
		} else if seen[id] = true; found[f.Signature()] == nil {
			found[f.Signature()] = &f
		}
		into := found[f.Signature()]
		into.Found = append(into.Found, of)
	}
	for _, moment := range t.Rests {
		act, healed := actOf(moment.Step)
		for _, breach := range rest.At(t, moment).Breaches() {
			s, is := b.At(breach.Key)
			if !is {
				continue
			}
			l, _ := rest.Named(breach.Law)
			report(Finding{Law: l.Breach, Class: l.Class, Components: l.Components, Resource: resourceOf(breach.Key)},
				Found{Dimension: s.Dimension, Story: s.Name, Act: min(act, len(s.Acts)), Healed: healed, Words: s.String(), Object: breach.Key, Detail: breach.Detail})
		}
	}
	b.refused(t, report)
	b.failed(t, report)
	for _, of := range ended(t) {
		f := Finding{Law: panics, Class: "panic", Components: []string{record.Program(of.Object)}}
		of.Dimension = b.Stories[0].Dimension
		if len(b.Stories) == 1 {
			of.Story, of.Words, of.Act = b.Stories[0].Name, b.Stories[0].String(), len(b.Stories[0].Acts)
		}
		report(f, of)
	}
	return sorted(found)
}

// See takes into account what the record of a batch shows: how many objects there were at most, and after which steps not all
// was at rest in time.
func (b *BatchResult) See(t *timeline.Timeline) {
	if n := len(t.Events); n > 0 {
		b.Seconds = t.Events[n-1].At.Sub(t.Events[0].At).Round(time.Second / 10).Seconds()
	}
	for _, moment := range t.Rests {
		b.Objects = max(b.Objects, moment.Touched)
		if len(moment.Restless) > 0 {
			b.Restless = append(b.Restless, fmt.Sprintf("%s: %s", moment.Step, reports.Few(moment.Restless, 3)))
		}
	}
}

// actIn is the act that a step of a story is in, counted from 1. It is false if the step creates the objects of the story.
func actIn(step string) (act int, is bool) {
	var number, n int
	_, err := fmt.Sscanf(step, "story-%d-act-%d-%d", &number, &act, &n)
	return act, err == nil
}

// actOf is the act before a step that waits for rest, and whether its fault has ended.
func actOf(step string) (n int, healed bool) {
	if _, err := fmt.Sscanf(step, "rest-act-%d", &n); err == nil {
		return n, false
	}
	if _, err := fmt.Sscanf(step, "rest-healed-%d", &n); err == nil {
		return n, true
	}
	if step == restDeleted {
		return 1 << 10, false
	}
	return 0, false
}

// ended are the components that panicked or ended by themselves.
func ended(t *timeline.Timeline) (all []Found) {
	for _, step := range slices.Sorted(maps.Keys(t.Logs)) {
		lines, _ := t.Logs[step].([]any)
		if component, is := strings.CutPrefix(step, logOf); is && len(lines) > 0 {
			all = append(all, Found{Object: component, Detail: fmt.Sprint(lines[0])})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.Ran)) {
		for _, exit := range t.Ran[name].Exits {
			if !exit.Asked {
				all = append(all, Found{Object: name, Detail: fmt.Sprintf("it ended by itself with code %d %s", exit.Code, exit.Signal)})
			}
		}
	}
	return all
}

func sorted(found map[string]*Finding) (all []Finding) {
	for _, signature := range slices.Sorted(maps.Keys(found)) {
		f := *found[signature]
		slices.SortFunc(f.Found, func(a, b Found) int { return cmp.Or(cmp.Compare(a.Story, b.Story), cmp.Compare(a.Object, b.Object)) })
		all = append(all, f)
	}
	return all
}

// Merge joins the findings of batches.
func Merge(all ...[]Finding) []Finding {
	found := make(map[string]*Finding)
	for _, f := range slices.Concat(all...) {
		into := found[f.Signature()]
		if into == nil {
			into = &Finding{Law: f.Law, Class: f.Class, Components: f.Components, Resource: f.Resource}
			found[f.Signature()] = into
		}
		into.Found = append(into.Found, f.Found...)
	}
	return sorted(found)
}

// Split parts the findings that were confirmed with at least one story from the others.
func Split(all []Finding) (confirmed, others []Finding) {
	for _, f := range all {
		if slices.ContainsFunc(f.Found, Found.Confirmed) {
			confirmed = append(confirmed, f)
		} else {
			others = append(others, f)
		}
	}
	return confirmed, others
}

// ControlSuffix ends the id of the control of a scenario.
const ControlSuffix = "-control"

// Alone returns the batch that shows a finding with one story, and its control: the same without the act after which it was seen.
// It is false if it was seen without an act. The number is a part of both ids.
func Alone(s Story, of Found, number int) (alone, control Batch, controlled bool) {
	id := fmt.Sprintf("sweep/alone-%d/%s-%s", number+1, s.Dimension, strings.ToLower(s.Name))
	alone = Batch{ID: id, Stories: []Story{s}}
	if of.Act == 0 {
		return alone, control, false
	}
	s.Acts = slices.Clone(s.Acts[:of.Act])
	alone.Stories = []Story{s}
	s.Acts = s.Acts[:of.Act-1]
	return alone, Batch{ID: id + ControlSuffix, Stories: []Story{s}}, true
}

// In is what a record of a batch shows of a finding, and whether it does.
func (f Finding) In(b Batch, t *timeline.Timeline) (found Found, is bool) {
	for _, other := range Judge(b, t) {
		if other.Signature() == f.Signature() {
			return other.Found[0], true
		}
	}
	return found, false
}
