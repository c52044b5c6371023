package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// provider are the flags that say what cells run on.
type provider struct {
	choice
	config  providerConfig
	cluster *kubeconfig
	nodes   string
	images  []string
	player  string
	kind    app.KindClusters
}

// ofRig are the flags of run that only rigs have, ofCluster those that only an existing cluster has,
// and ofKind those of kind clusters.
var (
	ofRig     = []string{"binary", "overlay", "source", "isolate", "keep", "runtime"}
	ofCluster = []string{"nodes", "real-image", "player-image"}
	ofKind    = []string{"node-image"}
)

func (p *provider) register(cmd *cobra.Command, cluster *kubeconfig) {
	p.cluster = cluster
	p.config.register(cmd)
	p.choice.register(cmd, "provider", "", "rig", "what cells run on: rig, kind for kind clusters, or cluster for an existing cluster, from the kubeconfig", "rig", app.ProviderKind, app.ProviderCluster)
	cmd.Flags().StringVar(&p.nodes, "nodes", "", "with --provider cluster: a selector of labels; only such nodes are used (default: all that are ready)")
	cmd.Flags().StringArrayVar(&p.kind.NodeImages, "node-image", nil, "with --provider kind: RELEASE=IMAGE, the node image of a release (default: what skewrig build node-image built, or kindest/node of the release; repeatable)")
	cmd.Flags().StringArrayVar(&p.images, "real-image", nil, "with --provider cluster: an image that its nodes can pull, of those that scenarios have fake servers for; * in it matches all but / (repeatable)")
	cmd.Flags().StringVar(&p.player, "player-image", "", "with --provider cluster: an image that its nodes can pull, which mocks those of scenarios (skewrig build mock-image; default: nodes pull the images of scenarios)")
}

// isKind reports whether cells run on kind clusters.
func (p *provider) isKind() bool { return p.value == app.ProviderKind }

// isCluster reports whether cells run on an existing cluster.
func (p *provider) isCluster() bool { return p.value == app.ProviderCluster }

// isRig reports whether cells run on rigs.
func (p *provider) isRig() bool { return !p.isKind() && !p.isCluster() }

// configure gives flags the settings of --provider-config that the provider has.
func (p *provider) configure(cmd *cobra.Command) error {
	switch {
	case cmd.Flags().Changed("jobs"):
		return p.config.apply(cmd, ofJobs...)
	case p.isCluster():
		return p.config.apply(cmd, "cluster.")
	case p.isKind():
		return p.config.apply(cmd, "kindClusters.")
	default:
		return p.config.apply(cmd, "rig.")
	}
}

// check is an error if flags are given that the provider does not have, all of them.
func (p *provider) check(cmd *cobra.Command) error {
	var problems []error
	refuse := func(why string, flags ...string) {
		for _, flag := range flags {
			if cmd.Flags().Changed(flag) {
				problems = append(problems, fmt.Errorf("--%s %s", flag, why))
			}
		}
	}
	jobs := cmd.Flags().Changed("jobs")
	switch {
	case p.isCluster():
		refuse("is about rigs: with --provider cluster there is none", ofRig...)
	case p.isKind():
		refuse("is about rigs: with --provider kind there is none", ofRig...)
		refuse("does not go with --provider kind", "jobs")
	}
	if !p.isKind() {
		refuse("goes with --provider kind only", ofKind...)
	}
	switch {
	case p.isCluster():
	case jobs:
		refuse("goes with --provider cluster only", ofCluster...)
	default:
		refuse("is about a cluster: it goes with --provider cluster, or some of it with --jobs", append([]string{"context", "kubeconfig"}, ofCluster...)...)
	}
	return errors.Join(problems...)
}

// open opens what cells run on, which done closes. It is nil for rigs.
func (p *provider) open(cmd *cobra.Command, builder *build.Builder, cells []plan.Cell) (_ app.Provider, done func() error, err error) {
	done = func() error { return nil }
	switch {
	case p.isKind():
		tell := func(what string) { fmt.Fprintln(news(cmd), what) }
		return p.kind.Open(cmd.Context(), builder, cells, app.CommandLine(os.Args), tell)
	case p.isCluster():
		on, err := app.ExistingCluster{Config: p.cluster.config(), Nodes: p.nodes, Images: p.images, Player: p.player}.Open(cmd.Context(), cells)
		return on, done, err
	default:
		return nil, done, nil
	}
}

// reproduce returns what it takes to run the same again. Which cluster it was is not part of it: a report may be published.
func (p *provider) reproduce(r reports.Reproduce) reports.Reproduce {
	if !p.isRig() {
		r.Provider = p.value
	}
	return r
}

// toBuild are those of the cells for which components are built: on a cluster that there is, all run
// already, and node images have theirs.
func (p *provider) toBuild(cells []plan.Cell) []plan.Cell {
	if !p.isRig() {
		return nil
	}
	return cells
}

// onRuntime are the cells as a container runtime runs them. Nodes that are no rig's have the one that they
// have, and this machine needs none.
func (p *provider) onRuntime(cells []plan.Cell, runtime string) ([]plan.Cell, error) {
	if !p.isRig() {
		return cells, nil
	}
	return app.OnRuntime(cells, runtime)
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
