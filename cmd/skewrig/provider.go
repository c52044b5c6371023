package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// provider are the flags that say what cells run on.
type provider struct {
	choice
	cluster *kubeconfig
	nodes   string
	images  []string
}

// ofRig are the flags of run that only rigs have, and ofCluster those that only an existing
// cluster has.
var (
	ofRig     = []string{"binary", "overlay", "source", "isolate", "keep"}
	ofCluster = []string{"nodes", "real-image"}
)

func (p *provider) register(cmd *cobra.Command, cluster *kubeconfig) {
	p.cluster = cluster
	p.choice.register(cmd, "provider", "", "rig", "what cells run on: rig, or cluster for one that there is, of the kubeconfig", "rig", app.ProviderCluster)
	cmd.Flags().StringVar(&p.nodes, "nodes", "", "with --provider cluster: a selector of labels; only such nodes are used (default: all that are ready)")
	cmd.Flags().StringArrayVar(&p.images, "real-image", nil, "with --provider cluster: an image that its nodes can pull, of those that scenarios have fake servers for; * in it matches all but / (repeatable)")
}

// isCluster reports whether cells run on an existing cluster.
func (p *provider) isCluster() bool { return p.value == app.ProviderCluster }

// check is an error if flags are given that the provider does not have, all of them.
func (p *provider) check(cmd *cobra.Command) error {
	wrong, why := ofCluster, "goes with --provider cluster only"
	switch {
	case !p.isCluster() && !cmd.Flags().Changed("jobs"):
		wrong = append([]string{"context", "kubeconfig"}, wrong...)
		why = "is about a cluster: it goes with --provider cluster, or some of it with --jobs"
	case p.isCluster():
		wrong, why = ofRig, "is about rigs: with --provider cluster there is none"
	}
	var problems []error
	for _, flag := range wrong {
		if cmd.Flags().Changed(flag) {
			problems = append(problems, fmt.Errorf("--%s %s", flag, why))
		}
	}
	return errors.Join(problems...)
}

// open is the cluster that cells run on, or nil if they run on rigs.
func (p *provider) open(ctx context.Context, cells []plan.Cell) (*engine.Existing, error) {
	if !p.isCluster() {
		return nil, nil
	}
	return app.ExistingCluster{Config: p.cluster.config(), Nodes: p.nodes, Images: p.images}.Open(ctx, cells)
}

// toBuild are those of the cells for which components are built: on an existing cluster, all run
// already.
func (p *provider) toBuild(cells []plan.Cell) []plan.Cell {
	if p.isCluster() {
		return nil
	}
	return cells
}

// publishable is a command line without what says where a cluster is, and who uses it: it goes
// into a report. The current context takes its place when it is run again.
func publishable(args []string) (kept []string) {
	private := []string{"--kubeconfig", "--context"}
	for i := 0; i < len(args); i++ {
		flag, _, whole := strings.Cut(args[i], "=")
		switch {
		case args[i] == "--":
			return append(kept, args[i:]...)
		case !slices.Contains(private, flag):
			kept = append(kept, args[i])
		case !whole:
			i++ // its value
		}
	}
	return kept
}
