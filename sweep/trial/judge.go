package trial

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/skewrig/skewrig/record/timeline"
)

// Phase is a part of a sweep.
type Phase string

// The phases, in their order.
const (
	On      Phase = "on"      // objects are made, and nothing is left to do
	Off     Phase = "off"     // the gates were turned off
	Touched Phase = "touched" // and objects were touched
	Again   Phase = "again"   // the gates were turned on again
)

// Seen is what a sweep left.
type Seen struct {
	Items     []Item
	Namespace string
	Timeline  *timeline.Timeline
	// Began are when phases began, and Ended when the last one ended.
	Began map[Phase]time.Time
	Ended time.Time
	// Answers are what the API server said of the touch of an item, by its name: with the gates on,
	// to a dry run, and with the gates off.
	Answers map[string]Answers
}

// Answers are errors, and empty if there was none.
type Answers struct{ On, Off string }

// Unseen are the items of which nothing was seen, so that nothing can be said of them. One that was to
// be made while the gates are off may have been refused.
func Unseen(s Seen) (all []Item) {
	families := s.families()
	for _, i := range s.Items {
		refused := i.Touch == Create && s.Answers[i.Name].Off != ""
		if len(families[i.Key(s.Namespace)].own) == 0 && !refused {
			all = append(all, i)
		}
	}
	return all
}

// Judge returns what should not be, sorted by signature. A control that shows the same has an item out:
// it is not about the field.
func Judge(s Seen) []Finding {
	j := judge{Seen: s, families: s.families(), found: make(map[string]*Finding), controls: make(map[string]bool)}
	items := slices.Clone(s.Items)
	slices.SortStableFunc(items, func(a, b Item) int { return cmp.Compare(a.Field, b.Field) }) // controls first
	for _, i := range items {
		j.endless(i)
		j.refused(i)
		switch {
		case i.Touch == Delete:
			j.stays(i)
		case i.Touch == Create:
			j.stored(i)
		case !i.IsControl():
			j.lost(i)
		}
	}
	var all []Finding
	for _, signature := range slices.Sorted(maps.Keys(j.found)) {
		f := *j.found[signature]
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
	found    map[string]*Finding
	controls map[string]bool // by kind and signature
}

func (j *judge) report(i Item, what, detail string, args ...any) {
	f := Finding{What: what, Touch: i.Touch}
	signature := f.Signature()
	switch {
	case i.IsControl():
		j.controls[i.Kind+signature] = true
		return
	case j.controls[i.Kind+signature]:
		return
	case j.found[signature] == nil:
		j.found[signature] = &f
	}
	j.found[signature].Items = append(j.found[signature].Items, Found{Item: i, Detail: fmt.Sprintf(detail, args...)})
}

func (j *judge) of(i Item) family { return j.families[i.Key(j.Namespace)] }

// maxWrites is how often an object and what it owns may be written in a phase: a touch makes a few
// writes for each of some replicas.
const maxWrites = 60

func (j *judge) endless(i Item) {
	for _, p := range order {
		if n := j.of(i).writes(j.Seen, p); n > maxWrites {
			from, to := j.span(p)
			j.report(i, Endless, "%d writes of it and of what it owns in %.0f s of phase %s", n, to.Sub(from).Seconds(), p)
			return
		}
	}
}

func (j *judge) refused(i Item) {
	if i.Touch == Create {
		return // that may be so
	}
	if a := j.Answers[i.Name]; a.On == "" && a.Off != "" {
		j.report(i, Refused, "%s", a.Off)
	}
}

func (j *judge) stays(i Item) {
	if own := j.of(i).own; len(own) > 0 && !own[len(own)-1].Gone() {
		j.report(i, Stays, "it is there at the end of the sweep")
	}
}

// stored looks for a field in an object that was made while the gates were off. An API server drops it, or
// refuses the object.
func (j *judge) stored(i Item) {
	_, end := j.span(Touched)
	if v, is := j.of(i).valueAt(i, end); is && !i.IsControl() {
		j.report(i, Stored, "%v", v)
	}
}

// lost looks for a field that was there when the gates were turned off. An API server keeps it where it
// is in use (sig-architecture/api_changes.md, "Alpha field in existing API version").
func (j *judge) lost(i Item) {
	before, had := j.of(i).valueAt(i, j.Began[Off])
	if !had {
		return
	}
	for _, p := range order[1:] {
		_, end := j.span(p)
		if after, has := j.of(i).valueAt(i, end); !has || !reflect.DeepEqual(before, after) {
			j.report(i, Lost, "%v before, %v at the end of phase %s", before, after, p)
			return
		}
	}
}
