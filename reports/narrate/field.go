package narrate

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
)

// fieldHistory is the history of a field of an object of the API server, until a check was
// decided: each value, who served it, and who wrote it as far as that is known.
type fieldHistory struct {
	t       *failedCheck
	b       *builder
	what    Compared
	subject string // what was compared, in words
	key     string // of the object
	field   []string
	wanted  string
	lines   []Line
	changes int

	good, number  string // the resource version with the wanted value, and the last one
	uid           types.UID
	value, server string
	had           string          // the last wanted value
	hides         map[string]bool // API servers that did not show it, by release and gates
	left          departure       // from the wanted value
	gone          string          // that the object was deleted, if it is not there
	shown         string          // a value that an API server showed without a write
	isDefault     bool            // whether that is the default of a field that is not stored
	removed       string          // before the object was stored
	at            float64         // when the last state was seen
	since         float64         // when the first one with its value was seen
}

// departure is that a field no longer had the wanted value. The zero value is that it had it, or
// never had.
type departure struct {
	// text says it in a sentence; it blames only who is known to have done it.
	text string
	at   float64
	// lost is true if an API server or etcd lost the value, as is proven: no one asked for that.
	lost bool
	// caused is true if it is a cause by itself: a loss, a deletion or what a webhook did.
	caused bool
}

// fieldHistory is that of what was compared. One that is no field, or that did not change, has
// no lines.
func (t failedCheck) fieldHistory(c Compared) (f fieldHistory) {
	key, field := t.b.object(c)
	if key == "" {
		return f
	}
	f = fieldHistory{t: &t, b: t.b, what: c, subject: t.subject(c), key: key, field: field, wanted: c.wanted(), hides: make(map[string]bool)}
	if c.Path[0] == "requests" {
		f.subject = fieldWords(field) + " of " + objectWords(key)
	}
	if c.never() || c.Path[0] == "history" || c.Against != "" {
		f.wanted = "" // there is no one value that was to stay
	}
	for _, v := range t.b.States(key) {
		if !v.Static() && t.b.at(v.Time) <= t.to {
			f.add(v)
		}
	}
	if f.changes < 2 {
		return fieldHistory{removed: f.removed, gone: f.gone}
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

// fieldState is a state of the object, as far as the field is concerned.
type fieldState struct {
	*timeline.Version

	value  string
	server string // that served it, with its release and gates
	at     float64
	step   string           // that wrote it; empty if that is not known
	answer *timeline.Answer // to the request that wrote it; nil if that is not known
}

func (f *fieldHistory) stateOf(v *timeline.Version) fieldState {
	s := fieldState{Version: v, value: fieldIn(v.Raw, f.field), server: f.b.serving(v), at: f.b.at(v.Time), answer: f.b.AnswerOf(v)}
	switch {
	case v.Unserved():
		s.value = unserved
	case v.Gone():
		s.value = deleted
	}
	if step := f.b.Made(v); s.answer != nil && step != nil {
		s.step = inWords(f.b.taken(step))
	}
	return s
}

// in is the step that wrote a state, as the end of a sentence.
func (s fieldState) in() string {
	if s.step == "" {
		return ""
	}
	return " in " + s.step
}

func (f *fieldHistory) add(v *timeline.Version) {
	s := f.stateOf(v)
	number, first := v.Meta().ResourceVersion, len(f.lines) == 0
	wrote := first || number != f.number
	webhook := f.webhook(f.at, s.at)
	if first && webhook != "" && !f.isWanted(s.value) {
		f.removed = fmt.Sprintf("%s had %s changed before it was stored", webhook, f.subject)
	}
	line := Line{At: s.at, What: f.line(s), Text: s.value}
	leaves := f.good != "" && number != f.good && !f.isWanted(s.value) && f.left.text == ""
	switch {
	case f.isWanted(s.value):
		f.good, f.had, f.left, f.shown = number, s.value, departure{}, ""
		clear(f.hides)
	case leaves:
		f.left = f.leaving(s, webhook)
		line.Tone = map[bool]Tone{true: Bad, false: Changed}[f.left.lost]
	case number == f.good && s.value == unset:
		f.hides[s.server] = true
	}
	if changed := first || s.value != f.value; changed || s.server != f.server || s.step != "" {
		f.lines = append(f.lines, line)
		if changed {
			f.changes++
		}
	}
	if !first && s.value != f.value && !wrote && !f.isWanted(s.value) && s.value != unset && f.shown == "" {
		f.isDefault = f.left.lost && f.value == unset
		f.shown = fmt.Sprintf("%s showed %s from %s", s.server, map[bool]string{true: "the default "}[f.isDefault]+s.value, moment(s.at))
	}
	if first || s.value != f.value {
		f.since = s.at
	}
	f.gone = ""
	if v.Gone() {
		f.gone = f.deletion(s)
	}
	f.at, f.value, f.server, f.number, f.uid = s.at, s.value, s.server, number, v.Meta().UID
}

// webhook is the one that had the field changed between two times: the last conversion webhook, or
// else the last admission webhook.
func (f *fieldHistory) webhook(after, until float64) (last string) {
	pointer := "/" + strings.NewReplacer(".[", "/", "]", "", ".", "/").Replace(strings.Join(f.field, "."))
	changes := func(operation string) bool {
		_, path, _ := strings.Cut(operation, " ")
		return path == pointer || strings.HasPrefix(pointer, path+"/")
	}
	for _, name := range slices.Sorted(maps.Keys(f.b.Webhooks)) {
		for _, call := range f.b.Webhooks[name] {
			if call.Object == f.key && call.Allowed && !call.DryRun && call.At > after && call.At <= until && slices.ContainsFunc(call.Patch, changes) {
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
func (f *fieldHistory) isWanted(value string) bool {
	if f.wanted == anyValue {
		return value != unset && value != deleted && value != unserved
	}
	return value == f.wanted
}

// deleted is the value of a field of an object that is gone.
const deleted = "deleted"

// unserved is that of an object whose resource the API server does not serve.
const unserved = "not served"

// line says of a state of the object who served it, and whether it was written, by whom.
func (f *fieldHistory) line(s fieldState) string {
	number := s.Meta().ResourceVersion
	what := s.server + f.b.unready(s.Version) + ", resourceVersion " + number
	switch {
	case s.step != "":
		return what + ", written" + s.in()
	case len(f.lines) == 0:
		return what
	case s.Gone():
		return what
	case number != f.number && f.writer(s) != "":
		return what + ", written by " + f.writer(s)
	case number != f.number:
		return what + ", written"
	case s.value == unset:
		return what + ", not written since: not shown"
	case f.value == unset && !f.isWanted(s.value):
		return what + ", not written since: a default on read"
	default:
		return what + ", not written since: shown so"
	}
}

// cause is what became of the wanted value; empty if it was never lost or changed, or if that is no
// cause: a check that waits began after the change, and waited for another one.
func (f *fieldHistory) cause() string {
	left := f.left
	switch {
	case left.text == "":
		return f.removed
	case !left.caused && f.t != nil && f.t.awaits() && left.at < f.t.from:
		return ""
	case f.shown != "":
		return left.text + "; " + f.shown
	case left.lost:
		return fmt.Sprintf("%s; until then, it was %s in storage", left.text, f.had)
	default:
		return left.text
	}
}

// earlier is how the value was changed before a check began to wait for it.
func (f *fieldHistory) earlier() string {
	if f.left.text == "" || f.cause() != "" {
		return ""
	}
	return "before the check began to wait, " + f.left.text
}

// shownOnly is how the value was shown otherwise than it was wanted, if it was not lost.
func (f *fieldHistory) shownOnly() string {
	if f.left.text != "" || f.shown == "" {
		return ""
	}
	return f.shown + ", without a write"
}

// lane shows the values of the field over time.
func (f *fieldHistory) lane(end float64) Lane {
	var l lane
	field := f.what.Path[max(2, len(f.what.Path)-2):]
	l.Lane = Lane{Kind: ObjectState, Name: f.key + "/" + strings.ReplaceAll(dotted(field), "/", "_")}
	for _, line := range f.lines {
		tone := Bad
		switch {
		case f.isWanted(line.Text):
			tone = Good
		case f.what.never() && line.Text == f.what.Value: // as it was never to be
		case f.left.text == "" || line.At < f.left.at:
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

// missing says that the object which a comparison is about was not there: it was deleted, or the
// record has never had it.
func (t failedCheck) missing(c Compared) string {
	key, _ := t.b.object(c)
	switch {
	case key == "" || c.Path[0] == "requests" || t.history.cause() != "":
		return ""
	case t.history.gone != "":
		return t.history.gone
	}
	for _, v := range t.b.States(key) {
		if t.b.at(v.Time) <= t.to {
			return ""
		}
	}
	return fmt.Sprintf("until %s, the record has no %s", moment(t.to), objectWords(key))
}
