package law

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

// Phase is a part of a course.
type Phase string

// The phases, in their order.
const (
	On      Phase = "on"      // objects are made, and nothing is left to do
	Off     Phase = "off"     // the components were changed
	Mutated Phase = "touched" // and objects were mutated
	Again   Phase = "again"   // the components are as before
)

var order = []Phase{On, Off, Mutated, Again}

// Course is what laws judge: objects that are there while components change.
type Course struct {
	*timeline.Timeline

	// Began are when phases began, and Ended when the last one ended.
	Began map[Phase]time.Time
	Ended time.Time
	// ServerChanges is true if an API server changes, and OneOfTwo if another one beside it does not.
	ServerChanges, OneOfTwo bool
	// Unserved are resources that an API server does not serve since it changed.
	Unserved []string

	families map[string]family
	requests map[string]map[Phase]int // by the namespace and the name of an object
}

// Object is an object that laws judge.
type Object struct {
	// Key is the object as a timeline has it.
	Key        string
	Kind, Name string
	// Fields are those whose gates change. FieldsUnknown is true if a component changes to a release that does not have
	// them.
	Fields        []Field
	FieldsUnknown bool

	// Requests are what clients asked for about it after the components changed, and Answers what was answered. One that is
	// to create it is the first of the object.
	Requests []Request
	Answers  []Answer
}

// Field is a field that gates guard, with the path at which the object has it.
type Field struct {
	Path string
	// Off is true if one of its gates is turned off.
	Off bool
}

// Answer is what an API server says to a request: before the change, to a dry run, and after it.
type Answer struct {
	Request

	On, Off Said
}

// Said is an error with its HTTP status, and empty if there was none.
type Said struct {
	Text string
	Code int
}

// NewCourse is a course of objects, by a record.
func NewCourse(c Course, objects []Object) *Course {
	c.families, c.requests = familiesOf(c.Timeline), c.requestsOf(objects)
	return &c
}

// During returns the course of the same record, of objects in other phases.
func (c *Course) During(began map[Phase]time.Time, ended time.Time, objects []Object) *Course {
	other := *c
	other.Began, other.Ended = began, ended
	other.requests = other.requestsOf(objects)
	return &other
}

// Shows reports whether an object was seen.
func (c *Course) Shows(o Object) bool { return len(c.family(o).own) > 0 }

// Missed are the losses of states of objects: what can't be said of them is not.
func (c *Course) Missed() []*timeline.Loss {
	from, _ := c.span(On)
	return c.Lost(timeline.NeedsOf("", record.ObjectObserved{}), from, c.Ended)
}

// span is when a phase began and ended.
func (c *Course) span(p Phase) (from, to time.Time) {
	i := slices.Index(order, p)
	from, to = c.Began[p], c.Ended
	if i+1 < len(order) {
		to = c.Began[order[i+1]]
	}
	return from, to
}

// end is when a phase ended.
func (c *Course) end(p Phase) time.Time {
	_, end := c.span(p)
	return end
}

func (c *Course) family(o Object) family { return c.families[o.Key] }

// requestsOf are what components asked to write of objects and of what they own, which is named after them.
func (c *Course) requestsOf(objects []Object) map[string]map[Phase]int {
	all := make(map[string]map[Phase]int)
	names := make(map[string]bool)
	for _, o := range objects {
		names[o.named()] = true
	}
	var zero time.Time
	if len(c.Events) > 0 {
		zero = c.Events[0].At
	}
	for _, calls := range c.Calls {
		for _, call := range calls {
			path := record.ParseAPIPath(call.Path)
			name := NamedAfter(strings.TrimPrefix(path.Namespace+"/"+path.Name, "/"), names)
			if name == "" || call.Method == http.MethodGet {
				continue
			}
			at := zero.Add(time.Duration(call.At * float64(time.Second)))
			for _, p := range order {
				if from, to := c.span(p); !at.Before(from) && at.Before(to) {
					if all[name] == nil {
						all[name] = make(map[Phase]int)
					}
					all[name][p]++
				}
			}
		}
	}
	return all
}

// named is the name of an object, with its namespace if it has one: "shop/web".
func (o Object) named() string {
	_, name, _ := strings.Cut(o.Key, "/")
	return name
}

// NamedAfter returns the longest of some names that an object has, or its owner: controllers add a hyphen and a suffix to the
// name of the owner. Names may have a namespace. It returns nothing if there is none.
func NamedAfter(name string, names map[string]bool) string {
	for !names[name] {
		suffix := strings.LastIndexAny(name, "-/")
		if suffix < 0 || name[suffix] == '/' {
			return ""
		}
		name = name[:suffix]
	}
	return name
}
