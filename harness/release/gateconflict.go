package release

import (
	"fmt"
	"slices"
	"strings"
)

// GateConflict is a gate that a component of a release refuses to be set so.
type GateConflict struct {
	// Gate is the gate that is set.
	Gate string
	// Message says why it is refused, and what else to set.
	Message string
	// Too is what else to set. It is empty for a gate that is locked.
	Too Gates
}

// WithDependents returns gates with those that have to be set with them: what one depends on that
// is turned on, and what depends on one that is turned off. What is set already stays.
func WithDependents(e Effective, set Gates) Gates {
	for {
		before := len(set)
		for _, c := range GateConflicts(e, set) {
			set = c.Too.With(set)
		}
		if len(set) == before {
			return set
		}
	}
}

// GateConflicts returns why a component of a release would not start with these gates:
// one is locked, or depends on a gate that is off. There are none if the release has no
// table, and gates that are not in it are left to CheckGate.
func GateConflicts(e Effective, set Gates) []GateConflict {
	table, _, err := Table(e)
	if err != nil {
		return nil // CheckGate reports it
	}
	return gateSet{e, table, set}.conflicts()
}

// allOf are the gates that set all others of a stage which are not set themselves.
var allOf = map[Stage]string{Alpha: "AllAlpha", Beta: "AllBeta"}

// gateSet is the gates of a release with some of them set.
type gateSet struct {
	release Effective
	table   []Gate // sorted by name
	set     Gates
}

// value is whether a gate is on, and the gate that made it so: empty for a default.
func (s gateSet) value(g Gate) (on bool, by string) {
	if on, is := s.set[g.Name]; is {
		return on, g.Name
	}
	all := allOf[g.Stage]
	if on, is := s.set[all]; is && all != "" && !g.Locked {
		return on, all
	}
	return g.Default, ""
}

// PeerProxy is the gate of the proxy between API servers (KEP-4020). One without it refuses the
// flags of the proxy.
const PeerProxy = "UnknownVersionInteroperabilityProxy"

// On reports whether a gate is on in a release in which gates are set. One that the release is not
// known to have is off.
func On(e Effective, set Gates, gate string) bool {
	tables, err := loadGates()
	if err != nil {
		return false // CheckGate reports it
	}
	g, known := tables.Gate(e, gate)
	return known && g.On(set)
}

// On reports whether a gate is on if some are set: itself, or all of its stage.
func (g Gate) On(set Gates) bool {
	on, _ := gateSet{set: set}.value(g)
	return on
}

func (s gateSet) conflicts() (all []GateConflict) {
	for _, name := range s.set.Names() {
		i, known := find(s.table, name)
		if !known {
			continue
		}
		g := s.table[i]
		on := s.set[name]
		message, too := "", Gates(nil)
		switch {
		case g.Locked && on != g.Default:
			message = fmt.Sprintf("%s can't be %t: %s locks it to %t", name, on, s.release, g.Default)
		case on:
			message, too = s.lacking(name)
		default:
			message, too = s.leftOn(name)
		}
		if message != "" {
			all = append(all, GateConflict{Gate: name, Message: message, Too: too})
		}
	}
	return all
}

// lacking says which gates are off that those depend on which a gate turns on: itself,
// or all of a stage.
func (s gateSet) lacking(gate string) (message string, too Gates) {
	var off []string
	for _, g := range s.table {
		if on, by := s.value(g); on && by == gate {
			off = s.addOff(off, g)
		}
	}
	if len(off) == 0 {
		return "", nil
	}
	slices.Sort(off)
	return fmt.Sprintf("%s can't be on alone: in %s it depends on %s; set %s too", gate, s.release, s.describe(off), assign(off, true)), setTo(off, true)
}

// addOff adds the gates that are off and that a gate depends on, and those that they
// depend on themselves.
func (s gateSet) addOff(off []string, g Gate) []string {
	for _, name := range g.Needs {
		i, known := find(s.table, name)
		if !known || slices.Contains(off, name) {
			continue
		}
		if on, _ := s.value(s.table[i]); !on {
			off = s.addOff(append(off, name), s.table[i])
		}
	}
	return off
}

// leftOn says which gates are on by default that depend on what a gate turns off. That
// of those which are set themselves is said of these.
func (s gateSet) leftOn(gate string) (message string, too Gates) {
	var off, on []string
	for _, g := range s.table {
		if is, by := s.value(g); !is && by == gate {
			off = append(off, g.Name)
		}
	}
	for found := true; found; {
		found = false
		for _, g := range s.table {
			is, by := s.value(g)
			depends := slices.ContainsFunc(g.Needs, func(n string) bool { return slices.Contains(off, n) || slices.Contains(on, n) })
			if is && by == "" && depends && !slices.Contains(on, g.Name) {
				on, found = append(on, g.Name), true
			}
		}
	}
	if len(on) == 0 {
		return "", nil
	}
	slices.Sort(on)
	return fmt.Sprintf("%s can't be off alone: in %s %s; set %s too", gate, s.release, dependents(on), assign(on, false)), setTo(on, false)
}

// describe lists gates that are off, with what turned them off.
func (s gateSet) describe(off []string) string {
	var all []string
	for _, name := range off {
		i, _ := find(s.table, name)
		why := "off by default"
		if _, by := s.value(s.table[i]); by == name {
			why = "set to false"
		} else if by != "" {
			why = "off by " + by
		}
		all = append(all, name+" ("+why+")")
	}
	return strings.Join(all, ", ")
}

func dependents(names []string) string {
	if len(names) == 1 {
		return names[0] + " is on by default and depends on it"
	}
	return strings.Join(names, ", ") + " are on by default and depend on it"
}

// setTo are gates that have one value.
func setTo(names []string, value bool) Gates {
	gates := make(Gates, len(names))
	for _, name := range names {
		gates[name] = value
	}
	return gates
}

// assign writes gates as a scenario does.
func assign(names []string, value bool) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = fmt.Sprintf("%s: %t", name, value)
	}
	return strings.Join(all, ", ")
}
