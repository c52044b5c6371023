package narrate

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
)

// observed is an object of an API server at a moment. What is not of the form
// that Kubernetes gives it is as if it were not there.
type observed struct {
	record.ObjectObserved
	key  string // resource/namespace/name, after the name of the rig if there are several
	at   float64
	body map[string]any
	when time.Time
}

// decode decodes an object, unless it is not shown: of simulated nodes there are
// thousands.
func (b *builder) decode(e record.Event, at float64) (observed, bool) {
	if node, is := strings.CutPrefix(e.Subject, "nodes/"); is && !b.real[node] && !b.objects.wants(e.Subject) {
		return observed{}, false
	}
	seen, ok := record.As[record.ObjectObserved](e)
	if !ok {
		return observed{}, false
	}
	o := observed{ObjectObserved: seen, key: e.Subject, at: at, when: e.At}
	return o, json.Unmarshal(seen.Object, &o.body) == nil
}

func (o observed) deleted() bool { return o.Change == "deleted" }

// get is what is at a path in an object; nil if there is nothing.
func get(object any, path ...string) any {
	for _, field := range path {
		fields, _ := object.(map[string]any)
		object = fields[field]
	}
	return object
}

// text is the text at a path.
func text(object any, path ...string) string {
	t, _ := get(object, path...).(string)
	return t
}

// number is the number at a path, and whether there is one.
func number(object any, path ...string) (int, bool) {
	n, is := get(object, path...).(float64)
	return int(n), is
}

// list is the list at a path.
func list(object any, path ...string) []any {
	l, _ := get(object, path...).([]any)
	return l
}

// condition is the condition of a type, and whether there is one.
func condition(object any, name string) (status, reason, message string, is bool) {
	for _, c := range list(object, "status", "conditions") {
		if text(c, "type") == name {
			return text(c, "status"), text(c, "reason"), text(c, "message"), true
		}
	}
	return "", "", "", false
}

// counts are how often each Event object was seen to have happened.
type counts map[string]int

// news is an Event object that says something new.
type news struct {
	at                           float64
	kind, namespace, name, field string // what it is about
	reason, message              string
	warning                      bool
}

// news reports whether an event of the record is an Event object that is new,
// or that says that it happened again.
func (c counts) news(e record.Event, at float64) (news, bool) {
	var seen struct {
		Change string
		Object struct {
			Count                 int
			InvolvedObject        struct{ Kind, Namespace, Name, FieldPath string }
			Reason, Message, Type string
		}
	}
	if json.Unmarshal(e.Data, &seen) != nil {
		return news{}, false
	}
	o, about := seen.Object, seen.Object.InvolvedObject
	count := max(1, o.Count) // those of the newer API count otherwise
	if seen.Change == "deleted" || count <= c[e.Subject] {
		return news{}, false
	}
	c[e.Subject] = count
	return news{
		at: at, kind: about.Kind, namespace: about.Namespace, name: about.Name, field: about.FieldPath,
		reason: o.Reason, message: shortened(o.Message, maxMessage), warning: o.Type == "Warning",
	}, true
}
