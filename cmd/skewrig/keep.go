package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/provider/rig"
)

// keepRig returns what shows people the rig of a cell that is not as expected, and leaves it
// up until the interrupt, or until something of it can't go on.
func keepRig(w io.Writer, reportDir string) func(context.Context, reports.Cell, *rig.Rig) {
	return func(ctx context.Context, c reports.Cell, rig *rig.Rig) {
		bound, cancel := rig.Bind(ctx)
		defer cancel()
		printKept(w, c, keptRig{rig.Kubeconfig(), rig.SeedKubeconfig(), filepath.Join(engine.CellDir(reportDir, c.ID), reports.LogsDir)})
		<-bound.Done()
		if ctx.Err() == nil {
			fmt.Fprintf(w, "The cluster of %s is gone: %v\n", c.ID, context.Cause(bound))
		}
	}
}

// keptRig is where to look at a rig: the paths of its kubeconfigs, and of its logs.
type keptRig struct{ kubeconfig, seedKubeconfig, logs string }

// printKept prints what the cell came to, and where to look.
func printKept(w io.Writer, c reports.Cell, rig keptRig) {
	fmt.Fprintf(w, "\n%s: %s", c.ID, c.Outcome.Word())
	if c.Reason != "" {
		fmt.Fprintf(w, ": %s", render.Printable(c.Reason))
	}
	fmt.Fprintln(w)
	for _, check := range c.Checks {
		if check.Outcome.Nonconforming() && !check.Outcome.Expected() {
			fmt.Fprintf(w, "  %s\n    expected: %s\n    observed: %s\n", check.ID, render.Printable(check.Expected), render.Printable(check.Observed))
		}
	}
	fmt.Fprintf(w, "Its cluster stays up until Ctrl-C, as the last step left it. Its record has ended.\n  export KUBECONFIG=%s\n  kubectl get pods -A\n", reports.Quoted(rig.kubeconfig))
	if rig.seedKubeconfig != "" {
		fmt.Fprintf(w, "  kubectl get deployments -n shoot --kubeconfig %s\n", reports.Quoted(rig.seedKubeconfig))
	}
	fmt.Fprintf(w, "Logs: %s\n\n", rig.logs)
}
