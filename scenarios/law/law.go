// Package law has what must hold of every object while components change: each law once, with its statement, the document
// that it is from, how the record shows that an object breaks it, and the check of a scenario that says the same.
//
// Sweeps and rehearsals judge by All; a rehearsal reports the breaches that package rehearse has a class for. In cells, oracles
// judge by Bystanders and Endlessly, and by none of All.
//
// It knows no plan, no sweep and no scenario. Who judges by it says which objects there are, what clients did to them, and
// when the components changed.
package law

import (
	"fmt"
	"slices"
)

// Law is something that must hold of every object.
type Law struct {
	// Breach is what is said of an object that breaks it. It is the name of the law, too.
	Breach string
	// Statement is what holds otherwise, and Source the document that says so.
	Statement, Source string
	// Follows are breaches of other laws that this one may be a consequence of: of an object that shows one of them, it is
	// not said.
	Follows []string
	// Undone is true if it is about what is so once the change is undone.
	Undone bool

	// proof is true if what was seen of an object shows the breach, whatever else may be missing from the record. Others are
	// about how an object is at the end of a phase: they say nothing where states of objects may be missing.
	proof bool
	// about reports whether it says something of an object. If unset, it does of each.
	about func(*Course, Object) bool
	// breach says how an object breaks it, and nothing if it does not.
	breach func(*Course, Object) string
	// check is a check of a scenario that fails if an object breaks it. If unset, or without an expression, there is none.
	check func(o Object, control bool) Check
}

// The documents that laws are from.
const (
	changes     = "kubernetes/community, sig-architecture/api_changes.md"
	conventions = "kubernetes/community, sig-architecture/api-conventions.md"
)

// All are the laws, in the order of their weight.
var All = []Law{settles, asksNothing, reportsEnd, answers, accepts, keepsField, storesNoField, fillsNoField, goes, isAsBefore, reportsStatus, runsOn}

// Named is the law with a breach.
func Named(breach string) (Law, bool) {
	if n := slices.IndexFunc(All, func(l Law) bool { return l.Breach == breach }); n >= 0 {
		return All[n], true
	}
	return Law{}, false
}

// Breach is a law that an object breaks, and how.
type Breach struct{ What, Detail string }

// Breaches are the laws that an object breaks.
func (c *Course) Breaches(o Object) (all []Breach) {
	for _, l := range All {
		isCause := func(b Breach) bool { return slices.Contains(l.Follows, b.What) }
		if l.about != nil && !l.about(c, o) || !l.proof && len(c.Missed()) > 0 || slices.ContainsFunc(all, isCause) {
			continue
		}
		if detail := l.breach(c, o); detail != "" {
			all = append(all, Breach{l.Breach, detail})
		}
	}
	return all
}

// Check is a check of a scenario.
type Check struct {
	ID         string            `json:"id"`
	Observe    string            `json:"observe"`
	Is         any               `json:"is,omitempty"` // nil is none
	AtMost     map[string]any    `json:"atMost,omitempty"`
	Eventually string            `json:"eventually,omitempty"`
	Always     map[string]string `json:"always,omitempty"`
}

// CheckOf returns a check that fails in a scenario in which an object breaks a law, and passes in its control, in which nothing
// changes. Oracles of every cell see some breaches, and a refusal fails the step: then the check only says that the object stays.
func CheckOf(breach string, o Object, control bool) (c Check) {
	if l, is := Named(breach); is && l.check != nil {
		c = l.check(o, control)
	}
	if c.Observe == "" {
		c = Check{ID: "stays", Observe: o.exists(), Is: true, Always: span("15s")}
	}
	return c
}

// exists is an expression for whether there is an object.
func (o Object) exists() string { return fmt.Sprintf("'%s' in objects", o.Key) }

// expression is an expression for an object.
func (o Object) expression() string { return fmt.Sprintf("objects['%s']", o.Key) }

// span is how long a check has to hold.
func span(long string) map[string]string { return map[string]string{"for": long} }
