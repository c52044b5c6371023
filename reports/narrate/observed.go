package narrate

import (
	"github.com/skewrig/skewrig/record/timeline"
)

// observed is an object of an API server at a moment. What is not of the form
// that Kubernetes gives it is as if it were not there.
type observed struct {
	*timeline.Version
	at   float64
	body map[string]any // not to be changed
}

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
	n, is := get(object, path...).(int64)
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

// news is an Event object that says something new.
type news struct {
	at                           float64
	kind, namespace, name, field string // what it is about
	reason, message              string
	warning                      bool
}

// newsOf is what an Event object says that is new, or that happened again.
func newsOf(h timeline.Happening, at float64) news {
	return news{
		at: at, kind: h.About.Kind, namespace: h.About.Namespace, name: h.About.Name, field: h.About.FieldPath,
		reason: h.Reason, message: shortened(h.Message, maxMessage), warning: h.Type == "Warning",
	}
}
