package law

import (
	"fmt"
	"reflect"
	"strings"
)

// Breaches by an API server that does not treat a field as its gate asks.
const (
	Lost      = "the field is lost"
	Stored    = "the field is stored although the gate is off"
	Defaulted = "the field is filled in although the gate is off"
)

// These three need no model of a release: they ask only whether a value is there. What exactly is stored of a field that the
// ledgers describe is predicted, by package model, and judged by the oracle field-survival.

var keepsField = Law{
	Breach:    Lost,
	Statement: "A field in use is kept while its gate is off.",
	Source:    changes + ", Alpha field in existing API version",
	about:     func(c *Course, _ Object) bool { return c.ServerChanges },
	breach:    lost,
	check: func(o Object, _ bool) Check {
		return Check{ID: "kept", Observe: o.hasFields(), Is: true, Always: span("5s")}
	},
}

var storesNoField = Law{
	Breach:    Stored,
	Statement: "A new object does not get the field while its gate is off.",
	Source:    changes + ", Alpha field in existing API version",
	proof:     true,
	about:     func(c *Course, o Object) bool { return c.ServerChanges && o.asks(Creates) && !o.isWithoutFields() },
	breach:    stored,
	check:     storedCheck,
}

var fillsNoField = Law{
	Breach:    Defaulted,
	Statement: "A field without a value stays so while its gate is off.",
	Source:    changes + ", Alpha field in existing API version",
	proof:     true,
	about:     func(c *Course, o Object) bool { return c.ServerChanges && o.asks(Creates) && o.isWithoutFields() },
	breach:    stored,
	check:     storedCheck,
}

// lost looks for a field that was there when the gates were turned off, and that no client without it has
// written since. An API server keeps it where it is in use.
func lost(c *Course, o Object) string {
	if o.FieldsUnknown || o.isWithoutFields() || o.asks(Creates) {
		return ""
	}
	for _, f := range o.Fields {
		before, had := c.family(o).valueAt(f.Path, c.Began[Off])
		if !had {
			continue
		}
		for _, p := range order[1:] {
			end := c.end(p)
			if c.family(o).goneAt(end) {
				break
			}
			if after, has := c.family(o).valueAt(f.Path, end); !has || !reflect.DeepEqual(before, after) {
				return fmt.Sprintf("%v before, %v at the end of phase %s", before, after, p)
			}
		}
	}
	return ""
}

// stored looks for a field in an object that was made while the gates were off. An API server drops it, or
// refuses the object. Another one that has them on shows defaults in all that it reads.
func stored(c *Course, o Object) string {
	if c.OneOfTwo {
		return ""
	}
	for _, f := range o.Fields {
		if v, is := c.family(o).valueAt(f.Path, c.end(Mutated)); is && f.Off {
			return fmt.Sprint(v)
		}
	}
	return ""
}

// storedCheck asks whether a new object has the fields, as it has in the control.
func storedCheck(o Object, control bool) Check {
	return Check{ID: "stored", Observe: o.exists() + " && (" + o.hasFields() + ")", Is: control, Always: span("5s")}
}

// hasFields is an expression for whether an object has all of its fields.
func (o Object) hasFields() string {
	var all []string
	for _, f := range o.Fields {
		all = append(all, hasField(o.expression(), strings.Split(f.Path, ".")))
	}
	return strings.Join(all, " && ")
}

// hasField is an expression for whether something has a field at a path.
func hasField(in string, path []string) string {
	name := strings.TrimRight(path[0], "[]{}")
	has := fmt.Sprintf("has(%s.%s)", in, name)
	if len(path) == 1 {
		return has
	}
	below := in + "." + name
	item := "x" + strings.Repeat("x", strings.Count(in, "x"))
	switch {
	case strings.HasSuffix(path[0], "[]"):
		return fmt.Sprintf("%s && %s.exists(%s, %s)", has, below, item, hasField(item, path[1:]))
	case strings.HasSuffix(path[0], "{}"):
		return fmt.Sprintf("%s && %s.exists(%s, %s)", has, below, item, hasField(below+"["+item+"]", path[1:]))
	default:
		return has + " && " + hasField(below, path[1:])
	}
}
