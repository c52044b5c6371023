package spec

import (
	"slices"

	"github.com/skewrig/skewrig/harness/program"
	"github.com/skewrig/skewrig/harness/release"
)

// emulating are the programs that can emulate an older minor version.
var emulating = program.Names(program.Server, program.Controller)

// Emulates reports whether a component can emulate an older minor version.
func Emulates(component string) bool { return slices.Contains(emulating, Program(component)) }

// Effective is the release of a component with what it emulates.
func (c Component) Effective() release.Effective { return c.EffectiveOf(c.Version) }

// Emulation returns settings of a component in which the versions to emulate and to expect are
// minor versions.
func (r *Rig) Emulation(field, component string, s Settings) Settings {
	s.EmulatedVersion = r.Minor(field+".emulatedVersion", component, s.EmulatedVersion)
	s.MinCompatibilityVersion = r.Minor(field+".minCompatibilityVersion", component, s.MinCompatibilityVersion)
	return s
}

// Minor is the minor version that a version to emulate or to expect stands for; empty for none.
func (r *Rig) Minor(field, component string, v release.Version) release.Version {
	if v == "" || string(v) == v.MajorMinor() {
		return v
	}
	return release.Version(r.On(component, r.Resolve(field, v)).MajorMinor())
}

// CheckEmulation reports versions that a release can't emulate, or expect beside it: it would not
// start with them.
func (r *Rig) CheckEmulation(field string, c Component) {
	if c.Version == "" || !c.Emulates() {
		return
	}
	oldest, newest := release.Emulatable(c.Version)
	outside := func(v release.Version) bool {
		return v != "" && (v.Compare(oldest) < 0 || v.Compare(newest) > 0)
	}
	if outside(c.EmulatedVersion) {
		r.Conflict(field+".emulatedVersion", "%s %s can't emulate %s: it emulates %s to %s", c.Name, c.Version, c.EmulatedVersion, oldest, newest)
		return
	}
	if c.EmulatedVersion != "" {
		newest = c.EmulatedVersion
	}
	if outside(c.MinCompatibilityVersion) {
		r.Conflict(field+".minCompatibilityVersion", "%s can't expect %s beside it, but %s to %s: no newer one than it emulates",
			c.Name, c.MinCompatibilityVersion, oldest, newest)
	}
}
