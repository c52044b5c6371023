package trial

import (
	"cmp"
	"maps"
	"slices"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/law"
)

// Seen is what a plan left.
type Seen struct {
	law.Course

	Plan      Plan
	Namespace string
	// Answers are what the API server said of the mutations of an item, by its name.
	Answers map[string][]law.Answer
	// Restless is true if a phase ended before objects were at rest that are not written without end.
	Restless bool
	// Metrics are those that were asked for and that components had.
	Metrics []Metric
	// Panics are what components logged of panics and fatal errors.
	Panics []Panic
	// Exit is how a component ended by itself, and with it the plan: of objects, nothing can be said
	// then. If unset, none did.
	Exit *Exit
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

// course is what laws judge of it.
func (s Seen) course() *law.Course {
	var objects []law.Object
	for _, i := range s.Plan.Items {
		objects = append(objects, s.judged(i))
	}
	c := s.Course
	c.ServerChanges, c.OneOfTwo = s.Plan.Transition.Has(record.APIServer), s.Plan.Transition.HasTwoServers()
	return law.NewCourse(c, objects)
}

// judged is an item as laws judge it.
func (s Seen) judged(i Item) law.Object {
	o := i.judged(s.Namespace, s.Plan.Gates)
	o.Answers = s.Answers[i.Name]
	return o
}

// judged is an item in a namespace as laws judge it, while some gates are off.
func (i Item) judged(namespace string, off []string) law.Object {
	o := law.Object{Key: i.Key(namespace), Kind: i.Kind, Name: i.Name, FieldsUnknown: i.Unknown, Requests: i.Requests()}
	for _, f := range i.Fields() {
		isOff := func(gate string) bool { return slices.Contains(off, gate) }
		o.Fields = append(o.Fields, law.Field{Path: f.Path, Off: slices.ContainsFunc(f.Gates, isOff)})
	}
	return o
}

// Unseen are the items of which nothing was seen, so that nothing can be said of them. One that was to
// be made after the change may have been refused.
func Unseen(s Seen) (all []Item) {
	course := s.course()
	for _, i := range s.Plan.Items {
		refused := i.Late() && slices.ContainsFunc(s.Answers[i.Name], func(a law.Answer) bool { return a.Off.Text != "" })
		if !course.Shows(s.judged(i)) && !refused {
			all = append(all, i)
		}
	}
	return all
}

// Unsettled is why the plan may have shown less, or something else, than there is.
func (s Seen) Unsettled() Unsettled {
	u := Unsettled{Restless: s.Restless}
	for _, l := range s.Missed() {
		u.Lost = append(u.Lost, s.DescribeLoss(l))
	}
	return u
}

// Judge returns what should not be, sorted by signature. If a control shows it, it is not about a field: then the
// control is what shows it, and no object of its kind with a field.
func Judge(s Seen) []Finding {
	j := judge{Seen: s, found: make(map[string]*Finding), controls: make(map[string]bool)}
	var items []Item
	if s.Exit == nil {
		items = slices.Clone(s.Plan.Items)
	}
	slices.SortStableFunc(items, func(a, b Item) int { return cmp.Compare(a.Field, b.Field) }) // controls first
	course := s.course()
	for _, i := range items {
		for _, b := range course.Breaches(s.judged(i)) {
			j.report(i, b.What, b.Detail)
		}
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
	f.Items = append(f.Items[:0], Found{Detail: detail, Transition: j.Plan.Transition.String(), Plan: j.Plan.Number})
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

	found    map[string]*Finding
	controls map[string]bool // by kind and signature
}

func (j *judge) report(i Item, what, detail string) {
	f := Finding{What: what, Mutations: i.Mutations}
	id := i.Kind + f.Signature()
	if i.IsControl() {
		j.controls[id] = true
	} else if j.controls[id] {
		return
	}
	into := j.finding(f)
	into.Items = append(into.Items, Found{Item: i, Detail: detail, Transition: j.Plan.Transition.String(), Plan: j.Plan.Number})
}

// finding is the one of a signature.
func (j *judge) finding(f Finding) *Finding {
	signature := f.Signature()
	if j.found[signature] == nil {
		j.found[signature] = &f
	}
	return j.found[signature]
}
