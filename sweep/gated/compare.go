package gated

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/apitypes"
	"github.com/skewrig/skewrig/harness/release"
)

// Difference is what differs between two releases, as far as gates and the types of the API say it.
type Difference struct {
	From release.Version `json:"from"`
	To   release.Version `json:"to"`
	// Gates are sorted by name.
	Gates []Change `json:"gates"`
	// Kinds are those that only one of them serves, sorted.
	Kinds []Change `json:"kinds"`
	// Fields are sorted by name.
	Fields []Change `json:"fields"`
}

// Change is something that differs between two releases.
type Change struct {
	// Name is that of a gate, a kind or a field.
	Name string `json:"name"`
	// What is what differs of it: stage, default, lock, needs, type, values, required, gates or
	// validation; or Added or Removed if only one of the releases has the thing.
	What string `json:"what"`
	// From and To are what it was and is. Empty is none.
	From string `json:"from"`
	To   string `json:"to"`
}

// What Change.What is of a thing that only one release has.
const (
	Added   = "added"
	Removed = "removed"
)

// Compare compares two releases: their gates, and their types.
func Compare(from, to Release, fromAPI, toAPI *apitypes.API) Difference {
	return Difference{
		From: from.Version, To: to.Version,
		Gates:  changes(gateFacts(from), gateFacts(to)),
		Kinds:  changes(kindFacts(from.Version, fromAPI), kindFacts(to.Version, toAPI)),
		Fields: changes(fieldFacts(from, fromAPI), fieldFacts(to, toAPI)),
	}
}

// fact is something that is said of a thing: what it is about, and the value.
type fact struct{ what, value string }

// facts are what is said of things, by name. The first of each is what is printed if there is no such
// thing in another release.
type facts map[string][]fact

func gateFacts(r Release) facts {
	all := make(facts)
	for _, g := range r.Gates {
		all[g.Name] = []fact{
			{"stage", strings.ToLower(string(g.Stage))},
			{"default", map[bool]string{true: "on", false: "off"}[g.Default]},
			{"lock", map[bool]string{true: "locked"}[g.Locked]},
			{"needs", strings.Join(g.Needs, ", ")},
		}
	}
	return all
}

func kindFacts(v release.Version, api *apitypes.API) facts {
	all := make(facts)
	for _, k := range Served(v, api) {
		all[k.String()] = []fact{{"served", "served"}}
	}
	return all
}

func fieldFacts(r Release, api *apitypes.API) facts {
	fields := slices.Clone(r.Unknown)
	for _, g := range r.Gates {
		fields = append(fields, g.Fields...)
	}
	gates := make(map[string][]string)
	for _, f := range fields {
		if !f.ByComment {
			gates[f.Name] = f.Gates
		}
	}
	all := make(facts)
	for _, t := range api.Types() {
		for _, f := range t.Fields {
			if f.Name == "" {
				continue
			}
			name := fieldName(t, f)
			all[name] = []fact{
				{"type", f.Type.String()},
				{"values", strings.Join(api.Values(f.Type), ", ")},
				{"default", strings.Join(apitypes.Valued(f.Markers, "default"), ", ")},
				{"required", map[bool]string{false: "required"}[f.Optional]},
				{"gates", strings.Join(gates[name], ", ")},
				{"validation", strings.Join(validation(f), " ")},
			}
		}
	}
	return all
}

// validation are the markers that say what is valid (KEP-5073), sorted. How far each one counts
// already is left out: it says nothing of what is valid.
func validation(f apitypes.Field) (markers []string) {
	for _, m := range f.Markers {
		if m = lifecycle.ReplaceAllString(m, ""); strings.HasPrefix(m, "k8s:") && m != "k8s:optional" && m != "k8s:required" {
			markers = append(markers, m)
		}
	}
	slices.Sort(markers)
	return slices.Compact(markers)
}

// lifecycle is what stands before a marker that does not count fully yet.
var lifecycle = regexp.MustCompile(`^k8s:(alpha|beta)(\([^)]*\))?=\+`)

// changes are what differs between two sets of facts, sorted by name.
func changes(from, to facts) []Change {
	all := []Change{}
	for name, was := range from {
		is, there := to[name]
		if !there {
			all = append(all, Change{Name: name, What: Removed, From: summary(was)})
			continue
		}
		for i, f := range was {
			if f.value != is[i].value {
				all = append(all, Change{name, f.what, f.value, is[i].value})
			}
		}
	}
	for name, is := range to {
		if _, there := from[name]; !there {
			all = append(all, Change{Name: name, What: Added, To: summary(is)})
		}
	}
	slices.SortFunc(all, func(a, b Change) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.What, b.What)) })
	return all
}

// summary is all that is said of a thing.
func summary(of []fact) string {
	var values []string
	for _, f := range of {
		if f.value != "" {
			values = append(values, f.value)
		}
	}
	return strings.Join(values, ", ")
}

// Short is what whoever upgrades has to look at: gates that are on and were not or are off and were
// on, gates that are gone or locked, and new fields. The kinds are all there.
func (d Difference) Short() Difference {
	on := func(text string) bool { return slices.Contains(strings.Split(text, ", "), "on") }
	d.Gates = slices.DeleteFunc(slices.Clone(d.Gates), func(c Change) bool {
		return c.What != "default" && c.What != Removed && (c.What != "lock" || c.To == "") && (c.What != Added || !on(c.To))
	})
	d.Fields = slices.DeleteFunc(slices.Clone(d.Fields), func(c Change) bool { return c.What != Added })
	return d
}

// Counts are how many gates were added, removed and changed, and so on.
func (d Difference) Counts() string {
	return fmt.Sprintf("gates: %s; kinds: %s; fields: %s", count(d.Gates), count(d.Kinds), count(d.Fields))
}

func count(all []Change) string {
	n := make(map[string]int)
	changed := make(map[string]bool)
	for _, c := range all {
		if n[c.What]++; c.What != Added && c.What != Removed {
			changed[c.Name] = true
		}
	}
	return fmt.Sprintf("%d added, %d removed, %d changed", n[Added], n[Removed], len(changed))
}
