package trial

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/sweep/object"
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

// Finding is something that should not be, with all items that show it.
type Finding struct {
	// What says it of an item: Endless, Refused, Lost, Stays or Stored.
	What  string `json:"what"`
	Touch Touch  `json:"touch"`
	// Items are sorted by kind and field.
	Items []Found `json:"items"`
}

// Found is an item that shows a finding.
type Found struct {
	Item

	// Detail says how.
	Detail string `json:"detail"`
	// Alone is how often it was seen again in a scenario with the gates of the field alone turned
	// off, and Control how often with them left on. If unset, it was not tried.
	Alone   *Rate `json:"alone,omitempty"`
	Control *Rate `json:"control,omitempty"`
}

// Rate is how many of some runs were red.
type Rate struct {
	Red  int `json:"red"`
	Runs int `json:"runs"`
}

// String is "3 of 3 red", or a hyphen if it was not tried.
func (r *Rate) String() string {
	if r == nil {
		return "-"
	}
	return fmt.Sprintf("%d of %d red", r.Red, r.Runs)
}

// Confirmed reports whether it was seen each time with the gates off, and not once with them on.
func (f Found) Confirmed() bool {
	return f.Alone != nil && f.Alone.Runs > 0 && f.Alone.Red == f.Alone.Runs && f.Control != nil && f.Control.Runs > 0 && f.Control.Red == 0
}

// Split parts the confirmed items of findings from the others. A finding without items is left out.
func Split(all []Finding) (confirmed, others []Finding) {
	for _, f := range all {
		is, not := f, f
		is.Items, not.Items = nil, nil
		for _, i := range f.Items {
			if i.Confirmed() {
				is.Items = append(is.Items, i)
			} else {
				not.Items = append(not.Items, i)
			}
		}
		if len(is.Items) > 0 {
			confirmed = append(confirmed, is)
		}
		if len(not.Items) > 0 {
			others = append(others, not)
		}
	}
	return confirmed, others
}

// Signature is what items have in common that show one finding.
func (f Finding) Signature() string { return fmt.Sprintf("%s: %s", f.Touch, f.What) }

// What findings say.
const (
	Endless = "it is written without end"
	Refused = "it is refused"
	Lost    = "the field is lost"
	Stays   = "it is not gone"
	Stored  = "the field is stored although the gate is off"
)

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

// family is an object with what it owns.
type family struct {
	versions []*timeline.Version
	own      []*timeline.Version
}

// families are those of the objects that nothing owns, by key.
func (s Seen) families() map[string]family {
	key := make(map[string]string)   // of a UID
	owner := make(map[string]string) // UID by UID
	for _, v := range s.Timeline.Versions {
		m := v.Meta()
		key[string(m.UID)] = v.Key
		for _, o := range m.OwnerReferences {
			owner[string(m.UID)] = string(o.UID)
		}
	}
	all := make(map[string]family)
	for _, v := range s.Timeline.Versions {
		root := string(v.Meta().UID)
		for owner[root] != "" {
			root = owner[root]
		}
		f := all[key[root]]
		f.versions = append(f.versions, v)
		if root == string(v.Meta().UID) {
			f.own = append(f.own, v)
		}
		all[key[root]] = f
	}
	return all
}

// writes counts what was written in a phase.
func (f family) writes(s Seen, p Phase) int {
	from, to := s.span(p)
	written := make(map[string]bool)
	for _, v := range f.versions {
		id := string(v.Meta().UID) + "@" + v.Meta().ResourceVersion
		if _, before := written[id]; !before {
			written[id] = !v.Time.Before(from) && v.Time.Before(to)
		}
	}
	n := 0
	for _, in := range written {
		if in {
			n++
		}
	}
	return n
}

var order = []Phase{On, Off, Touched, Again}

// span is when a phase began and ended.
func (s Seen) span(p Phase) (from, to time.Time) {
	i := slices.Index(order, p)
	from, to = s.Began[p], s.Ended
	if i+1 < len(order) {
		to = s.Began[order[i+1]]
	}
	return from, to
}

// valueAt is the field of an item at a time.
func (f family) valueAt(i Item, at time.Time) (v any, is bool) {
	for _, version := range f.own {
		if version.Time.Before(at) && !version.Gone() {
			v, is = object.Value(version.Fields(), i.Path)
		}
	}
	return v, is
}
