package engine

import (
	"context"
	"fmt"
	"regexp"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

// listed is a gate in what --help says of --feature-gates.
var listed = regexp.MustCompile(`(?m)(\w+)=true\|false \(`)

// known are the gates that the scheduler has, of some: it does not have those of the controller manager. Other components have
// all.
func (cfg Config) known(ctx context.Context, component string, gates release.Gates) (release.Gates, error) {
	if component != record.Scheduler {
		return gates, nil
	}
	binary, err := cfg.Binary(ctx, build.Target{Component: build.Scheduler, Version: cfg.Release.Version})
	if err != nil {
		return nil, err
	}
	help, err := process.Command{Name: component + " --help", Path: binary.Path, Args: []string{"--help"}}.Output(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking for feature gates: %w", err)
	}
	has := make(release.Gates)
	for _, found := range listed.FindAllStringSubmatch(help, -1) {
		if value, is := gates[found[1]]; is {
			has[found[1]] = value
		}
	}
	return has, nil
}
