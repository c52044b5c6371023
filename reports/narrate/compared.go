package narrate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
)

// Compared is a comparison because of which a check does not hold: scenarios/explain finds them.
type Compared struct {
	What          string
	Path          []string
	Wanted, Value string
	Since         time.Time
	Against       string
}

// unset is the value of a field that is not there, anyValue what is wanted of one that was to
// be there.
const (
	unset    = "not set"
	anyValue = "any value"
)

// value is what was observed, in words: that an expression could not be evaluated since
// something is not there is no observation.
func (c Compared) value() string {
	if strings.HasPrefix(c.Value, "no such key") {
		return unset
	}
	return shortened(cmp.Or(c.Value, "nothing"), maxWords)
}

// wanted is what was expected, in words.
func (c Compared) wanted() string {
	value, _ := strings.CutPrefix(c.Wanted, "== ")
	if c.Against != "" {
		return shortened(value, maxWords) + ", as " + shortened(c.Against, maxExpression) + " was"
	}
	return shortened(value, maxWords)
}

// never reports whether it is about each state that an object had.
func (c Compared) never() bool { return strings.HasPrefix(c.Wanted, "never ") }

// maxWords is how much of a value or an expression a sentence has, in bytes.
const maxWords = 160

// subject is what was compared, in words.
func (t failedCheck) subject(c Compared) string {
	p := c.Path
	if len(p) < 3 {
		return t.unnamed(c)
	}
	field := fieldWords(p[2:])
	switch p[0] {
	case "pods":
		return field + " of " + podWords(p[1])
	case "objects":
		return field + " of " + p[1]
	case "history":
		if c.never() {
			return field + " of " + objectWords(p[1])
		}
		return fmt.Sprintf("the list of values that %s of %s had", field, p[1])
	case "nodes":
		return field + " of node " + p[1]
	case "containers":
		return field + " of container " + p[1]
	case "dependents":
		return field + " of the seed's Deployment " + p[1]
	case "requests":
		field, inObject := strings.CutPrefix(field, "response.")
		words := map[string]string{"code": "the status code", "message": "the message", "warnings": "the list of warnings"}
		return cmp.Or(words[field], field) + map[bool]string{true: " in the object that answered ", false: " of the answer to "}[inObject] + t.stepNamed(p[1])
	case "podsAPI":
		return fieldWords(p[2:]) + " in the Pods API's answer to " + t.stepNamed(p[1])
	case "watches", "polls":
		if p[2] == "pods" && len(p) > 4 {
			return fmt.Sprintf("%s of %s, as the Pods API sent it to client %q (%s),", fieldWords(p[4:]), podWords(p[3]), p[1], t.stepNamed(p[1]))
		}
		return fmt.Sprintf("%s of client %q of the Pods API", field, p[1])
	}
	return t.unnamed(c)
}

// unnamed is an expression that is no field. Of a long one, a sentence has what its value is
// made of.
func (t failedCheck) unnamed(c Compared) string {
	p := c.Path
	switch {
	case len(c.What) <= maxExpression:
		return c.What
	case metricOf.MatchString(c.What):
		found := metricOf.FindStringSubmatch(c.What)
		what := "metric " + found[2] + " of " + found[1]
		if label := labelOf.FindStringSubmatch(c.What); label != nil {
			what = "label " + label[1] + " of " + what
		}
		return what
	case t.isCount(c):
		return "the number of " + t.members.what
	case counted.MatchString(c.What):
		return "the number of " + counted.FindStringSubmatch(c.What)[1] + " that " + t.ID + " counts"
	case len(p) > 1:
		return "the value of check " + t.ID + ", of " + p[1] + ","
	default:
		return "the value of check " + t.ID
	}
}

// metricOf and labelOf are expressions on the samples of a metric: of which component and
// metric, and which label of them is read. counted is one that counts members.
var (
	metricOf = regexp.MustCompile(`^metrics\["([^"]+)"\]\["([^"]+)"\]`)
	labelOf  = regexp.MustCompile(`\.map\(\w+, \w+\.labels\["([^"]+)"\]\)$`)
	counted  = regexp.MustCompile(`^(\w+)\.filter\(.*\)\.size\(\)$`)
)

// maxExpression is how long an expression in a sentence may be, in bytes.
const maxExpression = 70

// podWords is a pod with its namespace.
func podWords(name string) string { return objectWords(reports.PodKey(name)) }

// objectWords is the key of an object in words, if it is a pod.
func objectWords(key string) string { return strings.Replace(key, "pods/", "pod ", 1) }

// stepNamed is a step by its number, if that is known.
func (t failedCheck) stepNamed(name string) string {
	i := slices.IndexFunc(t.steps, func(s Step) bool { return s.Name == name || fmt.Sprint(s.Number) == name })
	if i < 0 {
		return "step " + name
	}
	if t.steps[i].Name == "" {
		return fmt.Sprintf("step %d", t.steps[i].Number)
	}
	return fmt.Sprintf("step %d, %s", t.steps[i].Number, name)
}

// fieldWords is the path of a field in words: label changed, condition Ready, ready of
// container app.
func fieldWords(p []string) string {
	switch n := len(p); {
	case n == 3 && p[0] == "metadata" && (p[1] == "labels" || p[1] == "annotations"):
		return strings.TrimSuffix(p[1], "s") + " " + p[2]
	case n == 4 && p[0] == "status" && p[1] == "conditions" && p[3] == "status" && strings.HasPrefix(p[2], "[type="):
		return "condition " + strings.TrimSuffix(strings.TrimPrefix(p[2], "[type="), "]")
	case n > 3 && strings.HasPrefix(p[2], "[name=") && p[0] == "status":
		return fmt.Sprintf("%s of container %s", dotted(p[3:]), strings.TrimSuffix(strings.TrimPrefix(p[2], "[name="), "]"))
	}
	return dotted(p)
}

func dotted(p []string) string {
	return strings.ReplaceAll(strings.Join(p, "."), ".[", "[")
}

// at is a field of an object, as JSON has it, and whether it is there.
func at(value any, path []string) (any, bool) {
	for _, name := range path {
		switch v := value.(type) {
		case map[string]any:
			if value = v[name]; value == nil {
				return nil, false
			}
		case []any:
			i := slices.IndexFunc(v, func(one any) bool { return isNamed(one, name) })
			var n int
			if _, err := fmt.Sscanf(name, "[%d]", &n); err == nil && i < 0 && n < len(v) {
				i = n
			}
			if i < 0 {
				return nil, false
			}
			value = v[i]
		default:
			return nil, false
		}
	}
	return value, true
}

// isNamed reports whether an element of a list is what "[name=app]" stands for.
func isNamed(one any, name string) bool {
	fields, _ := one.(map[string]any)
	key, value, is := strings.Cut(strings.Trim(name, "[]"), "=")
	return is && fmt.Sprint(fields[key]) == value
}

// fieldIn is the value of a field as JSON; "not set" if it is not there.
func fieldIn(raw *timeline.Raw, path []string) string {
	value, is := at(raw.Value(), path)
	if !is {
		return unset
	}
	text, _ := json.Marshal(value) // it was decoded from JSON
	return shortened(string(text), maxWords)
}

// acted is the last step that did something and that began before a time.
func (t failedCheck) acted(before float64) (last Step, is bool) {
	for _, s := range t.steps {
		if s.From <= before && s.Number != t.step && s.Acts {
			last, is = s, true
		}
	}
	return last, is
}

// actedUntil are the steps that did something after the window of a check was opened, until
// something came: with when each began, the last ones if there are many.
func (t failedCheck) actedUntil(came float64) (said string) {
	var earlier, together []string
	for _, s := range t.steps {
		switch {
		case s.From <= t.from || s.From > came || !s.Acts:
		case s.From < came:
			earlier = append(earlier, fmt.Sprintf("%s at %s", inWords(s), moment(s.From)))
		default:
			together = append(together, inWords(s))
		}
	}
	if len(earlier) > 0 {
		said = ", after " + strings.Join(earlier[max(0, len(earlier)-maxMessages):], " and ")
	}
	if len(together) > 0 {
		said += fmt.Sprintf("; %s began in the same millisecond", strings.Join(together, " and "))
	}
	return said
}

// inWords is a step in words, with its action.
func inWords(s Step) string {
	name := ""
	if s.Name != "" {
		name = s.Name + ": "
	}
	return fmt.Sprintf("step %d (%s%s)", s.Number, name, shortened(s.Action, 90))
}

// notBecome says that a value was not as wanted until a window ended.
func (c Compared) notBecome(wanted string) string {
	switch of, element, _ := strings.Cut(wanted, " element"); of {
	case "no":
		return "always had an element" + element
	case "an", "exactly one":
		return "never had " + wanted
	}
	if strings.HasPrefix(c.Wanted, "== ") {
		return "did not become " + wanted
	}
	return "never came to be as expected (" + wanted + ")"
}

// comparison says what a check compared, when, and what it was.
func (t failedCheck) comparison(c Compared) string {
	subject, was, wanted := t.subject(c), c.value(), c.wanted()
	e, _ := t.Expectation()
	since := ""
	if s := t.b.at(c.Since); !c.Since.IsZero() && s > 0 && s < t.to-instant {
		since = fmt.Sprintf(", since %s", moment(s))
	}
	if e.Mode.Awaits() && t.ofProbes() && t.tally.First > t.b.at(c.Since) {
		since = fmt.Sprintf("; the first probe that failed began at %s", moment(t.tally.First))
	}
	if strings.HasPrefix(c.Wanted, "grows ") {
		return fmt.Sprintf("from %s to %s, %s grew: %s; expected: %s", moment(t.from), moment(t.to), subject, was, c.Wanted) + t.wentOn()
	}
	if c.never() {
		return fmt.Sprintf("%s was %s from %s, which must never be (step %d, at %s)", subject, was, moment(cmp.Or(max(0, t.b.at(c.Since)), t.to)), t.step, moment(t.to))
	}
	switch {
	case e.Mode.Awaits():
		become := c.notBecome(wanted)
		after := ""
		if s, is := t.acted(t.from); is {
			after = fmt.Sprintf(" after %s at %s", inWords(s), moment(s.From))
		}
		return fmt.Sprintf("%s %s in the %.1f s%s, until %s: it was %s%s", subject, become, t.to-t.from, after, moment(t.to), was, since)
	case e.Mode == record.Always || e.Mode == record.Never:
		return fmt.Sprintf("%s was %s at %s%s; expected: %s, for %g s from %s", subject, was, moment(t.to), since, wanted, e.Span.Seconds(), moment(t.from))
	default:
		return fmt.Sprintf("%s was %s at %s (step %d)%s; expected: %s", subject, was, moment(t.to), t.step, since, wanted)
	}
}

// awaits reports whether what was expected had to come within a time.
func (t failedCheck) awaits() bool { return isWithin(t.Check) }

// before says what the scenario did last before a check that looks once.
func (t failedCheck) before() string {
	if t.awaits() {
		return ""
	}
	if len(t.earlier) > 0 {
		return "before that came " + triggersInWords(t.earlier)
	}
	if s, is := t.acted(t.from); is {
		return fmt.Sprintf("the last that the scenario did before was %s, at %s", inWords(s), moment(s.From))
	}
	if clocks := t.b.in.Leases.Clocks; clocks != "" {
		return fmt.Sprintf("the scenario itself did nothing until then, but the nodes' clocks were %s from the start", clocks)
	}
	return "the scenario itself had done nothing until then"
}

// running is a component with the release that ran at a time.
func (t failedCheck) running(name string, when float64) string {
	for _, l := range slices.Backward(t.b.Lives(name)) {
		if t.b.at(l.Launched) > when {
			continue
		}
		if len(l.Gates) > 1 {
			return name + " " + l.Effective().String()
		}
		return name + " " + inForce(l)
	}
	return ""
}

// maxMessages is how many messages to a client a sentence has.
const maxMessages = 4

// message is one to a client of a Pods API: of which pod, with its version, its phase, and the
// field that a check is about.
func message(e timeline.PodsEvent, field []string) string {
	said := e.Type
	if e.Name != "" {
		said += " of pod " + strings.TrimPrefix(reports.PodKey(e.Name), "pods/")
	}
	if e.Pod == nil {
		return said + " at " + moment(e.At)
	}
	v := timeline.NewVersion("", e.Pod.Text())
	var labels []string
	if number := v.Meta().ResourceVersion; number != "" {
		labels = append(labels, "resourceVersion "+number)
	}
	if phase := v.Workload().Status.Phase; phase != "" {
		labels = append(labels, phase)
	}
	if words := fieldWords(field); words != "" && words != "status.phase" {
		labels = append(labels, words+": "+fieldIn(e.Pod, field))
	}
	if len(labels) > 0 {
		said += " (" + strings.Join(labels, ", ") + ")"
	}
	return said + " at " + moment(e.At)
}

// messages says what a client of a Pods API was sent of a pod in the window of a check,
// and what came next.
func (t failedCheck) messages(c Compared) string {
	if len(c.Path) < 4 || c.Path[0] != "watches" || c.Path[2] != "pods" {
		return ""
	}
	w, pod := t.b.PodsWatches[c.Path[1]], strings.TrimPrefix(c.Path[3], "default/")
	if w == nil {
		return ""
	}
	of := func(e timeline.PodsEvent) string { return message(e, c.Path[4:]) }
	var in []string
	var last, next string
	for _, e := range w.Events {
		switch {
		case e.Name != pod:
		case e.At < t.from:
			last = of(e)
		case e.At <= t.to:
			in = append(in, of(e))
		case next == "":
			next = of(e)
			next += t.actedUntil(e.At)
		}
	}
	said := fmt.Sprintf("in these %.1f s, no message about the pod came", t.to-t.from)
	if len(in) > 0 {
		said = "messages about the pod in the window: " + strings.Join(in[max(0, len(in)-maxMessages):], ", ")
		if more := len(in) - maxMessages; more > 0 {
			said += fmt.Sprintf(", after %d others", more)
		}
	}
	if last != "" {
		said += "; the last before was " + last
	}
	if next != "" {
		said += "; the next was " + next
	}
	if node := t.nodeOf(c.Path[1]); node != "" {
		said += fmt.Sprintf(". The Pods API is that of %s", cmp.Or(t.running("kubelet/"+node, t.to), node))
	}
	return said
}

// nodeOf is the node whose Pods API a client asks.
func (t failedCheck) nodeOf(client string) string {
	for _, l := range t.lanes {
		if l.Kind == Agent && path.Base(l.Name) == client {
			return path.Dir(l.Name)
		}
	}
	return ""
}
