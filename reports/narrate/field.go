package narrate

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
)

// fieldCourse is the history of a field of an object of the API server, until a check was
// decided: each value, who served it, and who wrote it.
type fieldCourse struct {
	b       *builder
	what    Compared
	subject string // what was compared, in words
	key     string // of the object
	wanted  string
	lines   []Line
	changes int

	good, number  string // the resource version with the wanted value, and the last one
	value, server string
	had           string // the last wanted value
	lost, shown   string
	lostAt        float64
	removed       string  // before the object was stored
	at            float64 // when the last state was seen
}

// fieldCourse is that of what was compared. One that is no field, or that did not change, has
// no lines.
func (t told) fieldCourse(c Compared) (f fieldCourse) {
	key, field := t.b.object(c)
	if key == "" {
		return f
	}
	f = fieldCourse{b: t.b, what: c, subject: t.subject(c), key: key, wanted: c.wanted()}
	switch {
	case c.Path[0] == "requests":
		f.subject = fieldWords(field) + " of " + objectWords(key)
	case c.never():
		f.wanted = "" // no value is lost
	case c.Path[0] == "history":
		f.wanted = unset // the list is of what should not be there, or is told by the lines
	}
	for _, v := range t.b.States(key) {
		if !v.Static() && t.b.at(v.Time) <= t.to {
			f.add(v, field)
		}
	}
	if f.changes < 2 {
		return fieldCourse{removed: f.removed}
	}
	if cut := len(f.lines) - maxHistory; cut > 0 {
		f.lines[maxHistory/2].What += fmt.Sprintf("; %d later ones are left out here", cut)
		f.lines = slices.Delete(f.lines, maxHistory/2+1, maxHistory/2+1+cut)
	}
	return f
}

// maxHistory is how many values of a field are shown.
const maxHistory = 20

// object is the object, and the path of the field in it, that a comparison is about: also of
// one that a request was answered with.
func (b *builder) object(c Compared) (key string, field []string) {
	if len(c.Path) < 3 {
		return "", nil
	}
	switch c.Path[0] {
	case "requests":
		for _, a := range slices.Backward(b.Answers) {
			if a.Step == c.Path[1] && c.Path[2] == "response" && len(c.Path) > 3 {
				return a.Object, c.Path[3:]
			}
		}
	case "pods":
		return reports.PodKey(c.Path[1]), c.Path[2:]
	case "objects", "history":
		return c.Path[1], c.Path[2:]
	}
	return "", nil
}

// inLogs is the field as logs name it, with the one that it is in: httpGet.protocol. It is
// empty if there is none, or none that has no number in between.
func (b *builder) inLogs(c Compared) string {
	_, field := b.object(c)
	for i, name := range slices.Backward(field) {
		if strings.HasPrefix(name, "[") {
			field = field[i+1:]
			break
		}
	}
	if len(field) < 2 {
		return ""
	}
	return strings.Join(field[len(field)-2:], ".")
}

func (f *fieldCourse) add(v *timeline.Version, field []string) {
	value := fieldIn(v.Raw, field)
	if v.Gone() {
		value = deleted
	}
	server, at := f.b.serving(v), f.b.at(v.Time)
	number, answer := v.Meta().ResourceVersion, f.b.AnswerOf(v)
	first := len(f.lines) == 0
	wrote := first || number != f.number
	by := ""
	if s := f.b.Made(v); answer != nil && s != nil {
		by = " in " + inWords(f.b.taken(s))
	}
	webhook := f.webhook(field, f.at, at)
	f.at = at
	if first && webhook != "" && !f.isWanted(value) {
		f.removed = fmt.Sprintf("%s had %s changed before it was stored", webhook, f.subject)
	}
	isLost := f.good != "" && number != f.good && !f.isWanted(value) && f.lost == ""
	if changed := first || value != f.value; changed || server != f.server || by != "" {
		f.lines = append(f.lines, Line{At: at, What: f.line(v, value, by), Text: value, Tone: map[bool]Tone{true: Bad}[isLost]})
		if changed {
			f.changes++
		}
	}
	switch {
	case f.isWanted(value):
		f.good, f.had, f.lost, f.shown = number, value, "", ""
	case isLost:
		writer := server
		switch {
		case v.Cluster == "" && len(f.b.Servers()) > 1:
			writer = f.b.writers(v, answer)
		case by == "" && f.server != server:
			writer = f.server + " or " + server
		}
		f.lost, f.lostAt = fmt.Sprintf("%s lost %s at %s, when it wrote the object%s", writer, f.subject, moment(at), by), at
		if webhook != "" {
			f.lost += ", as " + webhook + " asked"
		}
		if answer != nil && answer.Stored {
			f.lost = fmt.Sprintf("%s was lost at %s, when the object was put into etcd%s", f.subject, moment(at), by)
		}
	}
	if !first && value != f.value && !wrote && !f.isWanted(value) && value != unset && f.shown == "" {
		f.shown = fmt.Sprintf("%s showed the default %s from %s", server, value, moment(at))
	}
	f.value, f.server, f.number = value, server, number
}

// webhook is the one that had the field changed between two times: the last conversion webhook, or
// else the last admission webhook.
func (f *fieldCourse) webhook(field []string, after, until float64) (last string) {
	pointer := "/" + strings.NewReplacer(".[", "/", "]", "", ".", "/").Replace(strings.Join(field, "."))
	changes := func(operation string) bool {
		_, path, _ := strings.Cut(operation, " ")
		return path == pointer || strings.HasPrefix(pointer, path+"/")
	}
	for _, name := range slices.Sorted(maps.Keys(f.b.Webhooks)) {
		for _, call := range f.b.Webhooks[name] {
			if call.Object == f.key && call.At > after && call.At <= until && slices.ContainsFunc(call.Patch, changes) {
				last = "webhook " + name
			}
		}
	}
	resource, object, _ := strings.Cut(f.key, "/")
	for _, name := range slices.Sorted(maps.Keys(f.b.Conversions)) {
		if plural, _, _ := strings.Cut(name, "."); plural != resource {
			continue
		}
		for _, call := range f.b.Conversions[name] {
			converted := func(c record.Converted) bool { return c.Object == object && slices.ContainsFunc(c.Patch, changes) }
			if call.At > after && call.At <= until && slices.ContainsFunc(call.Objects, converted) {
				last = "conversion webhook of " + name
			}
		}
	}
	return last
}

// isWanted reports whether a value is the one that was wanted.
func (f *fieldCourse) isWanted(value string) bool {
	if f.wanted == anyValue {
		return value != unset && value != deleted
	}
	return value == f.wanted
}

// deleted is the value of a field of an object that is gone.
const deleted = "deleted"

// line says of a state of the object who served it, and whether it was written.
func (f *fieldCourse) line(v *timeline.Version, value, by string) string {
	number := v.Meta().ResourceVersion
	what := f.b.serving(v) + f.b.unready(v) + ", resourceVersion " + number
	switch {
	case by != "":
		return what + ", written" + by
	case len(f.lines) == 0:
		return what
	case number != f.number:
		return what + ", written"
	case value == unset:
		return what + ", not written since: not shown"
	case f.value == unset && !f.isWanted(value):
		return what + ", not written since: a default on read"
	default:
		return what + ", not written since: shown so"
	}
}

// cause is what became of the wanted value; empty if it was never lost.
func (f *fieldCourse) cause() string {
	switch {
	case f.lost == "":
		return f.removed
	case f.shown == "":
		return fmt.Sprintf("%s; until then, it was %s in storage", f.lost, f.had)
	default:
		return f.lost + "; " + f.shown
	}
}

// shownOnly is how the value was shown otherwise than it was wanted, if it was not lost.
func (f *fieldCourse) shownOnly() string {
	if f.lost != "" || f.shown == "" {
		return ""
	}
	return f.shown + ", without a write"
}

// lane shows the values of the field over time.
func (f *fieldCourse) lane(end float64) Lane {
	var l lane
	field := f.what.Path[max(2, len(f.what.Path)-2):]
	l.Lane = Lane{Kind: ObjectState, Name: f.key + "/" + strings.ReplaceAll(dotted(field), "/", "_")}
	for _, line := range f.lines {
		tone := Bad
		switch {
		case f.isWanted(line.Text):
			tone = Good
		case f.what.never() && line.Text == f.what.Value: // as it was never to be
		case f.lost == "" || line.At < f.lostAt:
			tone = Changed // shown differently, and not lost
		}
		l.becomes(line.At, Span{Label: line.Text, Detail: line.What, Tone: tone})
	}
	return l.until(end)
}

// besides are lanes, with those of fields beside those of their objects.
func besides(lanes, fields []Lane) []Lane {
	for _, f := range fields {
		if slices.ContainsFunc(lanes, func(l Lane) bool { return l.Kind == f.Kind && l.Name == f.Name }) {
			continue // two checks are about it
		}
		i := slices.IndexFunc(lanes, func(l Lane) bool { return l.Kind == ObjectState && l.Name == path.Dir(f.Name) })
		if i < 0 {
			i = len(lanes) - 1
		} else {
			f.Group = lanes[i].Group
		}
		lanes = slices.Insert(lanes, i+1, f)
	}
	return lanes
}

// serving is the API server that served a state of an object.
func (b *builder) serving(v *timeline.Version) string {
	return b.serverAt(servedBy(v), v.Time)
}

// writers are the API servers of several that can have written a state of an object: the one that
// answered the request which did, or each that ran.
func (b *builder) writers(v *timeline.Version, answer *timeline.Answer) string {
	if answer != nil {
		return b.serverAt(answer.By(), v.Time)
	}
	var all []string
	for _, name := range b.Servers() {
		if l := b.lifeAt(name, v.Time); l != nil && (l.Stopped == nil || v.Time.Before(l.Until.Time)) {
			all = append(all, name+" "+inForce(l))
		}
	}
	return strings.Join(all, " or ")
}

// serverAt is an API server as it was at a time.
func (b *builder) serverAt(name string, at time.Time) string {
	if l := b.lifeAt(name, at); l != nil {
		return name + " " + inForce(l)
	}
	return name
}

// unready says when the API server that served a state of an object was ready, if that was later.
func (b *builder) unready(v *timeline.Version) string {
	if l := b.lifeAt(servedBy(v), v.Time); l != nil && v.Time.Before(l.Ready.Time) {
		return fmt.Sprintf(" (starting, ready at %.1f s)", b.at(l.Ready.Time))
	}
	return ""
}

// servedBy is the name of the API server that served a state of an object.
func servedBy(v *timeline.Version) string {
	return strings.TrimPrefix(v.Cluster+"/"+cmp.Or(v.Server, record.APIServer), "/")
}

// lifeAt is the process of a component that had been launched last at a time.
func (b *builder) lifeAt(name string, at time.Time) *timeline.Life {
	for _, l := range slices.Backward(b.Lives(name)) {
		if !at.Before(l.Launched) {
			return l
		}
	}
	return nil
}
