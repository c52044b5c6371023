package release

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/semver"
)

// Effective is a release as it runs: as itself, or with the gates and APIs that an older one has
// (KEP-4330, k8s.io/component-base/compatibility).
type Effective struct {
	Version Version
	// Emulated is the minor version that is emulated. If unset, its own.
	Emulated Version
	// MinCompatibility is the oldest minor version that is expected to run beside it. If
	// unset, the one before Emulated.
	MinCompatibility Version
}

// emulates reports whether it is anything else than the release as itself.
func (e Effective) emulates() bool { return e.Emulated != "" || e.MinCompatibility != "" }

// minors are the minor versions that are emulated, and that are expected beside it.
func (e Effective) minors() (emulated, compatible int) {
	emulated = e.Version.Minor()
	if e.Emulated != "" {
		emulated = e.Emulated.Minor()
	}
	compatible = max(emulated-1, e.Version.Minor()-emulatable)
	if e.MinCompatibility != "" {
		compatible = e.MinCompatibility.Minor()
	}
	return emulated, compatible
}

// String is the release, and what it emulates.
func (e Effective) String() string {
	if e.Emulated == "" || e.Emulated.MajorMinor() == e.Version.MajorMinor() {
		return string(e.Version)
	}
	return fmt.Sprintf("%s emulating %s", e.Version, e.Emulated)
}

// emulatable is how many minor versions older the oldest one is that a release emulates
// (k8s.io/apiserver/pkg/util/compatibility, kubeEffectiveVersionFloors).
const emulatable = 3

// Emulatable are the oldest and the newest minor version that a release can emulate.
func Emulatable(v Version) (oldest, newest Version) {
	major, _, _ := strings.Cut(v.MajorMinor(), ".")
	return Version(fmt.Sprintf("%s.%d", major, v.Minor()-emulatable)), Version(v.MajorMinor())
}

// GateVersion is what a gate is from a minor version on.
type GateVersion struct {
	Since   Version // without a patch: "v1.90"
	Stage   Stage
	Default bool
	Locked  bool
	// MinCompatibility is the oldest minor version that may be expected to run beside a release
	// in which this counts. If unset, any may.
	MinCompatibility Version
}

// in is the gate as it is in a release that emulates another one, and whether it is there.
func (g Gate) in(e Effective) (Gate, bool) {
	if !e.emulates() || len(g.Versions) == 0 {
		return g, true
	}
	emulated, compatible := e.minors()
	for _, v := range slices.Backward(g.Versions) {
		if v.Since.Minor() <= emulated && (v.MinCompatibility == "" || v.MinCompatibility.Minor() <= compatible) {
			g.Stage, g.Default, g.Locked = v.Stage, v.Default, v.Locked
			return g, true
		}
	}
	return Gate{Name: g.Name}, false
}

// The words of a GateVersion.
const (
	locked       = "locked"
	oldestPrefix = "min="
)

// String writes a gate version as a table has it: 1.90:BETA:true:locked.
func (v GateVersion) String() string {
	text := fmt.Sprintf("%s:%s:%t", strings.TrimPrefix(string(v.Since), "v"), v.Stage, v.Default)
	if v.Locked {
		text += ":" + locked
	}
	if v.MinCompatibility != "" {
		text += ":" + oldestPrefix + strings.TrimPrefix(string(v.MinCompatibility), "v")
	}
	return text
}

// parseGateVersion reads what String writes.
func parseGateVersion(text string) (v GateVersion, ok bool) {
	fields := strings.Split(text, ":")
	if len(fields) < 3 {
		return v, false
	}
	on, err := strconv.ParseBool(fields[2])
	v = GateVersion{Since: Version("v" + fields[0]), Stage: Stage(fields[1]), Default: on}
	for _, field := range fields[3:] {
		oldest, is := strings.CutPrefix(field, oldestPrefix)
		switch {
		case field == locked:
			v.Locked = true
		case is:
			v.MinCompatibility = Version("v" + oldest)
		default:
			return v, false
		}
	}
	return v, err == nil && semver.IsValid(string(v.Since))
}
