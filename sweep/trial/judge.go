package trial

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

// Phase is a part of a plan.
type Phase string

// The phases, in their order.
const (
	On      Phase = "on"      // objects are made, and nothing is left to do
	Off     Phase = "off"     // the components were changed
	Touched Phase = "touched" // and objects were touched
	Again   Phase = "again"   // the components are as before
)

// Seen is what a plan left.
type Seen struct {
	Plan      Plan
	Namespace string
	Timeline  *timeline.Timeline
	// Began are when phases began, and Ended when the last one ended.
	Began map[Phase]time.Time
	Ended time.Time
	// Answers are what the API server said of the touches of an item, by its name.
	Answers map[string][]Answer
	// Unserved are resources that an API server does not serve since it changed.
	Unserved []string
	// Restless is true if a phase ended before objects were at rest that are not written without end.
	Restless bool
	// Panics are what components logged of panics and fatal errors.
	Panics []Panic
	// Exit is how a component ended by itself, and with it the plan: of objects, nothing can be said
	// then. If unset, none did.
	Exit *Exit
}

// Answer is what an API server says of a touch: before the change, to a dry run, and after it.
type Answer struct {
	Touch   Touch
	On, Off Said
}

// busy reports whether it is said that there are too many requests, or that others wrote the object meanwhile. Of
// an apply, a conflict says that a field is another one's.
func (a Answer) busy() bool {
	return a.Off.Code == http.StatusTooManyRequests || a.Off.Code == http.StatusConflict && a.Touch != Apply
}

// Said is an error with its HTTP status, and empty if there was none.
type Said struct {
	Text string
	Code int
}

// unserved reports whether it is said that the whole resource is not served: a gate may be that of an API.
func (s Said) unserved() bool {
	return s.Code == http.StatusNotFound && strings.Contains(s.Text, "could not find the requested resource")
}

// Panic is what a component logs of a panic or a fatal error.
type Panic struct {
	Component string `json:"component"`
	// Text is what it says, and At the first function of Kubernetes's own in the stack.
	Text string `json:"text"`
	At   string `json:"at"`
}

// Exit is how a component ended without a request.
type Exit struct {
	Component string
	// Started is false if it ended before it was ready.
	Started bool
	// State is its exit status or the signal that ended it, and Text also what it said of why.
	State, Text string
}

// what is what a finding says of it.
func (e *Exit) what() string {
	how := notStarts
	if e.Started {
		how = ends
	}
	return record.Program(e.Component) + how + e.State
}

// Unseen are the items of which nothing was seen, so that nothing can be said of them. One that was to
// be made after the change may have been refused.
func Unseen(s Seen) (all []Item) {
	families := s.families()
	for _, i := range s.Plan.Items {
		refused := i.Late() && slices.ContainsFunc(s.Answers[i.Name], func(a Answer) bool { return a.Off.Text != "" })
		if len(families[i.Key(s.Namespace)].own) == 0 && !refused {
			all = append(all, i)
		}
	}
	return all
}

// Missed are the losses of states of objects: what can't be said of them is not.
func (s Seen) Missed() []*timeline.Loss {
	from, _ := s.span(On)
	return s.Timeline.Lost(timeline.NeedsOf("", record.ObjectObserved{}), from, s.Ended)
}

// Unsettled is why the plan may have shown less, or something else, than there is.
func (s Seen) Unsettled() Unsettled {
	u := Unsettled{Restless: s.Restless}
	for _, l := range s.Missed() {
		u.Lost = append(u.Lost, s.Timeline.DescribeLoss(l))
	}
	return u
}

// Judge returns what should not be, sorted by signature. If a control shows it, it is not about a field: then the
// control is what shows it, and no object of its kind with a field.
func Judge(s Seen) []Finding {
	j := judge{Seen: s, families: s.families(), requests: s.requests(), found: make(map[string]*Finding), controls: make(map[string]bool)}
	var items []Item
	if s.Exit == nil {
		items = slices.Clone(s.Plan.Items)
	}
	slices.SortStableFunc(items, func(a, b Item) int { return cmp.Compare(a.Field, b.Field) }) // controls first
	for _, i := range items {
		j.item(i)
	}
	for _, p := range s.Panics {
		j.component(record.Program(p.Component)+panics+p.At, p.Text)
	}
	if e := s.Exit; e != nil && !slices.ContainsFunc(s.Panics, func(p Panic) bool { return p.Component == e.Component }) {
		j.component(e.what(), e.Text)
	}
	return sorted(j.found)
}

// component reports what a component does, and no object.
func (j *judge) component(what, detail string) {
	f := j.finding(Finding{What: what})
	f.Items = append(f.Items[:0], Found{Detail: detail, Turn: j.Plan.Turn.String(), Plan: j.Plan.Number})
}

// item says what an item shows.
func (j *judge) item(i Item) {
	var shown []string
	for _, o := range Oracles {
		about := (o.Touched == "" || i.Touches.Has(o.Touched)) && (!o.Server || j.Plan.Turn.Has(record.APIServer))
		if !about || o.Latest && len(j.Missed()) > 0 || slices.ContainsFunc(o.Follows, func(what string) bool { return slices.Contains(shown, what) }) {
			continue
		}
		if detail := o.seen(j, i); detail != "" {
			shown = append(shown, o.What)
			j.report(i, o.What, detail)
		}
	}
}

func sorted(found map[string]*Finding) (all []Finding) {
	for _, signature := range slices.Sorted(maps.Keys(found)) {
		f := *found[signature]
		slices.SortFunc(f.Items, func(a, b Found) int {
			return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Name, b.Name))
		})
		all = append(all, f)
	}
	return all
}

type judge struct {
	Seen

	families map[string]family
	requests map[string]map[Phase]int // by the name of an item
	found    map[string]*Finding
	controls map[string]bool // by kind and signature
}

func (j *judge) report(i Item, what, detail string) {
	f := Finding{What: what, Touches: i.Touches}
	id := i.Kind + f.Signature()
	if i.IsControl() {
		j.controls[id] = true
	} else if j.controls[id] {
		return
	}
	into := j.finding(f)
	into.Items = append(into.Items, Found{Item: i, Detail: detail, Turn: j.Plan.Turn.String(), Plan: j.Plan.Number})
}

// finding is the one of a signature.
func (j *judge) finding(f Finding) *Finding {
	signature := f.Signature()
	if j.found[signature] == nil {
		j.found[signature] = &f
	}
	return j.found[signature]
}

func (j *judge) of(i Item) family { return j.families[i.Key(j.Namespace)] }

// requests are what components asked to write of items and of what they own, which is named after them.
func (s Seen) requests() map[string]map[Phase]int {
	all := make(map[string]map[Phase]int)
	names := make(map[string]bool)
	for _, i := range s.Plan.Items {
		names[i.Name] = true
	}
	var zero time.Time
	if len(s.Timeline.Events) > 0 {
		zero = s.Timeline.Events[0].At
	}
	for _, calls := range s.Timeline.Calls {
		for _, c := range calls {
			name := itemOf(c.Path, names)
			if name == "" || c.Method == "GET" {
				continue
			}
			at := zero.Add(time.Duration(c.At * float64(time.Second)))
			for _, p := range order {
				if from, to := s.span(p); !at.Before(from) && at.Before(to) {
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

// itemOf is the item that a path is of, or of what it owns.
func itemOf(path string, names map[string]bool) string {
	for segment := range strings.SplitSeq(path, "/") {
		if name, _, _ := strings.Cut(segment, "-"); names[name] {
			return name
		}
	}
	return ""
}
