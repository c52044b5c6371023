package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
)

// providerConfig is the flag that names a file with settings of what cells run on.
type providerConfig struct{ file string }

func (c *providerConfig) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.file, "provider-config", "", "a YAML file with settings of the provider, or of --jobs: nodes, images, context, namespace and so on (skewrig schema provider)")
}

// apply gives the flags of the command the settings of the file, as far as they are among some, given by the beginnings
// of their paths. A flag that is set on the command line stays as it is.
func (c *providerConfig) apply(cmd *cobra.Command, sections ...string) error {
	if c.file == "" {
		return nil
	}
	config, err := app.ReadProviderConfig(c.file)
	if err != nil {
		return ofFlag("provider-config", err)
	}
	values := config.Values()
	for _, r := range renames {
		flag := strings.TrimPrefix(r.flag, "--")
		if r.setting == "" || r.command != cmd.Name() || cmd.Flags().Changed(flag) ||
			!slices.ContainsFunc(sections, func(s string) bool { return strings.HasPrefix(r.setting, s) }) {
			continue
		}
		for _, value := range values[r.setting] {
			if err := cmd.Flags().Set(flag, value); err != nil {
				return fmt.Errorf("%s: %s: %w", c.file, r.setting, err)
			}
		}
	}
	return nil
}

// ofJobs are the settings that --jobs has.
var ofJobs = []string{"cluster.kubeconfig", "cluster.context", "jobs."}
