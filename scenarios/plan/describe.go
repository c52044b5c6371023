package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// maxShown bounds how much of a value stands in a description, in characters.
const maxShown = 200

// Describe says which objects are created.
func (a Apply) Describe() string {
	names := make([]string, len(a.Objects))
	for i, object := range a.Objects {
		names[i] = describeObject(object)
	}
	text := "create " + strings.Join(names, ", ")
	if a.File != "" {
		text += " from " + a.File
	}
	return oneLine(text + refused(a.Rejected))
}

// describeObject names an object by its kind: Pod tls, or Pod shop/web outside
// the namespace default.
func describeObject(object map[string]any) string {
	metadata, _ := object["metadata"].(map[string]any)
	kind, _ := object["kind"].(string)
	name, _ := metadata["name"].(string)
	if name == "" {
		prefix, _ := metadata["generateName"].(string)
		name = prefix + "*"
	}
	if namespace, _ := metadata["namespace"].(string); namespace != "" && namespace != "default" {
		name = namespace + "/" + name
	}
	return kind + " " + name
}

func refused(expected bool) string {
	if expected {
		return ", which the API server must refuse"
	}
	return ""
}

// Describe says which object is changed, and how.
func (p Patch) Describe() string {
	return oneLine(fmt.Sprintf("patch %s with %s%s", p.Object, shorten(encode(p.Merge)), refused(p.Rejected)))
}

// Describe says which pod is run, and where.
func (s StaticPod) Describe() string {
	if s.Remove != "" {
		return oneLine("remove static pod " + s.Remove + " of " + s.Node)
	}
	return oneLine("run static " + describeObject(s.Pod) + " on " + s.Node)
}

// Describe says which object is deleted.
func (d Delete) Describe() string { return oneLine("delete " + d.Object.String()) }

// Describe says what is started, and what is different about it.
func (r Restart) Describe() string {
	text := "restart " + r.Component
	if r.Stopped {
		text = "start " + r.Component
	}
	if r.Version != "" {
		text += " as " + string(r.Version)
	}
	var gates []string
	if len(r.Gates) > 0 {
		gates = append(gates, r.Gates.String())
	}
	for _, gate := range r.Unset {
		gates = append(gates, gate+" unset")
	}
	if len(gates) > 0 {
		text += " with " + strings.Join(gates, ", ")
	}
	return oneLine(text)
}

// Describe says what ends, and how.
func (s Stop) Describe() string {
	if s.Kill {
		return oneLine("kill " + s.Component)
	}
	return oneLine("stop " + s.Component)
}

// Describe says what is waited for.
func (w Wait) Describe() string {
	return oneLine(fmt.Sprintf("wait up to %s until %s", w.Within, shorten(w.Until)))
}

// Describe says what is read, and where.
func (s Scrape) Describe() string { return oneLine("scrape " + s.Path + " of " + s.Component) }

// Describe says what is looked for, and where.
func (l Log) Describe() string { return oneLine("read /" + l.Match + "/ in the log of " + l.Component) }

// Describe says who asks what.
func (p PodsAPI) Describe() string {
	text := "Pods API of " + p.Node + ": " + string(p.Call)
	switch p.Call {
	case spec.GetPod:
		text += " " + cmp.Or(p.Pod, strconv.Quote(p.UID))
	case spec.EndPods:
		text += " " + p.Of
	case spec.PollPods:
		text += " every " + p.Every.String()
	}
	if p.Times > 1 {
		text += fmt.Sprintf(", %d times", p.Times)
	}
	if p.Fields != "" {
		text += ", fields " + p.Fields
	}
	if p.Pause > 0 {
		text += ", not reading for " + p.Pause.String()
	}
	return oneLine(text)
}

// Describe says what becomes of which link.
func (f Fault) Describe() string {
	to := f.Link.From + " -> " + f.Link.To
	switch {
	case f.Fault == (record.LinkFault{}):
		return oneLine("heal " + to)
	case f.Fault.Cut != "":
		return oneLine("cut " + to + ": " + f.Fault.String())
	case f.Fault.Path != "":
		return oneLine("on " + to + ": " + f.Fault.String())
	default:
		return oneLine("slow " + to + ": " + f.Fault.String())
	}
}

// Describe says which clock is set, and how.
func (c Clock) Describe() string {
	if c.Step != 0 {
		return oneLine(fmt.Sprintf("step the clock of %s by %s", c.Of, c.Step))
	}
	return oneLine(fmt.Sprintf("set the clock of %s: %s", c.Of, c.To))
}

// Describe names the checks.
func (c Checks) Describe() string {
	ids := make([]string, len(c.Checks))
	for i, check := range c.Checks {
		ids[i] = check.ID
	}
	return oneLine("check " + strings.Join(ids, ", "))
}

// Describe says in one line what must hold, and when.
func (c Check) Describe() string {
	when := "at once"
	switch c.Mode {
	case Eventually:
		when = "within " + c.Span.String()
	case Always:
		when = "always for " + c.Span.String()
	case Never:
		when = "never for " + c.Span.String()
	case AtMost:
		return oneLine(fmt.Sprintf("for %s: %s grows by %d at most", c.Span, c.Observe, c.Times))
	}
	if c.Must != "" {
		return oneLine(fmt.Sprintf("%s: %s satisfies %s", when, c.Observe, c.Must))
	}
	return oneLine(fmt.Sprintf("%s: %s == %s", when, c.Observe, encode(c.Is)))
}

// encode writes a value as compact JSON with sorted keys.
func encode(value any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSpace(b.String())
}

func shorten(text string) string {
	characters := []rune(text)
	if len(characters) <= maxShown {
		return text
	}
	return string(characters[:maxShown]) + "..."
}

// oneLine joins the lines of a text, and escapes what a terminal would obey.
func oneLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	var b strings.Builder
	for _, r := range strings.Join(lines, " ") {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
	}
	return b.String()
}
