package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/strict"
)

// Compare has the cells of a scenario show the same as one of them: each is compared with the cell
// that differs from it in nothing but some axes. That is a check of the cell, which does not hold
// if a field of an object, an answer, a check, or what probes put on the wire was different, and
// the scenario does not explain it.
type Compare struct {
	// ID is the id of the check.
	ID string `json:"id"`
	// Requirement is the id of the ledger's statement that it proves. If unset, it proves none.
	Requirement string `json:"requirement,omitempty"`
	// With are the values of axes that the other cell has. The cell that has them itself is
	// compared with none.
	With map[string]string `json:"with"`
	// Explained are differences that must be. If unset, there are none.
	Explained []Explained `json:"explained,omitempty"`
	// Shared is true if these are explanations for many scenarios, so that one of them need not need all.
	Shared bool `json:"-"`
}

// Explained is a difference that must be.
type Explained struct {
	// What is what differs, as the check lists it. In it, * stands for anything.
	What string `json:"what"`
	// Says are patterns of what the cells say of it, such as "exited with 128": all that one of them
	// says, and the other does not, must be among it. If unset, it may be anything.
	Says []string `json:"says,omitempty"`
	// Fails is the id of a check that one of the cells must have and not pass, also if that is known. If
	// unset, no check matters.
	Fails string `json:"fails,omitempty"`
	// Because is why.
	Because string `json:"because"`
}

// checkCompare reports cells that can't be compared.
func (v *validator) checkCompare() {
	c := v.scenario.Compare
	if c == nil {
		return
	}
	v.Refuse("compare.id", !idPart.MatchString(c.ID), "%s can't be the id of a check: use a-z, 0-9, . and -", strict.Quote(c.ID))
	v.Refuse("compare.with", len(c.With) == 0, "there is no axis in which the cells differ")
	names := slices.Sorted(maps.Keys(v.scenario.Axes))
	known := true
	for _, name := range slices.Sorted(maps.Keys(c.With)) {
		at := fmt.Sprintf("compare.with[%q]", name)
		values := resolveValues(v.options.Releases, v.scenario.Axes[name])
		isAxis, isValue := slices.Contains(names, name), slices.Contains(values, resolveValues(v.options.Releases, []string{c.With[name]})[0])
		v.Refuse(at, !isAxis, "there is no axis %s: %s", strict.Quote(name), strict.DidYouMean(name, names))
		v.Refuse(at, isAxis && !isValue, "axis %s has no value %s: it has %s", name, strict.Quote(c.With[name]), strings.Join(values, ", "))
		known = known && isAxis && isValue
	}
	for i, e := range c.Explained {
		at := fmt.Sprintf("compare.explained[%d]", i)
		v.Refuse(at+".what", strings.Trim(e.What, "* ") == "", "say what differs")
		v.Refuse(at+".because", strings.TrimSpace(e.Because) == "", "say why it must differ")
	}
	if known {
		v.checkPartners(*c)
	}
}

// checkPartners reports a cell without one that it could be compared with, and that there is none
// to compare.
func (v *validator) checkPartners(c Compare) {
	compared := 0
	for _, axes := range v.combinations {
		partner := c.Partner(v.options.Releases, axes)
		if maps.Equal(partner, axes) {
			continue
		}
		compared++
		there := slices.ContainsFunc(v.combinations, func(other map[string]string) bool { return maps.Equal(other, partner) })
		v.Refuse("compare.with", !there, "there is no cell with %s to compare with", described(partner))
	}
	v.Refuse("compare.with", compared == 0, "all cells have these values, so that none is compared")
}

// described lists the values of axes.
func described(axes map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(axes)) {
		all = append(all, name+" "+axes[name])
	}
	return strings.Join(all, ", ")
}

// Partner are the axes of the cell with which one is compared. They are its own if it is
// compared with none.
func (c Compare) Partner(releases release.Releases, axes map[string]string) map[string]string {
	partner := maps.Clone(axes)
	for name, value := range c.With {
		partner[name] = resolveValues(releases, []string{value})[0]
	}
	return partner
}

// Explains is the explanation for that something differs, of which the cells say something, and
// some checks fail; nil if there is none.
func (c Compare) Explains(what string, said []string, fails func(check string) bool) *Explained {
	for i, e := range c.Explained {
		if matches(e.What, what) && e.matchAll(said) && (e.Fails == "" || fails(e.Fails)) {
			return &c.Explained[i]
		}
	}
	return nil
}

// matchAll reports whether all that is said of a difference is among what may be.
func (e Explained) matchAll(said []string) bool {
	unsaid := func(text string) bool {
		return !slices.ContainsFunc(e.Says, func(pattern string) bool { return matches(pattern, text) })
	}
	return len(e.Says) == 0 || !slices.ContainsFunc(said, unsaid)
}

// matches reports whether a pattern, in which * stands for anything, is all of a text.
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	rest, is := strings.CutPrefix(text, parts[0])
	if !is || len(parts) == 1 {
		return is && rest == ""
	}
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, last)
}
