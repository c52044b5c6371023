package spec

import (
	"slices"

	"github.com/skewrig/skewrig/harness/release"
)

// emulating are the programs that can emulate an older minor version.
var emulating = []string{APIServer, ControllerManager, Scheduler}

// Emulates reports whether a component can emulate an older minor version.
func Emulates(component string) bool { return slices.Contains(emulating, Program(component)) }

// Effective is the release of a component with what it emulates.
func (c Component) Effective() release.Effective {
	return release.Effective{Version: c.Version, Emulated: c.EmulatedVersion, MinCompatibility: c.MinCompatibilityVersion}
}

// Emulation returns settings of a component in which the versions to emulate and to expect are
// minor versions.
func (r *Rig) Emulation(field, component string, s Settings) Settings {
	minor := func(name string, v release.Version) release.Version {
		if v == "" || string(v) == v.MajorMinor() {
			return v
		}
		return release.Version(r.On(component, r.Resolve(field+"."+name, v)).MajorMinor())
	}
	s.EmulatedVersion = minor("emulatedVersion", s.EmulatedVersion)
	s.MinCompatibilityVersion = minor("minCompatibilityVersion", s.MinCompatibilityVersion)
	return s
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
