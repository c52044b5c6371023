package trial

import (
	"maps"
	"slices"

	"github.com/skewrig/skewrig/harness/release"
)

// Setting is what changes while objects are there, many in a plan of a sweep, or one in a scenario. If To is as On, it is
// that of a control, in which nothing changes.
type Setting struct {
	Version    release.Version
	Transition Transition
	// On are the gates that are set first, and To as they are after the change, if the release stays.
	On, To release.Gates
	// Killed is the component that is killed and started again. If unset, none.
	Killed string
}

// IsControl reports whether nothing changes but that components are restarted.
func (s Setting) IsControl() bool { return s.Transition.To == "" && maps.Equal(s.On, s.To) }

// Control is the same with nothing that changes.
func (s Setting) Control() Setting {
	s.Transition.To, s.Transition.Emulates, s.To = "", false, s.On
	return s
}

// Restart is what a component is started as, beside what it was before.
type Restart struct {
	Component string          `json:"component"`
	Version   release.Version `json:"version,omitempty"`
	Gates     release.Gates   `json:"gates,omitempty"`
	Unset     []string        `json:"unset,omitempty"`
	// EmulatedVersion is the minor version that it emulates. If unset, that does not change.
	EmulatedVersion release.Version `json:"emulatedVersion,omitempty"`
}

// Changes are the restarts that change the components, one after the other.
func (s Setting) Changes() (all []Restart) {
	for _, component := range s.Transition.At {
		switch to := s.Transition.To; {
		case to == "":
			all = append(all, Restart{Component: component, Gates: s.To})
		case s.Transition.Emulates:
			all = append(all, Restart{Component: component, EmulatedVersion: minor(to), Unset: s.On.Names()})
		default:
			all = append(all, Restart{Component: component, Version: to, Unset: s.On.Names()})
		}
	}
	return all
}

// Reverts are the restarts that undo the change, in the opposite order.
func (s Setting) Reverts() (all []Restart) {
	for _, component := range slices.Backward(s.Transition.At) {
		r := Restart{Component: component, Gates: s.On}
		switch {
		case s.Transition.To == "": // what had to be turned off too
			r.Unset = slices.DeleteFunc(s.To.Names(), s.isOn)
		case s.Transition.Emulates:
			r.EmulatedVersion = minor(s.Version)
		default:
			r.Version = s.Version
		}
		all = append(all, r)
	}
	return all
}

// Instead is the setting as a scenario has it: a source runs where the release is asked for that it stands in for.
func (s Setting) Instead(sources release.Sources) Setting {
	s.Version, s.Transition.To = sources.Instead(s.Version), sources.Instead(s.Transition.To)
	return s
}

// minor is the minor version of a release.
func minor(v release.Version) release.Version { return release.Version(v.MajorMinor()) }

// isOn reports whether a gate is among those that are set first.
func (s Setting) isOn(gate string) bool {
	_, set := s.On[gate]
	return set
}
