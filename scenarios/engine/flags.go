package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider"
)

// CheckFlags returns why components would not start with the flags that cells give them, in the
// components' own words. Those that are not built yet are built.
func CheckFlags(ctx context.Context, cells []plan.Cell, binary provider.Binary) error {
	sets := plan.FlagSets(cells)
	refused := make([]error, len(sets))
	group, grouped := errgroup.WithContext(ctx)
	for i, t := range sets {
		group.Go(func() error {
			program, err := binary(grouped, provider.Target(t.Target))
			if err != nil {
				return err
			}
			refused[i] = tryFlags(grouped, program.Path, t)
			return context.Cause(grouped)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return errors.Join(refused...)
}

// tryFlags has a component read flags, and not start.
func tryFlags(ctx context.Context, program string, t plan.FlagSet) error {
	var args []string
	for _, name := range slices.Sorted(maps.Keys(t.Flags)) {
		args = append(args, "--"+name+"="+t.Flags[name])
	}
	ended, err := process.Command{Path: program, Args: append(args, "--help")}.Run(ctx)
	out := ended.Text()
	if err == nil || strings.Contains(out, "help requested") {
		return nil
	}
	hint := ""
	if t.Component == string(build.Kubelet) {
		hint = "; what is a field of KubeletConfiguration goes into config"
	}
	said := strings.TrimPrefix(words(out), t.Component+": ")
	return fmt.Errorf("%s: %s %s: %s%s", t.Place(said), t.Component, t.Version, said, hint)
}

// complaint is what a line of a component looks like that refuses a flag.
var complaint = regexp.MustCompile(`(?m)^.*(unknown flag|unknown shorthand|invalid argument|invalid value|flag provided but not defined).*$`)

// words are what a component says about flags that it refuses.
func words(out string) string {
	if line := complaint.FindString(out); line != "" {
		return strings.TrimPrefix(strings.TrimSpace(line), "Error: ")
	}
	return process.LastLines(out, 1)
}
