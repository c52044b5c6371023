package record

import (
	"cmp"
	"maps"

	"github.com/skewrig/skewrig/harness/release"
)

// Settings are what a component is given beside its gates, on top of what a rig gives it.
type Settings struct {
	// Flags are those of the command line, by their names without hyphens.
	Flags map[string]string `json:"flags,omitempty"`
	// Config is a JSON merge patch (RFC 7386) of the configuration file: of a kubelet,
	// KubeletConfiguration, of a scheduler, KubeSchedulerConfiguration. Others have none.
	Config map[string]any `json:"config,omitempty"`
	// EmulatedVersion is an older minor version whose gates and APIs a component of the control
	// plane has ("v1.36", or a release, "newest" or "previous" for its minor version), by its
	// flag --emulated-version (KEP-4330). If unset, its own.
	EmulatedVersion release.Version `json:"emulatedVersion,omitempty"`
	// MinCompatibilityVersion is the oldest minor version that the component expects beside it,
	// by its flag --min-compatibility-version. If unset, the one before the emulated one.
	MinCompatibilityVersion release.Version `json:"minCompatibilityVersion,omitempty"`
}

// Emulates reports whether a version is given to emulate, or to expect.
func (s Settings) Emulates() bool { return s.EmulatedVersion != "" || s.MinCompatibilityVersion != "" }

// EffectiveOf is a release with these settings: what it emulates.
func (s Settings) EffectiveOf(v release.Version) release.Effective {
	return release.Effective{Version: v, Emulated: s.EmulatedVersion, MinCompatibility: s.MinCompatibilityVersion}
}

// IsZero reports whether nothing is given.
func (s Settings) IsZero() bool { return len(s.Flags) == 0 && len(s.Config) == 0 && !s.Emulates() }

// With returns settings with others on top.
func (s Settings) With(others Settings) Settings {
	if others.IsZero() {
		return s
	}
	after := Settings{
		Flags: maps.Clone(s.Flags), Config: compose(s.Config, others.Config),
		EmulatedVersion: s.EmulatedVersion, MinCompatibilityVersion: cmp.Or(others.MinCompatibilityVersion, s.MinCompatibilityVersion),
	}
	if others.EmulatedVersion != "" { // what is expected beside it follows it
		after.EmulatedVersion, after.MinCompatibilityVersion = others.EmulatedVersion, others.MinCompatibilityVersion
	}
	if after.Flags == nil && len(others.Flags) > 0 {
		after.Flags = make(map[string]string)
	}
	maps.Copy(after.Flags, others.Flags)
	return after
}

// compose returns the merge patch that does what one does, and then another.
func compose(first, then map[string]any) map[string]any {
	if len(then) == 0 {
		return first
	}
	both := maps.Clone(first)
	if both == nil {
		both = make(map[string]any)
	}
	for key, value := range then {
		old, was := both[key].(map[string]any)
		within, is := value.(map[string]any)
		if was && is {
			value = compose(old, within)
		}
		both[key] = value
	}
	return both
}

// Merge returns an object with a JSON merge patch (RFC 7386), and leaves both as they are.
func Merge(object, patch map[string]any) map[string]any {
	merged := maps.Clone(object)
	if merged == nil {
		merged = make(map[string]any)
	}
	for key, value := range patch {
		within, is := value.(map[string]any)
		switch {
		case value == nil:
			delete(merged, key)
		case is:
			old, _ := merged[key].(map[string]any)
			merged[key] = Merge(old, within)
		default:
			merged[key] = value
		}
	}
	return merged
}
