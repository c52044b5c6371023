package criteria

import (
	"slices"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports/graduation"
)

// stages are what criteria call the stages of gates.
var stages = map[release.Stage]string{release.Alpha: "alpha", release.Beta: "beta", release.GA: "stable", release.Deprecated: "deprecated"}

// Released is what a release says of a feature gate. It is nil if the gates of the release are not known.
func Released(gate string, v release.Version) (*graduation.Released, error) {
	gates, known, err := release.Table(release.Effective{Version: v})
	if err != nil || !known {
		return nil, err
	}
	is := &graduation.Released{Release: v}
	if i := slices.IndexFunc(gates, func(g release.Gate) bool { return g.Name == gate }); i >= 0 {
		is.Stage, is.Default, is.Locked = stages[gates[i].Stage], gates[i].Default, gates[i].Locked
	}
	return is, nil
}
