package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/podsapi/ask"
	"github.com/skewrig/skewrig/podsapi/client"
)

func newPodsAPI() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "podsapi",
		Short: "Read, check and simulate the Pods API of a kubelet (KEP-4188)",
		Long: `A kubelet serves the Pods API on a unix socket to the agents of its node. list,
get and watch read it; check checks it against KEP-4188, also on a real machine;
serve simulates a node for an agent in development.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPodsList(), newPodsGet(), newPodsWatch(), newPodsCheck(), newPodsServe())
	return cmd
}

// socketFlag is the flag that names the socket to ask.
type socketFlag struct{ path string }

func (f *socketFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.path, "socket", "", fmt.Sprintf("the socket to connect to (default: %s in %s)", strings.Join(client.Places, " or "), ask.KubeletDir))
}

// find is the socket that is named, or the one that is there.
func (f *socketFlag) find() (string, error) {
	if f.path != "" {
		return f.path, nil
	}
	found, err := ask.Find(ask.KubeletDir)
	return found, app.Failed(err)
}
